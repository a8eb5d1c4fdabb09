"""Accounting: what a described use of mechanisms costs, as numbers that contain the truth.

`events` describe what is run, `compositions` turn them into laws of the privacy loss, and four roads lead from there to
`epsilon` and `delta`: closed forms, the contour integral, loss distributions on a lattice, Renyi divergences.
`calibrate` finds the noise for a promise; a `Filter` keeps one while questions are chosen in the light of answers.
"""

from fractions import Fraction

from privately.accounting.encoding import decode, encode, from_text, to_text
from privately.accounting.events import (
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    FixedSizeSample,
    Gaussian,
    GaussianDP,
    Group,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Renyi,
    Repeat,
    Sequence,
)
from privately.accounting.filters import Batch, Filter, Odometer, use_evaluators
from privately.guarantees import RenyiDP
from privately.on_demand import on_demand
from privately.rounding import Interval

TYPE_CHECKING = False

if TYPE_CHECKING:
    from privately.accounting.answers import delta, epsilon
    from privately.accounting.calibrating import calibrate
    from privately.accounting.certifying import derive
else:
    # What computes needs NumPy, and describing does not.
    __getattr__ = on_demand(__name__, answers="epsilon delta", calibrating="calibrate", certifying="derive")


def _divergences(event: Event, orders: tuple[Fraction, ...]) -> RenyiDP:
    from privately.accounting.renyi import renyi_bounds
    from privately.accounting.undisturbed import undisturbed

    with undisturbed():
        return renyi_bounds(event, orders)


def _epsilon(event: Event, at: Fraction) -> Interval:
    from privately.accounting.answers import epsilon as answer

    return answer(event, at)


use_evaluators(epsilon=_epsilon, divergences=_divergences)

__all__ = [
    "ZCDP",
    "Approx",
    "Batch",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Event",
    "Exponential",
    "Filter",
    "FixedSizeSample",
    "Gaussian",
    "GaussianDP",
    "Group",
    "Laplace",
    "Odometer",
    "Parallel",
    "PoissonSample",
    "Pure",
    "RandomizedResponse",
    "Renyi",
    "Repeat",
    "Sequence",
    "calibrate",
    "decode",
    "delta",
    "derive",
    "encode",
    "epsilon",
    "from_text",
    "to_text",
]
