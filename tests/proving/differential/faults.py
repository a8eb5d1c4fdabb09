"""Faults to plant: each makes the prover wrong in one way that a comparison with the truth must find."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from privately.proving import analysis, prover
from privately.proving.exact import chains, following, inputs, ratios, rays, sets, spreads, tails, weights
from privately.proving.language import meaning, python_expressions, python_names, pythonic, whiles
from privately.proving.language.syntax import TRUE, If


def _steps_on_the_edge_are_too_long(patch: pytest.MonkeyPatch) -> None:
    near = inputs._near

    def shorter(neighborhood: Any, values: tuple[Any, ...], entry: Any) -> Any:
        far = neighborhood.distance
        return [one for one in near(neighborhood, values, entry) if far is None or abs(one - entry) < far]

    patch.setattr(inputs, "_near", shorter)


def _each_entry_is_one_entry(patch: pytest.MonkeyPatch) -> None:
    def moved(neighborhood: Any, one: tuple[Any, ...], values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        for place, entry in enumerate(one):
            for value in inputs._near(neighborhood, values, entry):
                yield (*one[:place], value, *one[place + 1 :])

    patch.setattr(inputs, "_moved", moved)


def _entries_come_and_never_go(patch: pytest.MonkeyPatch) -> None:
    lists = inputs._lists

    def growing(neighborhood: Any, values: tuple[Any, ...], size: int) -> Iterator[tuple[Any, Any]]:
        return ((one, other) for one, other in lists(neighborhood, values, size) if len(one) <= len(other))

    patch.setattr(inputs, "_lists", growing)


def _a_division_by_zero_is_zero(patch: pytest.MonkeyPatch) -> None:
    for symbol in ("/", "//", "%"):
        divided = meaning.FUNCTIONS[symbol]
        patch.setitem(meaning.FUNCTIONS, symbol, lambda one, other, by=divided: by(one, other) if other else 0)


def _places_go_round(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(meaning, "_place", lambda items, place: int(place) % len(items))


def _guards_are_negated(patch: pytest.MonkeyPatch) -> None:
    choice = python_expressions.ExpressionReader.choice

    def swapped(self: Any, node: Any, test: Any, body: Any, orelse: Any) -> Any:
        return choice(self, node, test, orelse, body)

    patch.setattr(python_expressions.ExpressionReader, "choice", swapped)


def _at_most_is_less(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(python_names.COMPARISONS, ast.LtE, "<")


def _rounds_go_on_after_continue(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pythonic._Loop, "staying", lambda _: TRUE)


def _loops_look_at_their_ends_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pythonic._Reader, "kept", lambda _, value, *__: value)


def _names_inside_brackets_are_those_outside(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(python_expressions, "substituted", lambda value, _: value)


def _rounding_is_towards_zero(patch: pytest.MonkeyPatch) -> None:
    def floor(left: Any, right: Any) -> Any:
        return int(Fraction(left) / Fraction(right)) if right else meaning._over(left, right)

    patch.setitem(meaning.FUNCTIONS, "//", floor)


def _draws_are_never_below_zero(patch: pytest.MonkeyPatch) -> None:
    drawn = tails.drawn

    def above(law: str, *known: Any) -> Any:
        found = drawn(law, *known)
        return [found[0], (found[1][0], 2 * found[1][1])] if law == "discrete_laplace" else found

    patch.setattr(following, "drawn", above)


def _the_rest_of_a_tail_is_dropped(patch: pytest.MonkeyPatch) -> None:
    parts = sets._parts

    def shorter(*known: Any) -> Any:
        found = list(parts(*known))
        return found[:-1] if len(found) > 1 else found

    patch.setattr(sets, "_parts", shorter)


def _tails_of_sums_start_late(patch: pytest.MonkeyPatch) -> None:
    rest = spreads.first_and_rest
    patch.setattr(sets, "first_and_rest", lambda falls: (rest(falls)[0], rest(rest(falls)[1])[1]))


def _limits_are_never_reached(patch: pytest.MonkeyPatch) -> None:
    peak = rays.peak

    def near(left: Any, right: Any, place: Any) -> Any:
        found = peak(left, right, place)
        return found if found.at is not None or found.ratio is None else rays.Peak(found.ratio / 2, None)

    patch.setattr(ratios, "peak", near)


def _remainders_are_as_likely(patch: pytest.MonkeyPatch) -> None:
    residues = tails.residues

    def alike(state: Any, one: Any, period: int) -> Any:
        return [(part, weights.weight(Fraction(1, period))) for part, _ in residues(state, one, period)]

    patch.setattr(following, "residues", alike)


def _loops_come_back_once(patch: pytest.MonkeyPatch) -> None:
    visits = chains.visits

    def once(entry: Any, steps: Any, spend: Any) -> Any:
        return {state: entry.get(state, mass * 0 + 1) for state, mass in visits(entry, steps, spend).items()}

    patch.setattr(following, "visits", once)


def _neighbours_have_one_direction(patch: pytest.MonkeyPatch) -> None:
    found = analysis.Analysis._found_pairs
    patch.setattr(analysis.Analysis, "_found_pairs", lambda self: [pair for pair in found(self) if pair[0] <= pair[1]])


def _assumptions_hold_for_one_side(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(following.Follower, "assume", lambda *_: lambda states, _: states)


def _impossible_outputs_do_not_count(patch: pytest.MonkeyPatch) -> None:
    every = ratios.ratios
    finite: Callable[..., Any] = lambda *known, **more: (one for one in every(*known, **more) if one.value is not None)  # noqa: E731
    patch.setattr(analysis, "ratios", finite)


def _witnesses_name_the_wrong_side(patch: pytest.MonkeyPatch) -> None:
    named = inputs.named
    patch.setattr(prover, "named", lambda private, sides: dict.fromkeys(named(private, sides), 0))


def _folded_lists_lose_what_they_held(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(meaning.FUNCTIONS, "total", lambda items: sum(items[1:]))


def _or_binds_tighter_than_and(patch: pytest.MonkeyPatch) -> None:
    levels = [dict(one) for one in whiles._LEVELS]
    levels[0], levels[1] = levels[1], levels[0]
    patch.setattr(whiles, "_LEVELS", tuple(levels))


def _else_belongs_to_nobody(patch: pytest.MonkeyPatch) -> None:
    branch = whiles._Reader.branch

    def without(self: Any, *known: Any) -> Any:
        return [replace(one, otherwise=one.then) for one in branch(self, *known) if isinstance(one, If)]

    patch.setattr(whiles._Reader, "branch", without)


PYTHON: list[Callable[[pytest.MonkeyPatch], None]] = [
    _steps_on_the_edge_are_too_long,
    _each_entry_is_one_entry,
    _entries_come_and_never_go,
    _guards_are_negated,
    _at_most_is_less,
    _loops_come_back_once,
    _neighbours_have_one_direction,
    _assumptions_hold_for_one_side,
    _impossible_outputs_do_not_count,
    _witnesses_name_the_wrong_side,
    _folded_lists_lose_what_they_held,
]
ODD = [
    _rounds_go_on_after_continue,
    _a_division_by_zero_is_zero,
    _places_go_round,
    _rounding_is_towards_zero,
    _loops_look_at_their_ends_again,
    _names_inside_brackets_are_those_outside,
]
NOISY = [_draws_are_never_below_zero, _the_rest_of_a_tail_is_dropped]
SUMMED = [_tails_of_sums_start_late, _limits_are_never_reached, _remainders_are_as_likely]
WHILE = [_or_binds_tighter_than_and, _else_belongs_to_nobody]
