"""The mechanisms that have a command of their own, and the events that their options describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from privately.cli.account.numbers import counted, option, options
from privately.errors import InvalidParameter
from privately.guarantees import Neighbors

if TYPE_CHECKING:
    from privately.accounting import Event

WHOLE = ("sensitivity", "categories")
NOISE = ("noise_multiplier", "scale", "variance")
"""The more of it the better; of everything else the less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """One command: its event, and the options that become the fields of the event."""

    command: str
    event: str
    about: str
    example: str
    required: Mapping[str, str]
    """What each option says; the first is what --target-epsilon finds."""

    optional: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    """Options whose name is not that of the field."""

    @property
    def sought(self) -> str:
        """The option that --target-epsilon finds."""
        return next(iter(self.required))

    def field_of(self, name: str) -> str:
        """The field of the event that an option sets."""
        return self.fields.get(name, name)


_EACH = {"epsilon_each": "epsilon"}

MECHANISMS = (
    Mechanism(
        command="gaussian",
        event="Gaussian",
        about="Normal noise, as in private training.",
        example="gaussian --noise-multiplier 1 --rate 0.01 --steps 10000 --delta 1e-5",
        required={"noise_multiplier": "The standard deviation of the noise over the L2 sensitivity."},
    ),
    Mechanism(
        command="laplace",
        event="Laplace",
        about="Laplace noise.",
        example="laplace --scale 10 --steps 100 --delta 1e-6",
        required={"scale": "The scale of the noise over the L1 sensitivity."},
    ),
    Mechanism(
        command="discrete-gaussian",
        event="DiscreteGaussian",
        about="Discrete Gaussian noise on one whole number.",
        example="discrete-gaussian --variance 25 --steps 10 --delta 1e-6",
        required={"variance": "The parameter of the noise: k has weight exp(-k^2/(2 variance))."},
        optional={"sensitivity": "By how much one change moves the number; 1 unless told."},
    ),
    Mechanism(
        command="discrete-laplace",
        event="DiscreteLaplace",
        about="Discrete Laplace (two-sided geometric) noise on whole numbers.",
        example="discrete-laplace --scale 10 --steps 100 --delta 1e-6",
        required={"scale": "The scale of the noise: k has weight exp(-|k|/scale)."},
        optional={"sensitivity": "By how much one change moves the numbers, in L1; 1 unless told."},
    ),
    Mechanism(
        command="randomized-response",
        event="RandomizedResponse",
        about="Everybody's own answer, true with probability e^epsilon/(categories - 1 + e^epsilon).",
        example="randomized-response --epsilon-each 0.2 --steps 100 --delta 1e-6",
        required={"epsilon_each": "The epsilon of one response."},
        optional={"categories": "How many answers there are to choose from; 2 unless told."},
        fields=_EACH,
    ),
    Mechanism(
        command="exponential",
        event="Exponential",
        about="The exponential mechanism, or any other of bounded range.",
        example="exponential --epsilon-each 0.1 --steps 100 --delta 1e-6",
        required={"epsilon_each": "The epsilon of one selection: the length of the range of its privacy losses."},
        fields=_EACH,
    ),
    Mechanism(
        command="pure",
        event="Pure",
        about="Any mechanism that is epsilon-DP.",
        example="pure --epsilon-each 0.1 --steps 100 --delta 1e-6",
        required={"epsilon_each": "The epsilon of one run."},
        fields=_EACH,
    ),
    Mechanism(
        command="approx",
        event="Approx",
        about="Any mechanism that is (epsilon, delta)-DP.",
        example="approx --epsilon-each 0.1 --delta-each 1e-9 --steps 100 --delta 1e-6",
        required={"epsilon_each": "The epsilon of one run.", "delta_each": "The delta of one run."},
        fields={**_EACH, "delta_each": "delta"},
    ),
    Mechanism(
        command="zcdp",
        event="ZCDP",
        about="Any mechanism that is rho-zCDP.",
        example="zcdp --rho 0.05 --steps 10 --delta 1e-6",
        required={"rho": "The rho of one run."},
    ),
    Mechanism(
        command="gaussian-dp",
        event="GaussianDP",
        about="Any mechanism that is mu-GDP.",
        example="gaussian-dp --mu 0.1 --steps 100 --delta 1e-6",
        required={"mu": "The mu of one run."},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How a mechanism is used, as typed. What is None was not typed."""

    mechanism: Mechanism
    parameters: Mapping[str, object]
    neighbors: str = "add_remove"
    rate: object = None
    sample_size: str | None = None
    population: str | None = None
    steps: object = None

    def given(self, name: str) -> object:
        """What was typed for an option."""
        return self.parameters[name] if name in self.parameters else getattr(self, name)

    def put(self, name: str, value: object) -> Use:
        """The same use with one option changed."""
        if name in self.parameters:
            return replace(self, parameters={**self.parameters, name: value})
        changed: dict[str, Any] = {name: value}
        return replace(self, **changed)

    def event(self) -> Event:
        """What the options describe."""
        from privately import accounting

        event = self._sampled(self._one())
        if self.steps is None:
            return event
        with options({"times": "--steps", "steps": "--steps"}):
            return accounting.Repeat(event=event, times=_counted(self.steps, "steps"))

    def _one(self) -> Event:
        from privately import accounting

        missing = next((name for name in self.mechanism.required if self.parameters[name] is None), None)
        if missing:
            also = ", or --target-epsilon to have it found" if missing == self.mechanism.sought else ""
            raise InvalidParameter(option(missing), f"is missing; give it{also}.")
        given = {name: value for name, value in self.parameters.items() if value is not None}
        names = {self.mechanism.field_of(name): option(name) for name in self.parameters}
        with options({**names, "change": "--neighbors"}):
            values = {
                self.mechanism.field_of(name): _counted(value, name) if name in WHOLE else value
                for name, value in given.items()
            }
            neighbors = Neighbors(change=self.neighbors)  # type: ignore[arg-type] # checks it
            made: Event = getattr(accounting, self.mechanism.event)(**values, neighbors=neighbors)
            return made

    def _sampled(self, event: Event) -> Event:
        from privately import accounting

        if self.rate is not None and (self.sample_size or self.population):
            raise InvalidParameter("--rate", "is for Poisson sampling; --sample-size and --population are for another.")
        if (self.sample_size is None) != (self.population is None):
            raise InvalidParameter("--sample-size", "belongs together with --population; give both or neither.")
        with options({"rate": "--rate", "size": "--sample-size", "population": "--population"}):
            if self.rate is not None:
                return accounting.PoissonSample(event=event, rate=self.rate)  # type: ignore[arg-type] # checks it
            if self.sample_size is not None and self.population is not None:
                size, population = counted(self.sample_size, "size"), counted(self.population, "population")
                return accounting.FixedSizeSample(event=event, size=size, population=population)
        return event


def _counted(value: object, name: str) -> int:
    return value if isinstance(value, int) else counted(str(value), name)
