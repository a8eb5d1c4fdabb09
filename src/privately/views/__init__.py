"""How results look: text tables and charts, from plain texts and floats, with the standard library alone (SVG)."""

from privately.on_demand import on_demand

__all__ = ["Axis", "Bar", "BarChart", "Chart", "Line", "Mark", "table"]

# Type checkers know this name; importing it from `typing` is not needed for it.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from privately.views.bars import Bar, BarChart
    from privately.views.charts import Axis, Chart, Line, Mark
    from privately.views.tables import table
else:
    # Load a view when it is first asked for: who prints a table draws no charts.
    __getattr__ = on_demand(
        __name__,
        bars="Bar BarChart",
        charts="Axis Chart Line Mark",
        tables="table",
    )
