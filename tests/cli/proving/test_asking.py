"""What was typed."""

import pytest

from privately.cli.proving.asking import neighborhoods, public_values
from privately.errors import InvalidParameter
from privately.proving import between, each


def test_options() -> None:
    assert neighborhoods(["q = each(1)"]) == {"q": each(1)}
    assert public_values(["p=1/4", "q=1, 2", "r=between(0,1)"]) == {"p": "1/4", "q": ["1", "2"], "r": between(0, 1)}


@pytest.mark.parametrize("bad", ["p", "p=", "=1", "p=each(1)", "p=f("])
def test_bad_options(bad: str) -> None:
    with pytest.raises(InvalidParameter):
        public_values([bad])
    with pytest.raises(InvalidParameter, match="twice"):
        public_values(["p=1", "p=2"])
