"""From a text to a tree, of which every node and every part of a node is on the list of what is understood.

The text is read as DuckDB would. Whatever it is, the end is a tree or `NotSupported`, soon: its length, its words and
its nesting are limited before the parser sees it.
"""

from __future__ import annotations

from itertools import pairwise

from sqlglot import Dialect, exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from privately.errors import InvalidParameter, NotSupported
from privately.query.grammar import check
from privately.query.spans import Source

LONGEST_TEXT = 200_000
MOST_WORDS = 20_000
DEEPEST = 30
"""How many brackets, CASEs and NOTs may be open at once."""

_DIALECT = "duckdb"
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
_QUERIES = {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN}
_ONLY_QUESTIONS = "Write one SELECT ... FROM ... with aggregates, such as SELECT COUNT(*) AS n FROM visits."


def parse(text: str) -> tuple[exp.Select, Source]:
    """The tree of a question, checked against the list of what is understood."""
    source = Source(text=_readable(text))
    words = _words(source)
    brackets = [
        (word.start, 1 if word.token_type is TokenType.L_PAREN else -1)
        for word in words
        if word.token_type in (TokenType.L_PAREN, TokenType.R_PAREN)
    ]
    source = Source(text=source.text, brackets=brackets)
    _check_depth(words)
    tree = _tree(source, words)
    check(tree, source)
    return _select(tree, source), source


def statements(text: str) -> tuple[str, ...]:
    """The questions of a text in which a semicolon stands behind each, or between them.

    >>> statements("SELECT COUNT(*) FROM a; SELECT ';' AS b FROM a;")
    ('SELECT COUNT(*) FROM a', "SELECT ';' AS b FROM a")
    """
    source = Source(text=_readable(text))
    try:
        words = Dialect.get_or_raise(_DIALECT).tokenize(source.text)
    except Exception as error:  # noqa: BLE001 - whatever a tokenizer stumbles over is no question
        raise _unreadable(source, error) from None
    found: list[list[Token]] = [[]]
    for word in words:
        if word.token_type is TokenType.SEMICOLON:
            found.append([])
        else:
            found[-1].append(word)
    return tuple(source.text[one[0].start : one[-1].end + 1] for one in found if one) or (source.text,)


def _readable(text: str) -> str:
    if not isinstance(text, str):
        raise InvalidParameter("sql", "must be a text.")
    if len(text) > LONGEST_TEXT:
        hint = f"Write at most {LONGEST_TEXT:,} characters; long lists can be given as keys."
        raise NotSupported(f"a question of {len(text):,} characters.", hint=hint, span=(0, len(text)))
    odd = next((at for at, one in enumerate(text) if one == "\0" or "\ud800" <= one <= "\udfff"), None)
    if odd is not None:
        raise NotSupported("a character that is none.", hint="Take it out.", span=(odd, odd + 1))
    return text


def _words(source: Source) -> list[Token]:
    try:
        words = Dialect.get_or_raise(_DIALECT).tokenize(source.text)
    except Exception as error:  # noqa: BLE001 - whatever a tokenizer stumbles over is no question
        raise _unreadable(source, error) from None
    if len(words) > MOST_WORDS:
        hint = f"Write at most {MOST_WORDS:,}; long lists can be given as keys."
        raise NotSupported(f"a question of {len(words):,} words and signs.", hint=hint, span=(0, len(source.text)))
    if not words or words[0].token_type not in _QUERIES:
        span = (words[0].start, words[0].end + 1) if words else (0, len(source.text))
        raise NotSupported("this is no question.", hint=_ONLY_QUESTIONS, span=span)
    while words and words[-1].token_type is TokenType.SEMICOLON:
        words.pop()
    for before, word in pairwise(words):
        span = (before.start, word.end + 1)
        if TokenType.SEMICOLON in (before.token_type, word.token_type):
            raise NotSupported("more than one statement.", hint="Ask one at a time.", span=span)
        if before.token_type is TokenType.COMMA and word.token_type in (TokenType.COMMA, TokenType.R_PAREN):
            raise NotSupported("nothing after a comma.", hint="Take it out.", span=span)
    if words[-1].token_type is TokenType.COMMA:
        raise NotSupported("nothing after a comma.", hint="Take it out.", span=(words[-1].start, words[-1].end + 1))
    return words


def _check_depth(words: list[Token]) -> None:
    depth = row = 0
    for word in words:
        row = row + 1 if word.token_type in _PREFIXES else 0
        depth += (word.token_type in _OPENING) - (word.token_type in _CLOSING)
        if max(depth, row) > DEEPEST:
            hint = f"Nest at most {DEEPEST} brackets; name parts of it in a WITH clause."
            raise NotSupported("this is nested too deeply.", hint=hint, span=(word.start, word.end + 1))


def _tree(source: Source, words: list[Token]) -> exp.Expr:
    try:
        parser = Dialect.get_or_raise(_DIALECT).parser(error_level=ErrorLevel.IMMEDIATE)
        (tree,) = parser.parse(words, source.text)
    except RecursionError:
        raise NotSupported("this is nested too deeply.", hint="Name parts of it in a WITH clause.") from None
    except Exception as error:  # noqa: BLE001 - whatever a parser stumbles over is no question
        raise _unreadable(source, error) from None
    if tree is None:
        raise NotSupported("there is no question.", hint=_ONLY_QUESTIONS, span=(0, len(source.text)))
    return tree


def _unreadable(source: Source, error: Exception) -> NotSupported:
    """What the parser says of a place in the text; of anything else it says, nothing."""
    found = getattr(error, "errors", None) or [{}]
    line, column = (found[0].get(name) for name in ("line", "col"))
    span = (0, len(source.text))
    if isinstance(error, SqlglotError) and isinstance(line, int) and isinstance(column, int):
        before = sum(len(one) for one in source.text.splitlines(keepends=True)[: line - 1])
        end = min(len(source.text), before + column)
        span = (max(0, end - len(found[0].get("highlight") or " ")), end)
    near = source.text[slice(*span)]
    where = f" near {near!r}" if 0 < len(near) <= 40 else ""
    return NotSupported(f"this cannot be read as SQL{where}.", hint=_ONLY_QUESTIONS, span=span)


def _select(tree: exp.Expr, source: Source) -> exp.Select:
    while isinstance(tree, exp.Subquery) and not any(value for name, value in tree.args.items() if name != "this"):
        tree = tree.this
    if not isinstance(tree, exp.Select):
        raise NotSupported("this is no question.", hint=_ONLY_QUESTIONS, span=source.span(tree))
    return tree
