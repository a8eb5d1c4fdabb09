"""`privately account gaussian`, one command for each mechanism, and `privately account event` for all the rest."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from privately.certificates.files import write_whole
from privately.cli.account import telling
from privately.cli.account.asking import CURVE, METHODS, Accountant, Found, calibrated, plotted
from privately.cli.account.files import read_event
from privately.cli.account.mechanisms import MECHANISMS, Mechanism, Use
from privately.cli.account.numbers import options
from privately.errors import InvalidParameter
from privately.views.pictures import picture, suffix_of

if TYPE_CHECKING:
    from privately.accounting import Event

app = typer.Typer(
    help="Account for what mechanisms reveal: epsilon and delta, between two ends that are proved."
    "\n\nExample: privately account gaussian --noise-multiplier 1 --rate 0.01 --steps 10000 --delta 1e-5",
    no_args_is_help=True,
)


def _option(*names: str, about: str, panel: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=about, rich_help_panel=panel, metavar=metavar)


_USE, _ASK, _OUTPUT = "How it is used", "What is asked", "Output"
_NUMBER, _COUNT = "NUMBER", "COUNT"

Rate = Annotated[
    str | None,
    _option(about="Poisson sampling: each row is kept with this probability.", panel=_USE, metavar=_NUMBER),
]
SampleSize = Annotated[
    str | None, _option(about="So many rows are drawn without replacement ...", panel=_USE, metavar=_COUNT)
]
Population = Annotated[str | None, _option(about="... out of so many.", panel=_USE, metavar=_COUNT)]
Steps = Annotated[str | None, _option(about="How often it is run; once unless told.", panel=_USE, metavar=_COUNT)]
Change = Annotated[
    str, _option("--neighbors", about="Which change of the data is hidden.", panel=_USE, metavar="add_remove|replace")
]
Deltas = Annotated[
    list[str] | None,
    _option("--delta", about="Tell the least epsilon at this delta; may be repeated.", panel=_ASK, metavar=_NUMBER),
]
Epsilons = Annotated[
    list[str] | None,
    _option("--epsilon", about="Tell the least delta at this epsilon; may be repeated.", panel=_ASK, metavar=_NUMBER),
]
Curve = Annotated[bool, _option("--curve", about="Tell epsilon at deltas from 1e-3 to 1e-12.", panel=_ASK)]
Target = Annotated[
    str | None,
    _option(about="Find what keeps epsilon at most this at --delta: the noise.", panel=_ASK, metavar=_NUMBER),
]
Find = Annotated[str | None, _option(about="Find this instead of the noise.", panel=_ASK, metavar="rate|steps")]
Method = Annotated[str | None, _option(about="Use this method only.", panel=_ASK, metavar="|".join(METHODS))]
Width = Annotated[
    str | None,
    _option(about="How narrow the answer should be, relative; 1e-6 unless told.", panel=_ASK, metavar=_NUMBER),
]
Plot = Annotated[Path | None, _option(about="Draw epsilon over delta into this file, .svg or .png.", panel=_OUTPUT)]
AsJson = Annotated[bool, _option("--json", about="Print the answers as JSON.", panel=_OUTPUT)]


class EachOnce(TyperCommand):
    """A command that refuses an option which was typed twice, unless all of its values count."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, typed = self.make_parser(ctx).parse_args(args=[*args])
        single = [one for one in typed if isinstance(one, TyperOption) and not one.multiple]
        for place, one in enumerate(single):
            if one in single[:place]:
                raise InvalidParameter(max(one.opts, key=len), "was typed twice; say which of both is meant.")
        return super().parse_args(ctx, args)


def account(
    mechanism: Mechanism,
    parameters: dict[str, object],
    *,
    rate: Rate = None,
    sample_size: SampleSize = None,
    population: Population = None,
    steps: Steps = None,
    neighbors: Change = "add_remove",
    delta: Deltas = None,
    epsilon: Epsilons = None,
    curve: Curve = False,
    target_epsilon: Target = None,
    find: Find = None,
    method: Method = None,
    width: Width = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """What all commands do but `event`; their options are these, after their own."""
    use = Use(
        mechanism=mechanism,
        parameters=parameters,
        neighbors=neighbors,
        rate=rate,
        sample_size=sample_size,
        population=population,
        steps=steps,
    )
    found = None
    if target_epsilon is not None:
        if not delta or len(delta) != 1:
            raise InvalidParameter("--delta", "give exactly one with --target-epsilon.")
        if method is not None:
            raise InvalidParameter("--method", "leave it out with --target-epsilon, which takes the best of all.")
        use, found = calibrated(use, target=target_epsilon, delta=delta[0], find=find)
    elif find is not None:
        raise InvalidParameter("--find", "belongs to --target-epsilon; say which epsilon to keep.")
    answer(
        use.event(), Accountant(method=method, width=width),
        deltas=delta, epsilons=epsilon, curve=curve, plot=plot, as_json=as_json, found=found,
    )  # fmt: skip


@app.command("event", cls=EachOnce)
def account_event(
    file: Annotated[Path, typer.Argument(help="The event as JSON; - for standard input.")],
    *,
    delta: Deltas = None,
    epsilon: Epsilons = None,
    curve: Curve = False,
    method: Method = None,
    width: Width = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Any event, from a JSON file as accounting.to_text(event) writes it.

    Example: privately account event training.json --delta 1e-5
    """
    answer(
        read_event(file), Accountant(method=method, width=width),
        deltas=delta, epsilons=epsilon, curve=curve, plot=plot, as_json=as_json,
    )  # fmt: skip


def answer(
    event: Event,
    accountant: Accountant,
    *,
    deltas: list[str] | None,
    epsilons: list[str] | None,
    curve: bool,
    plot: Path | None,
    as_json: bool,
    found: Found | None = None,
) -> None:
    """Answers all questions, then draws, then prints. Without a question, all of the curve is told."""
    if plot is not None:
        suffix_of(plot, "--plot")
    asked = [*(deltas or ())]
    asked += [one for one in CURVE if one not in asked] if curve or not (deltas or epsilons) else []
    answers = [*accountant.epsilons(event, asked), *accountant.deltas(event, epsilons or ())]
    if plot is not None:
        drawn = accountant.epsilons(event, plotted(asked))
        marked = answers[: len(deltas or ())] + answers[len(asked) :]
        with options({"path": "--plot"}):
            write_whole(plot, picture(plot, telling.plot(event, drawn, marked)))
    print(telling.as_json(event, answers, found) if as_json else telling.text(event, answers, found))
    if plot is not None and not as_json:
        print(f"\ndrawn in {plot}")


def _command(mechanism: Mechanism) -> Callable[..., None]:
    """A function with the options of the mechanism and those of `account`, for typer to look at."""
    own = [_own(name, about) for name, about in {**mechanism.required, **mechanism.optional}.items()]
    _, _, *common = inspect.signature(account, eval_str=True).parameters.values()

    def command(**given: Any) -> None:
        account(mechanism, {one.name: given.pop(one.name) for one in own}, **given)

    command.__doc__ = f"{mechanism.about}\n\nExample: privately account {mechanism.example}"
    command.__annotations__ = {one.name: one.annotation for one in (*own, *common)}
    command.__signature__ = inspect.Signature([*own, *common])  # type: ignore[attr-defined]
    return command


def _own(name: str, about: str) -> inspect.Parameter:
    annotation = Annotated[str | None, _option(about=about, panel="The mechanism", metavar=_NUMBER)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


for _mechanism in MECHANISMS:
    app.command(_mechanism.command, cls=EachOnce)(_command(_mechanism))
