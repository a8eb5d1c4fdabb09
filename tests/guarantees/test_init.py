"""The package explains its symbols, and its statements find the rules however it is entered."""

import subprocess
import sys

import pytest

import privately.guarantees


@pytest.mark.parametrize("symbol", ["P, Q", "epsilon", "delta", "rho", "mu", "Phi"])
def test_the_legend_names_the_symbols(symbol: str) -> None:
    assert f"\n{symbol} " in (privately.guarantees.__doc__ or "")


@pytest.mark.parametrize("module", ["privately.guarantees.kinds", "privately.guarantees.rules", "privately"])
def test_statements_find_the_rules(module: str) -> None:
    program = f"import {module}; import privately as pv; assert pv.PureDP(epsilon=1).repeat(2) == pv.PureDP(epsilon=2)"
    subprocess.run([sys.executable, "-c", program], check=True)
