"""How results look: text tables and charts, from plain texts and floats, with the standard library alone (SVG)."""

__all__ = ["Axis", "Bar", "BarChart", "Chart", "Line", "Mark", "table"]

_HOMES = {
    "bars": (
        "Bar",
        "BarChart",
    ),
    "charts": (
        "Axis",
        "Chart",
        "Line",
        "Mark",
    ),
    "tables": ("table",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

# Type checkers know this name; importing it from `typing` is not needed for it.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from privately.views.bars import Bar, BarChart
    from privately.views.charts import Axis, Chart, Line, Mark
    from privately.views.tables import table
else:

    def __getattr__(name: str) -> object:
        """Load a view when it is first asked for: who prints a table draws no charts."""
        from importlib import import_module

        if name not in _HOME_OF:
            raise AttributeError(f"module 'privately.views' has no attribute {name!r}")
        value: object = getattr(import_module(f"privately.views.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
