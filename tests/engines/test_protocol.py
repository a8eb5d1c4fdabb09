"""What engines and those who ask them agree on."""

import numpy as np
import pytest

from privately.engines.protocol import Bins, ColumnReport, Limits, TableReport, failed
from privately.errors import InvalidParameter


def test_bins_are_a_mapping() -> None:
    bins = Bins(np.array([0, 5], dtype=np.int64), np.array([2, 3], dtype=np.int64))
    assert dict(bins) == {0: 2, 5: 3}
    assert len(bins) == 2
    assert bins.get(1) is None
    assert bins[5] == 3
    assert bins == {0: 2, 5: 3}
    assert repr(bins) == "Bins({0: 2, 5: 3})"
    assert all(type(one) is int for one in bins)
    every = Bins(None, np.array([2, 0, 0, 0, 0, 3], dtype=np.uint8))
    assert every == bins
    assert len(every) == 2


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"seconds": float("nan")}, {"memory": 1}, {"threads": 0}])
def test_limits_have_limits(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter):
        Limits(**wrong)


def test_notes() -> None:
    column = ColumnReport(name="x", null=2, unfit=1, clamped=3)
    report = TableReport(rows=2, counted=1, units=1, without_unit=1, columns=(column,))
    assert [note.split()[0] for note in report.notes()] == ["1", "x", "x", "x"]
    assert TableReport(rows=0, counted=0, units=0, without_unit=0, columns=()).notes() == ("the table is empty.",)


def test_failures_hold_no_data() -> None:
    assert str(failed()) == str(failed())
    assert "charge is kept" in str(failed())
