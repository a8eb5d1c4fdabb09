"""The event that stands for everything a guarantee allows."""

from __future__ import annotations

from privately.accounting.events import ZCDP, Approx, Event, GaussianDP, Pure, Renyi
from privately.errors import NoSuchRule
from privately.guarantees import Guarantee, kinds


def event_of(guarantee: Guarantee) -> Event:
    """All mechanisms with this guarantee.

    >>> from privately.guarantees import PureDP
    >>> event_of(PureDP(epsilon="0.1"))
    Pure(epsilon='0.1')
    """
    exact, neighbors = guarantee.parameters, guarantee.neighbors
    match guarantee:
        case kinds.PureDP():
            return Pure(epsilon=exact["epsilon"], neighbors=neighbors)
        case kinds.ApproxDP():
            return Approx(epsilon=exact["epsilon"], delta=exact["delta"], neighbors=neighbors)
        case kinds.ZCDP():
            return ZCDP(rho=exact["rho"], neighbors=neighbors)
        case kinds.GaussianDP():
            return GaussianDP(mu=exact["mu"], neighbors=neighbors)
        case kinds.RenyiDP():
            return Renyi(bounds=exact["bounds"], neighbors=neighbors)
    raise NoSuchRule(premise=type(guarantee).__name__, wanted="an event", hint="Describe the mechanisms instead.")
