"""All rules by name. A rule that is not here does not exist."""

from collections.abc import Mapping

from . import (
    accounting,
    answers,
    composition,
    conversions,
    leaves,
    noise,
    parallel,
    programs,
    relations,
    sampling,
    selection,
    structure,
    tallies,
    thresholds,
)
from .step import Parser, Rule, Step

__all__ = ["RULES", "Parser", "Rule", "Step"]

RULES: Mapping[str, Rule] = {
    **leaves.RULES,
    **programs.RULES,
    **relations.RULES,
    **tallies.RULES,
    **noise.RULES,
    **selection.RULES,
    **thresholds.RULES,
    **answers.RULES,
    **structure.RULES,
    **parallel.RULES,
    **conversions.RULES,
    **composition.RULES,
    **sampling.RULES,
    **accounting.RULES,
}
