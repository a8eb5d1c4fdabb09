"""What a ledger is asked with, checked before anything is done."""

from __future__ import annotations

from privately.accounting import Filter
from privately.errors import InvalidParameter
from privately.guarantees import ApproxDP, ApproxZCDP, Guarantee, RenyiDP
from privately.ledger.charges import LONGEST_LABEL, Charge
from privately.ledger.names import checked_name, checked_text


def filter_for(cap: Guarantee, by: type[Guarantee] | None) -> Filter:
    """The filter that keeps a cap, counting in `by` where a choice is left."""
    if not isinstance(cap, Guarantee):
        raise InvalidParameter("cap", "give a guarantee, such as PureDP(epsilon=1).")
    if type(cap) is ApproxDP and by is RenyiDP:
        hint = "Give a cap of the kind RenyiDP, or count in ApproxZCDP or GaussianDP."
        raise InvalidParameter("cap", "no account keeps an ApproxDP cap by counting in RenyiDP.", hint=hint)
    if type(cap) is ApproxDP:
        return Filter.promising(cap, by=ApproxZCDP if by is None else by)
    if by not in (None, type(cap)):
        raise InvalidParameter("by", f"a cap of the kind {type(cap).__name__} is counted in that kind; leave it out.")
    return Filter(cap=cap)


def account_name(lineage: str, analyst: str | None, token: str | None) -> str:
    """The name of the account of a lineage, or of an analyst or a token within it."""
    if token is not None and analyst is None:
        raise InvalidParameter("token", "belongs to an analyst: name one.")
    holder = [(field, name) for field, name in (("analyst", analyst), ("token", token)) if name is not None]
    return "/".join(checked_name(name, field) for field, name in [("lineage", lineage), *holder])


def checked_reason(reason: str) -> str:
    """Why something was done."""
    text = checked_text(reason, "reason", longest=LONGEST_LABEL)
    if not text.strip():
        raise InvalidParameter("reason", "say why; it is kept for good.")
    return text


def check_charge(charge: object) -> None:
    """Passes if it is a charge."""
    if not isinstance(charge, Charge):
        raise InvalidParameter("charge", "give a Charge.")
