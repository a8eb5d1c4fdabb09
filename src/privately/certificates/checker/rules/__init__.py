"""All rules by name. A rule that is not here does not exist."""

from collections.abc import Mapping

from . import composition, conversions, leaves, parallel, sampling, structure
from .step import Parser, Rule, Step

__all__ = ["RULES", "Parser", "Rule", "Step"]

RULES: Mapping[str, Rule] = {
    **leaves.RULES,
    **structure.RULES,
    **parallel.RULES,
    **conversions.RULES,
    **composition.RULES,
    **sampling.RULES,
}
