"""Refusals say the line if there is one."""

import ast

from privately.proving.language.refusals import refusal


def test_lines() -> None:
    assert str(refusal(ast.parse("\nx").body[0], "no.", "Try y.")) == "line 2: no. Try y."
    assert str(refusal(None, "no.")) == "no."
