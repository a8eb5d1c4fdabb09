"""The commands, and how they fail: one line on standard error and exit code 2, never a traceback."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated, TextIO

import typer

from privately import __version__
from privately.cli import account, budget, checking, demo
from privately.cli.proving import analyze, prove
from privately.cli.sql import explain, prepare, sql
from privately.errors import PrivatelyError

app = typer.Typer(
    name="privately",
    help="Answers questions about people's data without giving any of them away, and shows the proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("sql")(sql)
app.command("explain")(explain)
app.command("prepare")(prepare)
app.command("demo")(demo.demo)
app.command("check")(checking.check)
app.command("budget")(budget.budget)
app.command("prove")(prove)
app.command("analyze")(analyze)
app.add_typer(account.app, name="account")

_EXTRAS = {"duckdb": "query", "sqlglot": "query", "pyarrow": "query", "flint": "prove", "z3": "prove"}


def show_version(asked: bool) -> None:  # noqa: FBT001 - typer calls it so
    """Prints the version and ends."""
    if asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    *,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """Answers questions about people's data without giving any of them away, and shows the proof."""


def main() -> None:
    """What the `privately` command runs."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names that a terminal has no signs for
    try:
        app()
    except PrivatelyError as fault:
        print(f"error: {fault}", file=sys.stderr)
        raise SystemExit(2) from None
    except ModuleNotFoundError as fault:
        if fault.name not in _EXTRAS:
            raise
        print(f"error: {fault.name} is not installed. Install privately[{_EXTRAS[fault.name]}].", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as fault:  # whoever read the output has gone, or its disk is full
        silence(sys.stdout)
        print(f"error: cannot write the output: {fault.strerror}.", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def silence(stream: TextIO) -> None:
    """Keeps Python from complaining again when it closes the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
