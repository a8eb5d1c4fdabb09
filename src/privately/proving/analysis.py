"""Exact analysis of finite programs: every law, for every input, and what it gives away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from privately.errors import InvalidParameter, NotSupported
from privately.guarantees.distances import PrivacyCurve, privacy_curve_of
from privately.proving.exact.budgets import Budget
from privately.proving.exact.claims import Claim
from privately.proving.exact.curves import Curve, curve_of
from privately.proving.exact.inputs import Inputs, named, neighbouring_pairs
from privately.proving.exact.places import Between, Exponential, Place
from privately.proving.exact.ratios import Piece, Ratio, distinct, epsilon, largest, pieces, ratios, within
from privately.proving.exact.sampling import NotFinite
from privately.proving.exact.sets import Met, has_exponentials, has_tails, met
from privately.proving.exact.states import Excluded, Outputs, output_law
from privately.proving.exact.weights import UNKNOWN, Quotient, Weight, cost, fraction
from privately.proving.language.declarations import Domain, Neighborhood, exact_value
from privately.proving.language.program import Parameter, Program
from privately.proving.language.syntax import Value
from privately.rounding import Interval, Number
from privately.rounding import whole as whole_number

SECONDS = 8.0
"""The most that one answer takes, if its work is misjudged."""

UNROLLING, COMPARING, TABULATING = 120, 2, 10
"""Steps of work to compare an output, with tails and without, and to have it in a table of fractions."""

SIZES = (1, 2, 3)
"""Lists of private entries have these lengths unless something else is said."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A program with everything that is known of its inputs."""

    program: Program
    public: Mapping[str, Value]
    sizes: tuple[int, ...]
    open_domain: Domain | None = None
    chosen: tuple[tuple[Inputs, Inputs], ...] = ()
    """Pairs of inputs to compare, instead of all neighbours."""

    @property
    def open_parameter(self) -> str | None:
        """The public parameter that has no single value, if there is one."""
        missing = [one.name for one in self.program.public if one.name not in self.public]
        if len(missing) > 1:
            raise InvalidParameter(
                "public", f"{', '.join(missing)} have no values.", hint="Only one parameter may stay open."
            )
        return missing[0] if missing else None


def question(
    program: Program,
    *,
    neighbors: Mapping[str, Neighborhood] | None = None,
    public: Mapping[str, Any] | None = None,
    sizes: Iterable[int] = SIZES,
) -> Question:
    """The program with neighbours and public values put in; everything is checked here."""
    for name, given in (("neighbors", neighbors), ("public", public)):
        if not (given is None or isinstance(given, Mapping)):
            raise InvalidParameter(name, 'give a dictionary by the names of inputs, such as {"x": ...}.')
    changed = _with_neighbors(program, dict(neighbors or {}))
    values, domains = _public_values(changed, public or {})
    if isinstance(sizes, (str, int)) or not isinstance(sizes, Iterable):
        raise InvalidParameter("sizes", "give a list of lengths, such as [1, 2, 3].")
    lengths = tuple(dict.fromkeys(whole_number(one, "sizes", minimum=0, maximum=100_000) for one in sizes))
    if not lengths:
        raise InvalidParameter("sizes", "give at least one length of lists.")
    declared = [one.domain for one in changed.public if one.name not in values and one.domain is not None]
    return Question(program=changed, public=values, sizes=lengths, open_domain=next(iter([*domains, *declared]), None))


def _with_neighbors(program: Program, given: dict[str, Neighborhood]) -> Program:
    parameters = []
    for one in program.parameters:
        declared = given.pop(one.name, one.neighborhood)
        if declared is not None and not isinstance(declared, Neighborhood):
            raise InvalidParameter("neighbors", f"{declared!r} says nothing of neighbours.", hint="Such as each(1).")
        fixed = declared is not None and declared.domain is not None and declared.domain.length is not None
        grows = declared is not None and declared.change == "added"
        private = one.private or declared is not None
        parameters.append(replace(one, neighborhood=declared, private=private, is_list=one.is_list or fixed or grows))
    if given:
        raise InvalidParameter("neighbors", f"the program has no input {min(given)!r}.")
    return replace(program, parameters=tuple(parameters))


