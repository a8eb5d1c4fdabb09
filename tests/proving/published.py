"""Mechanisms on which black-box testers have published lower bounds, as our programs (epsilon = 1/10, as they had it).

`bound` is the largest that DP-Sniper (Bichsel, Steffen, Bogunovic, Vechev 2021) or StatDP (Ding, Wang, Wang, Zhang,
Kifer 2018) reached, both at 90 % confidence, in the logs that DP-Sniper's authors published with their evaluation; ours
are certain. Lists may be shorter than theirs, which makes it harder for us.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Published:
    """One mechanism: its text, at which length of lists, what others reached, and what it loses if that is known."""

    name: str
    text: str
    bound: float
    size: int | None = None
    tight: str | None = None
    public: tuple[tuple[str, Any], ...] = (("epsilon", "1/10"),)

    @property
    def known(self) -> dict[str, Any]:
        """What `prove` is told."""
        return {"public": dict(self.public), **({} if self.size is None else {"sizes": [self.size]})}


_SPARSE = """
def sparse(q: each(1), epsilon):
    bar = 1 + laplace({bar})
    out = []
    count = 0
    i = 0
    while {guard}:
        value = q[i] + {noise}
        if value >= bar:
            out.append({yes})
            count += 1
        else:
            out.append(-1000)
        i += 1
    return out
"""


def _sparse(bar: str = "2/epsilon", noise: str = "laplace(4/epsilon)", yes: str = "1", *, stops: bool = True) -> str:
    guard = "count < 1 and i < len(q)" if stops else "i < len(q)"
    return _SPARSE.format(bar=bar, noise=noise, yes=yes, guard=guard)


_MAXIMUM = """
def maximum(q: each(1), epsilon):
    best = 0
    top = 0
    for i in range(len(q)):
        value = q[i] + {law}(2/epsilon)
        if i == 0 or value > top:
            top = value
            best = i
    return {shown}
"""

_HISTOGRAM = "def histogram(q: one(1), epsilon):\n    return [x + laplace({scale}) for x in q]\n"

_TRUNCATED = """
def truncated(x: each(1, whole(0, 5))):
    return min(5, max(0, x + geometric(1/9) - geometric(1/9)))
"""

# Two values whose four hashes are eight different bits of the filter; all other bits are alike for both.
_RAPPOR = """
def rappor(x: replaced(0, 1)):
    told = []
    for i in range(8):
        bit = x if i < 4 else 1 - x
        kept = bit if flip({keep}) else uniform(2)
        told.append({told})
    return told
"""

_RESPONSE = "flip(11/20) if kept == 1 else flip(9/20)"

_TWO_AT_ONCE = """
def two_at_once(q: each(1), epsilon):
    bar = 1 + laplace(2/epsilon)
    first = []
    count = 0
    i = 0
    while count < 1 and i < len(q):
        value = q[i] + laplace(2/epsilon)
        if value >= bar:
            first.append(value)
            count += 1
        else:
            first.append(-1000)
        i += 1
    bar = 1 + laplace(4/epsilon)
    second = []
    count = 0
    i = 0
    while count < 1 and i < len(q):
        if q[i] + laplace(4/(3*epsilon)) >= bar:
            second.append(1)
            count += 1
        else:
            second.append(0)
        i += 1
    return [first, second]
"""

_PREFIXES = """
def prefixes(q: each(1), epsilon):
    total = 0
    out = []
    for x in q:
        total = total + x + laplace(1/epsilon)
        out.append(total)
    return out
"""

PUBLISHED = [
    Published("Laplace", "def f(x: each(1), epsilon):\n    return x + laplace(1/epsilon)\n", 0.0998, tight="1/10"),
    Published("TruncatedGeometric", _TRUNCATED, 0.1169, tight="ln(9/8)", public=()),
    Published("NoisyHist1", _HISTOGRAM.format(scale="1/epsilon"), 0.0994, 5, "1/10"),
    Published("NoisyHist2", _HISTOGRAM.format(scale="epsilon"), 10.0, 5, "10"),
    Published("ReportNoisyMax1", _MAXIMUM.format(law="laplace", shown="best"), 0.0925, 5, "1/10"),
    Published("ReportNoisyMax2", _MAXIMUM.format(law="exponential", shown="best"), 0.0996, 5, "1/10"),
    Published("ReportNoisyMax3", _MAXIMUM.format(law="laplace", shown="top"), 0.2488, 5, "1/4"),
    Published("ReportNoisyMax4", _MAXIMUM.format(law="exponential", shown="top"), 0.3534, 5, "infinity"),
    Published("SVT1, SVT2", _sparse(), 0.0859, 6, "1/10"),
    Published("SVT3", _sparse(noise="laplace(2/epsilon)", yes="value"), 0.1822, 6),
    Published("SVT4", _sparse(bar="4/epsilon", noise="laplace(4/(3*epsilon))"), 0.1719, 6, "7/40"),
    Published("SVT5", _sparse(noise="0", stops=False), 14.3, 2, "infinity"),
    Published("SVT6", _sparse(noise="laplace(2/epsilon)", stops=False), 0.322, 7),
    Published("Rappor", _RAPPOR.format(keep="1/4", told=_RESPONSE), 0.3008, tight="8*ln(41/39)", public=()),
    Published("OneTimeRappor", _RAPPOR.format(keep="1/20", told="kept"), 0.5999, tight="8*ln(21/19)", public=()),
    Published(
        "LaplaceParallel",
        "def f(x: each(1), epsilon):\n    return [x + laplace(20/epsilon) for i in range(20)]\n",
        0.035,
        tight="1/10",
    ),
    Published("SVT34Parallel", _TWO_AT_ONCE, 0.2616, 5),
    Published("PrefixSum", _PREFIXES, 0.5774, 10, "1"),
    Published(
        "NumericalSVT",
        _sparse(bar="3/epsilon", noise="laplace(6/epsilon)", yes="q[i] + laplace(3/epsilon)"),
        0.0345,
        6,
        "1/10",
    ),
]
