"""How results look: text tables and charts, from plain texts and floats, with the standard library alone (SVG)."""

from privately.views.bars import Bar, BarChart
from privately.views.charts import Axis, Chart, Line, Mark
from privately.views.tables import table

__all__ = ["Axis", "Bar", "BarChart", "Chart", "Line", "Mark", "table"]
