"""A program of a certificate as people read it, and its hash, by which it is told from others."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from typing import Any

from .reading import Private, Program

LINES = 200
LONGEST = 160
_SIGNS = str.maketrans("_#:", "aaa")
"""What names have beside letters and digits."""


def program_lines(program: Program, private: list[Private], public: dict[int, Any]) -> list[str]:
    """Its hash, its inputs, and what it does. All texts are ASCII without control characters."""
    found = [f"program sha256:{sha256(program.document).hexdigest()}"]
    found += [f"private {_name(program, one.variable)}: {_declared(one)}" for one in private]
    found += [f"public {_name(program, variable)} = {_value(value)}" for variable, value in public.items()]
    body = list(islice(_block(program, len(program.blocks) - 1, _texts(program)), LINES + 1))
    found += [f"  {line}" for line in body[:LINES]] + (["  ..."] if len(body) > LINES else [])
    return [line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..." for line in found]


def _declared(private: Private) -> str:
    distance = "" if private.distance is None else f" {private.distance!r}"
    values = ", ".join(map(repr, private.values[:12])) + (", ..." if len(private.values) > 12 else "")
    lengths = "" if private.lengths is None else f", lists of {', '.join(map(str, private.lengths[:12]))} entries"
    return f"{private.change}{distance}, values {values}{lengths}"


def _name(program: Program, variable: int) -> str:
    """In quotes where it could be taken for more than a name."""
    name = program.variables[variable]
    plain = name.isascii() and name.translate(_SIGNS).isalnum() and not name[0].isdigit()
    return name if plain else ascii(name)


def _value(value: Any) -> str:
    return f"[{', '.join(map(_value, value))}]" if isinstance(value, tuple) else repr(value)


def _block(program: Program, index: int, texts: list[str]) -> Iterator[str]:
    """Line by line; what is forgotten is left out."""
    for statement in program.blocks[index]:
        match statement:
            case ["assign", place, value]:
                yield f"{_name(program, place)} := {texts[value]}"
            case ["draw", place, law, given]:
                yield f"{_name(program, place)} := draw {law}({texts[given]})"
            case ["if", condition, then, otherwise]:
                yield f"if {texts[condition]}"
                yield from (f"  {line}" for line in _block(program, then, texts))
                if program.blocks[otherwise]:
                    yield "else"
                    yield from (f"  {line}" for line in _block(program, otherwise, texts))
            case ["while", condition, body]:
                yield f"while {texts[condition]}"
                yield from (f"  {line}" for line in _block(program, body, texts))
            case ["return" | "assume" as word, value]:
                yield f"{word} {texts[value]}"


def _texts(program: Program) -> list[str]:
    """All expressions, cut where they are long, so that nothing grows."""
    found: list[str] = []
    for expression in program.expressions:
        text = _text(program, expression, found)
        found.append(text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}...")
    return found


def _text(program: Program, expression: list[Any], known: list[str]) -> str:
    match expression:
        case ["number", value]:
            return repr(value)
        case ["variable", place]:
            return _name(program, place)
        case ["each", element, place, source, condition]:
            return f"[{known[element]} for {_name(program, place)} of {known[source]} if {known[condition]}]"
        case ["list", *operands]:
            return f"[{', '.join(known[one] for one in operands)}]"
        case [kind, one, other] if not kind.isalpha() or kind in {"and", "or", "in", "xor"}:
            return f"({known[one]} {kind} {known[other]})"
        case [kind, *operands]:
            return f"{kind}({', '.join(known[one] for one in operands)})"
    return "?"
