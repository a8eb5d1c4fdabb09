"""Records as they are usually written, recognised at a glance; whatever is not is for others to look at with care.

What these functions accept is exactly what `privately.ledger.entries` reads to the same members: no text that could be
read in another way, and no time that is none.
"""

from __future__ import annotations

import re

from privately.ledger.entries import question_of

_TEXT, _MAYBE = rb'"([^"]*)"', rb'(?:null|"([^"]*)")'
_PLAIN = bytes(range(32, 127)).replace(b"\\", b"")  # what JSON writes as it is, and the quotation marks around it

usual_charge = re.compile(
    rb'\{"analyst":%b,"before":(?:null|(0|[1-9][0-9]{0,17})),"body":%b,"key":%b,"label":%b,'
    rb'"own":(true|false|null),"snapshot":%b,"time":"(.{27})","token":%b\}' % (*[_TEXT] * 5, _MAYBE)
).fullmatch
"""What `ChargeLine` holds, as bytes: if the time is one, and this second line plain."""

usual_time = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z").fullmatch


def usual_question(body: bytes, snapshot: bytes, analyst: bytes, own: bytes) -> bytes | None:
    """The question of a charge with these members."""
    if own == b"false" and not snapshot:
        return body
    texts = (part.decode("ascii") for part in (body, snapshot, analyst))
    found = question_of(*texts, own={b"true": True, b"false": False}.get(own))
    return None if found is None else found.encode("ascii")


def is_plain(text: bytes) -> bool:
    """Whether JSON has no other spelling for the texts in it, which then end at their quotation marks."""
    return not text.translate(None, _PLAIN)


def release_text(charge: int, hashed: bytes, question: bytes | None, size: int, time: bytes) -> bytes:
    """The text of an answer, from plain members."""
    asked = b"null" if question is None else b'"%b"' % question
    return b'{"what":"released"}\n{"charge":%d,"hash":"%b","question":%b,"size":%d,"time":"%b"}' % (
        charge,
        hashed,
        asked,
        size,
        time,
    )
