"""Derivations: proofs that a mechanism satisfies a guarantee, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from privately.errors import Unproved
from privately.guarantees.guarantee import Guarantee


class Derivation:
    """That `conclusion` follows from the conclusions of `premises` by `rule`.

    Only the rules make Derivations; calling the class raises Unproved. This guards against mistakes, not against
    malice, which nothing in Python can stop: whoever doubts a derivation checks its certificate.
    """

    __slots__ = ("conclusion", "parameters", "premises", "rule", "witness")
    rule: str
    premises: tuple[Derivation, ...]
    parameters: Mapping[str, Any]
    witness: Mapping[str, Any]
    conclusion: Guarantee

    def __init__(self, *_: object, **__: object) -> None:
        raise Unproved("a Derivation is made only by a rule.", hint="Use the functions of privately.guarantees.rules.")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Derivation cannot be subclassed")

    def nodes(self) -> list[Derivation]:
        """Every derivation it rests on, premises before conclusions, itself last, each once."""
        done: dict[int, Derivation] = {}
        stack: list[tuple[Derivation, Iterator[Derivation]]] = [(self, iter(self.premises))]
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
        raise AttributeError("a Derivation cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a Derivation cannot be changed")

    def __copy__(self) -> Derivation:
        return self

    def __deepcopy__(self, memo: object) -> Derivation:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Derivation cannot be pickled; save its certificate instead")

    def __repr__(self) -> str:
        return f"Derivation({self.conclusion!r} by {self.rule})"
