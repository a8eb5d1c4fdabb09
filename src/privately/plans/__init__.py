"""Plans: what a question asks, as frozen typed data, before any data is touched.

`types` and `columns` say what values are, `functions` and `expressions` what can be made of a row, `relations` which
rows count, `aggregates` which whole numbers are asked for, `units` and `stability` how far a person can move them, and
`questions` what is shown in the end.
"""

from privately.on_demand import on_demand

__all__ = [
    "Aggregation",
    "BinCounts",
    "Call",
    "Column",
    "Constant",
    "Estimate",
    "Expression",
    "FUNCTIONS",
    "Field",
    "Filter",
    "Identity",
    "Key",
    "Known",
    "Mean",
    "Number",
    "Order",
    "Output",
    "Project",
    "Quantile",
    "Question",
    "Range",
    "Relation",
    "RowCount",
    "Scan",
    "Spread",
    "StepSum",
    "Steps",
    "Table",
    "Tally",
    "Type",
    "Unit",
    "UnitCount",
    "Value",
    "call",
    "constant",
    "pair_sensitivity",
    "scan_of",
    "sensitivity",
]

# Type checkers know this name; importing it from `typing` is not needed for it.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from privately.plans.aggregates import Aggregation, BinCounts, Key, RowCount, StepSum, Tally, UnitCount
    from privately.plans.columns import Column
    from privately.plans.expressions import Call, Constant, Expression, Field, Identity, call, constant
    from privately.plans.functions import FUNCTIONS
    from privately.plans.questions import Estimate, Mean, Number, Order, Output, Quantile, Question, Spread
    from privately.plans.relations import Filter, Project, Relation, Scan, Table, scan_of
    from privately.plans.stability import Steps, pair_sensitivity, sensitivity
    from privately.plans.types import Known, Range, Type, Value
    from privately.plans.units import Unit
else:
    # Load a name when it is first asked for: who counts needs to know of types alone.
    __getattr__ = on_demand(
        __name__,
        aggregates="Aggregation BinCounts Key RowCount StepSum Tally UnitCount",
        columns="Column",
        expressions="Call Constant Expression Field Identity call constant",
        functions="FUNCTIONS",
        questions="Estimate Mean Number Order Output Quantile Question Spread",
        relations="Filter Project Relation Scan Table scan_of",
        stability="Steps pair_sensitivity sensitivity",
        types="Known Range Type Value",
        units="Unit",
    )
