"""A ledger that is mounted as a single file has another log at each place, and is refused."""

from pathlib import Path

import pytest

from privately.errors import LedgerUnavailable
from privately.ledger.stores.mounts import check_mounts

LINE = "36 35 98:0 /v {place} rw,noatime master:1 - ext3 /dev/root rw"


@pytest.mark.parametrize(("place", "path"), [("/data/a.ledger", "/data/a.ledger"), ("/my\\040data/a", "/my data/a")])
def test_a_file_that_is_mounted(place: str, path: str, tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"{LINE.format(place='/')}\n{LINE.format(place=place)}\nshort line\n")
    with pytest.raises(LedgerUnavailable, match="mounted as a single file"):
        check_mounts(Path(path), mounts)
    check_mounts(Path(path).parent / "another", mounts)


def test_where_nothing_is_told(tmp_path: Path) -> None:
    check_mounts(tmp_path, tmp_path / "missing")
    check_mounts(tmp_path / "ledger")
