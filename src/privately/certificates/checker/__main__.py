"""The command: `python check.pyz FILE`. It ends with 0 for a valid certificate and with 2 for anything else."""

import argparse
import json
import os
import sys
from collections.abc import Sequence

from .report import Report
from .schema import Invalid
from .verify import check_file


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="check.pyz",
        description="Check a privacy certificate: derive its claim again, without the data.",
        epilog="example: python check.pyz release.json",
    )
    parser.add_argument("file", metavar="FILE", help="the certificate, a JSON file")
    parser.add_argument(
        "--allow-assumptions", action="store_true", help="accept a certificate that rests on assumptions, and list them"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser


def _success(report: Report, *, as_json: bool) -> str:
    return json.dumps(report.plain(), indent=2) if as_json else report.text()


def _failure(error: Invalid, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"valid": False, "field": error.field, "reason": error.reason}, indent=2)
    return f"not valid: {error}"


def _say(text: str, *, failed: bool, as_json: bool) -> None:
    stream = sys.stderr if failed and not as_json else sys.stdout
    if stream is None:  # closed before we started
        raise BrokenPipeError
    stream.write(text + "\n")
    stream.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(argv)
    try:
        report = check_file(options.file, allow_assumptions=options.allow_assumptions)
        text, failed = _success(report, as_json=options.json), False
    except Invalid as error:
        text, failed = _failure(error, as_json=options.json), True
    except KeyboardInterrupt:
        text, failed = "stopped", True
    try:
        _say(text, failed=failed, as_json=options.json)
    except OSError:
        # Whoever read the answer has gone; without this, Python would complain again when it closes the stream.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
