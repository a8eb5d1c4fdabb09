"""The exception by which a road says that it leads nowhere."""

from privately.accounting.roads import NotApplicable
from privately.errors import PrivatelyError


def test_it_has_a_reason_and_is_no_error_of_users() -> None:
    assert NotApplicable("no pair").reason == str(NotApplicable("no pair")) == "no pair"
    assert not issubclass(NotApplicable, PrivatelyError)
