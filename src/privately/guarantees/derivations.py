"""Proofs as data: Derivations, that a mechanism satisfies a guarantee, and what they may rest on, Stabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from privately.errors import Unproved
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.stability import Statement


class Proof:
    """That `conclusion` follows from the conclusions of `premises` by `rule`.

    Only the rules make them; calling a class of them raises Unproved. This guards against mistakes, not against
    malice, which nothing in Python can stop: whoever doubts a derivation checks its certificate.
    """

    __slots__ = ("conclusion", "parameters", "premises", "rule", "witness")
    rule: str
    premises: tuple[Proof, ...]
    parameters: Mapping[str, Any]
    witness: Mapping[str, Any]
    conclusion: Guarantee | Statement

    def __init__(self, *_: object, **__: object) -> None:
        name = type(self).__name__
        raise Unproved(f"a {name} is made only by a rule.", hint="Use the functions of privately.guarantees.rules.")

    def __init_subclass__(cls) -> None:
        if cls.__module__ != __name__:
            raise TypeError(f"{cls.__mro__[1].__name__} cannot be subclassed")

    def nodes(self) -> list[Proof]:
        """Every proof it rests on, premises before conclusions, itself last, each once."""
        done: dict[int, Proof] = {}
        stack: list[tuple[Proof, Iterator[Proof]]] = [(self, iter(self.premises))]
        while stack:
            current, waiting = stack[-1]
            following = next((premise for premise in waiting if id(premise) not in done), None)
            if following is None:
                done[id(current)] = current
                stack.pop()
            else:
                stack.append((following, iter(following.premises)))
        return list(done.values())

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The statements it takes for granted; empty for a complete proof."""
        found = (node.parameters["statement"] for node in self.nodes() if node.rule == "assumption")
        return tuple(dict.fromkeys(found))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __copy__(self) -> Proof:
        return self

    def __deepcopy__(self, memo: object) -> Proof:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be pickled; save its certificate instead")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.conclusion!r} by {self.rule})"


class Derivation(Proof):
    """A proof that a mechanism satisfies a Guarantee."""

    __slots__ = ()
    conclusion: Guarantee


class Stability(Proof):
    """A proof of how far one unit can move something that is computed of a table, such as a Sensitivity."""

    __slots__ = ()
    conclusion: Statement
