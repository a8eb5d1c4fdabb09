"""Running the commands in this process."""

import sys
from collections.abc import Callable

import pytest

from privately.cli import main
from tests.cli.account.running import Done

Command = Callable[..., Done]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """What `privately` does with these words."""

    def run(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["privately", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Done(status=int(ended.value.code or 0), out=out, err=err)

    return run
