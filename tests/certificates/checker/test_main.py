import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from privately.certificates.checker.__main__ import main
from tests.certificates.checker.building import assume, node, plain_certificate, seal, statement

RESPONSE = {
    "records": ["yes", "no"],
    "sizes": [1],
    "table": [
        {"input": ["yes"], "law": [["yes", "3/4"], ["no", "1/4"]]},
        {"input": ["no"], "law": [["yes", "1/4"], ["no", "3/4"]]},
    ],
}
CLAIM = statement("PureDP", {"change": "replace", "size": 1, "unit": None, "max_rows": None}, epsilon="1.0987")


@pytest.fixture
def valid(tmp_path: Path) -> Path:
    path = tmp_path / "valid.json"
    path.write_bytes(seal(plain_certificate(node("finite_table", [], CLAIM, RESPONSE))))
    return path


@pytest.fixture
def assumed(tmp_path: Path) -> Path:
    path = tmp_path / "assumed.json"
    path.write_bytes(seal(plain_certificate(assume(CLAIM))))
    return path


def test_valid(valid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(valid)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("valid: 1.0987-DP, replacing one row\nsteps: 1\nrules: finite_table\nassumptions: none\n")
    assert "trusted, not proved:" in out
    assert "hash: sha256:" in out
    assert not err


def test_json(valid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", str(valid)]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["valid"] is True
    assert plain["claim"] == CLAIM
    assert main(["--json", str(valid.with_name("missing"))]) == 2
    plain = json.loads(capsys.readouterr().out)
    assert plain == {"valid": False, "field": "file", "reason": "cannot be read: No such file or directory"}


def test_assumptions(assumed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(assumed)]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "not valid: nodes[0].rule: is an assumption, and assumptions are not allowed here\n")
    assert main([str(assumed), "--allow-assumptions"]) == 0
    assert "takes for granted 1.0987-DP" in capsys.readouterr().out


def test_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(os.urandom(5000))
    deep = tmp_path / "deep"
    deep.write_text("[" * 100_000)
    for path in (tmp_path, tmp_path / "missing", binary, deep, Path(os.devnull)):
        assert main([str(path)]) == 2
        out, err = capsys.readouterr()
        assert not out
        assert err.startswith("not valid: file: ")
        assert len(err.splitlines()) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root can read everything")
def test_unreadable_file(valid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    valid.chmod(0)
    assert main([str(valid)]) == 2
    assert "Permission denied" in capsys.readouterr().err


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["a", "b"], ["--what"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def run(*arguments: str, **options: int) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "privately.certificates.checker", *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_as_a_process(valid: Path) -> None:
    assert run(str(valid), stdout=subprocess.DEVNULL).returncode == 0
    done = run(str(valid.parent), stdout=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (2, b"not valid: file: is not a regular file\n")


def test_a_reader_that_has_gone_is_no_traceback(valid: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run(str(valid), stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (2, b"")


def test_interruption_is_no_traceback(
    valid: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("privately.certificates.checker.__main__.check_file", interrupted)
    assert main([str(valid)]) == 2
    assert capsys.readouterr().err == "stopped\n"
