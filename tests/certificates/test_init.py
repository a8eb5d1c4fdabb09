"""Checking a certificate loads nothing of what derived it."""

import subprocess
import sys
from pathlib import Path

import pytest

import privately.certificates
from privately.certificates import certify
from tests.certificates.examples import from_tables


def test_every_public_name_is_there() -> None:
    for name in privately.certificates.__all__:
        assert getattr(privately.certificates, name)
    with pytest.raises(AttributeError, match="forge"):
        getattr(privately.certificates, "forge")  # noqa: B009 - mypy would refuse the plain form


def test_checking_does_not_load_the_deriver(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    certify(from_tables()["optimal"]).save(path)
    program = f"""
import sys, privately
privately.check({str(path)!r})
assert not [name for name in sys.modules if name.startswith(("privately.guarantees", "privately.rounding", "decimal"))]
"""
    subprocess.run([sys.executable, "-c", program], check=True)
