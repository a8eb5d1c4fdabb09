"""Build check.pyz: the certificate checker as one file that runs wherever Python does.

The same sources give the same bytes on every machine: entries are sorted, stored uncompressed (compressors
differ between versions) and carry a fixed date and mode.
"""

import hashlib
import io
import sys
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "privately" / "certificates" / "checker"
SHEBANG = b"#!/usr/bin/env python3\n"
START = "import sys\n\nfrom checker.__main__ import main\n\nsys.exit(main())\n"
EARLIEST = (1980, 1, 1, 0, 0, 0)


def archive(source: Path) -> bytes:
    """The bytes of the archive made from the checker's package."""
    contents = {"__main__.py": START.encode()}
    for path in source.rglob("*.py"):
        contents[f"checker/{path.relative_to(source).as_posix()}"] = path.read_bytes()
    buffer = io.BytesIO()
    buffer.write(SHEBANG)
    with zipfile.ZipFile(buffer, "a", compression=zipfile.ZIP_STORED) as bundle:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, date_time=EARLIEST)
            entry.create_system = 3  # Unix, wherever it is built
            entry.external_attr = 0o644 << 16
            bundle.writestr(entry, contents[name])
    return buffer.getvalue()


def main(target: Path) -> None:
    built = archive(SOURCE)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(built)
    target.chmod(0o755)
    print(f"{hashlib.sha256(built).hexdigest()}  {target}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist/check.pyz"))
