"""Programs as objects: run them, analyse them exactly, refute them.

One text is run, analysed and proved: a restricted Python function, or the While language of the lecture texts
(docs/proving.md). Finite programs get exact answers; others a certified lower bound on what they lose.
"""

from privately.proving.analysis import Analysis
from privately.proving.beliefs import coupled, expected, feasible, odds, posterior, reveals_nothing
from privately.proving.language.declarations import (
    Domain,
    Neighborhood,
    added,
    anything,
    between,
    bits,
    each,
    inside,
    monotone,
    one,
    one_of,
    replaced,
    whole,
)
from privately.proving.language.program import Program
from privately.proving.primitives import (
    align,
    assume,
    discrete_exponential,
    discrete_gaussian,
    discrete_laplace,
    exponential,
    flip,
    flip_exp,
    gaussian,
    geometric,
    invariant,
    laplace,
    rounded_gaussian,
    uniform,
    uniform_bits,
)
from privately.proving.prover import analyze, prove
from privately.proving.quadruples import quadruple
from privately.proving.reading import read_program
from privately.proving.running import TooManyRounds, run
from privately.proving.verdicts import Proved, Refuted, Unknown, Verdict, Witness

__all__ = [
    "Analysis",
    "Domain",
    "Neighborhood",
    "Program",
    "Proved",
    "Refuted",
    "TooManyRounds",
    "Unknown",
    "Verdict",
    "Witness",
    "added",
    "align",
    "analyze",
    "anything",
    "assume",
    "between",
    "bits",
    "coupled",
    "discrete_exponential",
    "discrete_gaussian",
    "discrete_laplace",
    "each",
    "expected",
    "exponential",
    "feasible",
    "flip",
    "flip_exp",
    "gaussian",
    "geometric",
    "inside",
    "invariant",
    "laplace",
    "monotone",
    "odds",
    "one",
    "one_of",
    "posterior",
    "prove",
    "quadruple",
    "read_program",
    "replaced",
    "reveals_nothing",
    "rounded_gaussian",
    "run",
    "uniform",
    "uniform_bits",
    "whole",
]
