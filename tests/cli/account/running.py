"""Running the command in this process."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from privately.cli import main


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line of a failure."""
        assert self.status == 2
        assert self.out == ""
        (line,) = self.err.splitlines()
        assert line.startswith("error: ")
        return line.removeprefix("error: ")


Account = Callable[[str], Done]


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Account:
    """What `privately account` does with these words."""

    def run(words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["privately", "account", *words.split()])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Done(status=int(ended.value.code or 0), out=out, err=err)

    return run
