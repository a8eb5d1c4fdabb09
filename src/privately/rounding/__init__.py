"""Directed rounding and exact rationals: the only place where a real number becomes digits.

Parameters come in as exact Fractions (`rational`), are worked on as `Enclosure`s, and leave as `Interval`s (an answer
for people) or as a `claim` (a short rational safely above the truth, which a rule may conclude).
"""

from privately.rounding.enclosure import Enclosure, log_sum_exp
from privately.rounding.exact import (
    LARGEST,
    MAX_BITS,
    Number,
    decimal_text,
    rational,
    round_down,
    round_up,
    tidy,
    whole,
)
from privately.rounding.interval import End, Interval
from privately.rounding.normal import erfc, mills_ratio, normal_cdf, normal_density, normal_quantile
from privately.rounding.search import solve_decreasing

__all__ = [
    "LARGEST",
    "MAX_BITS",
    "Enclosure",
    "End",
    "Interval",
    "Number",
    "decimal_text",
    "erfc",
    "log_sum_exp",
    "mills_ratio",
    "normal_cdf",
    "normal_density",
    "normal_quantile",
    "rational",
    "round_down",
    "round_up",
    "solve_decreasing",
    "tidy",
    "whole",
]
