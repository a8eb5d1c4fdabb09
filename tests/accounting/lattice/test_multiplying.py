"""Products over all nodes against the numbers they are made of; their errors are tested where sums are."""

from __future__ import annotations

import numpy as np
import pytest

from privately.accounting.lattice.frame import Frame
from privately.accounting.lattice.multiplying import Factor, Part, Product, power, power_above
from privately.accounting.lattice.pieces import Piece
from privately.accounting.roads import NotApplicable

FRAME = Frame(0.25, 64, 1.0)
NODES = FRAME.count // 2 + 1
EMPTY = np.zeros(0), np.zeros(0)


def piece(size: float) -> Piece:
    values = size * np.exp(-0.1j * np.arange(NODES))
    return Piece(values, np.zeros(NODES), np.full(NODES, size), 0.0, EMPTY, EMPTY)


def test_powers() -> None:
    assert power(np.array([2.0 + 0j]), 10)[0] == 1024
    assert power(np.array([2.0 + 0j]), 0)[0] == 1
    assert power_above(np.array([0.5]), 3)[0] >= 0.125


def test_atoms_and_all_are_multiplied_apart() -> None:
    """Up to the first density both are the same."""
    product = Product(NODES)
    product.take(Part(3, piece(1.0), None), 1.0)
    assert product.is_on_lattice
    product.take(Part(2, piece(0.7), piece(0.3)), 1.0)
    turned = piece(1.0).values
    assert product.alone == pytest.approx(turned**5 * 0.49)
    assert product.whole == pytest.approx(turned**5)
    product.take(Part(1, None, piece(1.0)), 1.0)
    assert not product.has_base
    assert product.closed(slice(0, NODES)) == pytest.approx(np.zeros(NODES), abs=1e-13)
    assert product.whole == pytest.approx(turned**6)


def test_what_has_no_mass_is_refused() -> None:
    with pytest.raises(NotApplicable):
        Factor.of(Part(1, piece(0.0), None), FRAME, 2.0)
    with pytest.raises(NotApplicable):
        Product(NODES).take(Part(100, piece(1.1), None), 1.0)
