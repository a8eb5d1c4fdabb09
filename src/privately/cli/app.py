"""The commands, and how they fail: one line on standard error and exit code 2, never a traceback."""

from __future__ import annotations

import sys

import typer

from privately.cli import checking, demo
from privately.errors import PrivatelyError

app = typer.Typer(
    name="privately",
    help="Answers questions about people's data without giving any of them away, and shows the proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("check")(checking.check)


@app.callback()
def _root() -> None:
    """Keeps the subcommands subcommands."""


def main() -> None:
    """What the `privately` command runs."""
    try:
        app()
    except PrivatelyError as fault:
        print(f"error: {fault}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
