"""Statements about privacy, and the rules by which they follow from one another.

P, Q      the distributions of a mechanism's output on two neighbouring data sets
epsilon   bound on the privacy loss ln(P/Q)
delta     probability left out of that bound
rho       zero-concentrated DP: every Renyi divergence of order a is at most a rho
mu        Gaussian DP: as hard to tell apart as N(0, 1) and N(mu, 1)
a         a Renyi order, above 1
q         the rate at which rows are sampled
k, m, n   numbers of mechanisms, rows, parts
Phi       the normal cumulative distribution function

A Guarantee is a statement. That a mechanism satisfies it is a Derivation, and Derivations come only from the rules.
So do Stabilities: proofs of how far one unit can move what is computed of a table.
"""

from privately.guarantees import rules
from privately.guarantees.derivations import Derivation, Proof, Stability
from privately.guarantees.finite import FiniteMechanism
from privately.guarantees.guarantee import Guarantee, use_rules
from privately.guarantees.kinds import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP, RenyiDP
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.sensitivity import Sensitivity
from privately.guarantees.stability import Groups, Rows, ScoreSpread, UnitKeys

use_rules(rules)

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ApproxZCDP",
    "Derivation",
    "FiniteMechanism",
    "GaussianDP",
    "Groups",
    "Guarantee",
    "Neighbors",
    "Proof",
    "PureDP",
    "RenyiDP",
    "Rows",
    "ScoreSpread",
    "Sensitivity",
    "Stability",
    "UnitKeys",
    "rules",
]