def _public_values(program: Program, public: Mapping[str, Any]) -> tuple[dict[str, Value], list[Domain]]:
    """The values that were given, and the domain of a parameter that stays open."""
    values: dict[str, Value] = {}
    domains: list[Domain] = []
    known = {one.name: one for one in program.public}
    for name, value in public.items():
        if name not in known:
            raise InvalidParameter("public", f"the program has no public input {name!r}.")
        if isinstance(value, Domain):
            domains.append(value)
            continue
        number = exact_value(value, name)
        _check_within(known[name].domain, number, name)
        values[name] = number
    return values, domains


class Analysis:
    """All that an observer of the output can learn, exactly. Made by `pv.analyze`."""

    def __init__(self, asked: Question, budget: Budget | None = None) -> None:
        self.asked = asked
        self._laws: dict[Inputs, Outputs] = {}
        self._unit = 1
        self._budget = Budget(seconds=SECONDS, renewed=True) if budget is None else budget

    def answering(self) -> AbstractContextManager[None]:
        """Whatever is done in the meantime is one answer, whose work is bounded."""
        return self._budget.answering()

    @cached_property
    def pairs(self) -> list[tuple[Inputs, Inputs]]:
        """All ordered pairs of neighbours that meet the assumptions of the program."""
        with self._budget.answering():
            return self._found_pairs()

    def _found_pairs(self) -> list[tuple[Inputs, Inputs]]:
        if self.asked.chosen:
            for one in (side for pair in self.asked.chosen for side in pair):
                self.law_of(one)  # all of them before any is used: one may need a finer unit for all
            return [pair for one, other in self.asked.chosen for pair in ((one, other), (other, one))]
        private = self.asked.program.private
        if not private:
            raise InvalidParameter("neighbors", "the program has no private input.", hint="Say which: neighbors={...}.")
        found = [pair for pair in neighbouring_pairs(private, self.asked.sizes) if all(map(self._included, pair))]
        if not found:
            raise NotSupported(
                "no two neighbours meet the assumptions, so every claim would hold.",
                hint="Check assume(...) and sizes.",
            )
        return found

    @cached_property
    def _different_pairs(self) -> list[tuple[Inputs, Inputs]]:
        """The first pair of neighbours with each two laws: others with the same ones add nothing."""
        inputs = dict.fromkeys(one for pair in self.pairs for one in pair)
        numbers: dict[frozenset[tuple[Value, Weight]], int] = {}
        law = {one: numbers.setdefault(frozenset(self.law_of(one).items()), len(numbers)) for one in inputs}
        first: dict[tuple[int, int], tuple[Inputs, Inputs]] = {}
        for one, other in self.pairs:
            first.setdefault((law[one], law[other]), (one, other))
        return list(first.values())

    @cached_property
    def _has_tails(self) -> bool:
        return any(map(has_tails, self._laws.values()))

    def _included(self, inputs: Inputs) -> bool:
        try:
            self.law_of(inputs)
        except Excluded:
            return False
        return True

    def law_of(self, inputs: Inputs) -> Outputs:
        """Every output with its exact weight, for one private input."""
        if inputs not in self._laws:
            with self._budget.answering():
                self._find_law(inputs)
        return self._laws[inputs]

    def _find_law(self, inputs: Inputs) -> None:
        known: dict[str, Value] = {**self.asked.public, **named(self.asked.program.private, inputs)}
        if self.asked.open_parameter is not None:
            known[self.asked.open_parameter] = UNKNOWN
        law, unit = output_law(
            self.asked.program, known, least_unit=self._unit, place=self._open_place, budget=self._budget
        )
        if unit != self._unit:
            self._unit = unit
            self.__dict__.pop("largest", None)  # its weights are in the unit from before
            self._laws = {one: self._again(one) for one in self._laws}
        self._laws[inputs] = law

    def _again(self, inputs: Inputs) -> Outputs:
        known = {**self.asked.public, **named(self.asked.program.private, inputs)}
        return output_law(self.asked.program, known, least_unit=self._unit, budget=self._budget)[0]

    @cached_property
    def _open_place(self) -> Between | None:
        name = self.asked.open_parameter
        if name is None:
            return None
        domain = self.asked.open_domain
        if domain is None:
            return Between(Fraction(0), Fraction(1))
        if domain.lower is None or domain.upper is None or domain.finite or domain.lower == domain.upper:
            raise InvalidParameter(name, f"may be anything in {domain}.", hint="Give a value, or between(a, b).")
        return Between(domain.lower, domain.upper)

    @property
    def edges(self) -> tuple[Fraction, ...]:
        """The ends of the open parameter's domain that belong to it."""
        domain = self.asked.open_domain
        if domain is None or domain.open or domain.lower is None or domain.upper is None:
            return ()
        return (domain.lower, domain.upper)

    @property
    def unit(self) -> int:
        """The d with which weights are quotients in t = exp(-1/d); known once all laws are."""
        return self._unit

    @property
    def place(self) -> Place | None:
        """Where the unknown of the weights lies; None if all weights are rational."""
        if self.asked.open_parameter is not None:
            return self._open_place
        return Exponential(self._unit) if any(map(has_exponentials, self._laws.values())) else None

    def law(self, **inputs: object) -> dict[Value, Weight]:
        """The law of the output for these private inputs; a tail such as `3 or more` has the mass of all its values."""
        wanted = _private_values(self.asked.program, inputs)
        return {output: plain(mass) for output, mass in self.law_of(wanted).items()}

    def ratios(self) -> Iterable[Ratio]:
        """All ratios of probabilities of one output under two neighbours."""
        pairs, tails, place = self._different_pairs, self._has_tails, self.place  # the pairs first: they know all laws
        for one, other in pairs:
            left, right = self.law_of(one), self.law_of(other)
            each = UNROLLING if tails else COMPARING
            self._budget.spend(sum(each + cost(mass) // 2 for mass in left.values()))
            yield from ratios((one, other), left, right, tails=tails, place=place)

    @cached_property
    def largest(self) -> Ratio:
        """The largest ratio, in weights."""
        if self.asked.open_parameter is not None:
            name = self.asked.open_parameter
            raise InvalidParameter("public", f"{name!r} is open, so epsilon is a formula.", hint="Ask for pieces.")
        with self._budget.answering():
            candidates = distinct(self.ratios())  # first, so that the place of their weights is known
            return largest(candidates, self.place)

    @property
    def worst(self) -> Ratio:
        """The largest ratio: two inputs and the output that tells them apart best; rational numbers as Fractions."""
        found = self.largest
        masses = (plain(found.masses[0]), plain(found.masses[1]))
        return replace(found, value=None if found.value is None else plain(found.value), masses=masses)

    @cached_property
    def epsilon(self) -> Interval:
        """The tight epsilon over all these inputs; infinite if some output is impossible for a neighbour."""
        return epsilon(self.largest, self.place)

    @cached_property
    def pieces(self) -> list[Piece]:
        """With a parameter left open: the largest ratio, as a formula, on every stretch of the parameter."""
        if self._open_place is None:
            raise InvalidParameter("public", "all parameters have values, so there is one epsilon.")
        with self._budget.answering():
            return pieces(distinct(self.ratios()), self._open_place)

    def holds(self, claim: Claim) -> Ratio | None:
        """None if the claim holds for all these inputs, else a ratio that breaks it."""
        if self.asked.open_parameter is None:
            return None if within(self.largest, claim, self.place) else self.largest
        with self._budget.answering():
            candidates = distinct(self.ratios())
            return next((one for one in candidates if not within(one, claim, self._open_place)), None)

    @cached_property
    def _curve(self) -> Curve:
        with self._budget.answering():
            laws = ((self.law_of(one), self.law_of(other)) for one, other in self._different_pairs)
            return curve_of(laws, self.place)

    def delta(self, epsilon: Number) -> Interval:
        """The tight delta for an epsilon, over all these inputs."""
        with self._budget.answering():
            return self._curve.delta(epsilon)

    def epsilon_at(self, delta: Number) -> Interval:
        """The tight epsilon for a delta, over all these inputs."""
        with self._budget.answering():
            return self._curve.epsilon(delta)

    @cached_property
    def curve(self) -> PrivacyCurve:
        """The whole curve in exact numbers; for laws with rational weights that are not too many."""
        with self._budget.answering():
            return privacy_curve_of(self._tables())

    def _tables(self) -> Iterable[tuple[dict[Value, Fraction], dict[Value, Fraction]]]:
        for one, other in self._different_pairs:
            sets = met(self.law_of(one), self.law_of(other))
            self._budget.spend(2 * TABULATING * len(sets))
            yield _tables(sets)


def plain(mass: Weight) -> Any:
    """A weight as users see it: a Fraction, unless it depends on an unknown."""
    return mass if isinstance(mass, Quotient) else fraction(mass)


def rational_law(law: Outputs) -> dict[Value, Fraction]:
    """A law as Fractions, if all its weights are rational and every output is one value."""
    if has_tails(law):
        raise NotFinite("the outputs have no end.")
    return _fractions(law)


def _fractions(law: Outputs) -> dict[Value, Fraction]:
    if any(isinstance(mass, Quotient) for mass in law.values()):
        raise NotSupported(
            "these probabilities are no fractions: they have exponentials, or a parameter that is open, in them.",
            hint="Ask for epsilon, delta or a law.",
        )
    return {output: fraction(mass) for output, mass in law.items()}


def _tables(sets: list[Met]) -> tuple[dict[Value, Fraction], dict[Value, Fraction]]:
    """Two laws as tables of the same sets."""
    if any(one.differing for one in sets):
        raise NotFinite("tails in which every output has a ratio of its own.", hint="Ask for epsilon_at or delta.")
    one, other = (_fractions({met.output: met.masses[side] for met in sets if met.masses[side]}) for side in (0, 1))
    return one, other


def between_inputs(asked: Question, one: Mapping[str, Any], other: Mapping[str, Any]) -> Question:
    """The same question about two inputs only, such as long lists whose neighbours are too many to list."""
    places = [_private_values(asked.program, side) for side in (one, other)]
    if places[0] == places[1]:
        raise InvalidParameter("between", "the two inputs are the same.")
    return replace(asked, chosen=((places[0], places[1]),))


def _private_values(program: Program, inputs: Mapping[str, Any]) -> Inputs:
    """The private inputs, all of them and no others, each within its domain."""
    if not isinstance(inputs, Mapping):
        raise InvalidParameter("inputs", 'give a dictionary by the names of inputs, such as {"x": ...}.')
    found = tuple(_value(inputs, one) for one in program.private)
    unknown = [name for name in inputs if name not in {one.name for one in program.private}]
    if unknown:
        raise InvalidParameter("inputs", f"the program has no private input {unknown[0]!r}.")
    for one, value in zip(program.private, found, strict=True):
        _check_within(None if one.neighborhood is None else one.neighborhood.domain, value, one.name)
    return found


def _check_within(domain: Domain | None, value: Value, name: str) -> None:
    entries = value if isinstance(value, tuple) else (value,)
    if domain is not None and domain.length not in {None, len(entries)}:
        raise InvalidParameter(name, f"a list of {len(entries)} entries is not in {domain}.")
    for one in entries:
        if isinstance(one, tuple):
            raise InvalidParameter(name, "lists hold numbers here.")
        if domain is not None and Fraction(str(one)) not in domain:
            raise InvalidParameter(name, f"{one} is not in {domain}.")


def _value(inputs: Mapping[str, Any], parameter: Parameter) -> Value:
    name = parameter.name
    if name not in inputs:
        raise InvalidParameter("inputs", f"{name!r} is missing.")
    value = exact_value(inputs[name], name)
    if isinstance(value, tuple) is not parameter.is_list:
        raise InvalidParameter(name, f"the program takes {'a list' if parameter.is_list else 'a number'} here.")
    return value


__all__ = ["SIZES", "Analysis", "NotFinite", "Question", "question"]
