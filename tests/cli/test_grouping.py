from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from privately.cli.grouping import with_fields_as_options


@dataclass(frozen=True, kw_only=True)
class Asked:
    epsilon: Annotated[str | None, typer.Option(help="What it may cost.")] = None
    steps: Annotated[int, typer.Option()] = 1


@with_fields_as_options
def ask(name: str, *, asked: Asked, loud: Annotated[bool, typer.Option("--loud")] = False) -> None:
    """Asks."""
    typer.echo(f"{name} {asked.epsilon} {asked.steps} {loud}")


app = typer.Typer()
app.command()(ask)


def test_fields_are_options_and_come_back_together() -> None:
    assert CliRunner().invoke(app, ["me", "--steps", "3", "--loud"]).output == "me None 3 True\n"
    assert CliRunner().invoke(app, ["me", "--epsilon", "0.5"]).output == "me 0.5 1 False\n"


def test_help_tells_of_each_field_and_of_the_command() -> None:
    told = CliRunner().invoke(app, ["--help"]).output
    assert "Asks." in told
    assert "What it may cost." in told
    assert "asked" not in told


def test_a_field_of_the_wrong_type_is_a_usage_error() -> None:
    assert CliRunner().invoke(app, ["me", "--steps", "many"]).exit_code == 2
