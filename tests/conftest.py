"""Hypothesis profiles and the option that runs a slice of the slow suite."""

import gc
import os
from collections import Counter

import pytest
from hypothesis import settings

collect_ignore_glob = ["corpus/*"]  # programs, not tests

# The fast suite is the same on every run; new examples are the business of the slow one.
settings.register_profile("fast", deadline=None, derandomize=True, print_blob=True, max_examples=60)
settings.register_profile("thorough", settings.get_profile("fast"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


def parse_slice(text: str) -> tuple[int, int]:
    """Read "2/4", the second of four slices."""
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise pytest.UsageError(f"--slow-slice takes K/N with 1 <= K <= N, not {text!r}")
    return int(index), int(count)


def thin(items: list[pytest.Item]) -> None:
    """Of the cases of thinned tests, all but each n-th are slow."""
    seen: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("thinned")
        if marker is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % marker.args[0]:
                item.add_marker(pytest.mark.slow)
            seen[test] += 1


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow-slice", metavar="K/N", help="run only slice K of N of the slow tests")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deal the slow tests out like cards, by name, so that the N slices are even and cover all of them."""
    thin(items)
    text = config.getoption("--slow-slice")
    if text is None:
        return
    index, count = parse_slice(text)
    slow = sorted(item.nodeid for item in items if item.get_closest_marker("slow"))
    chosen = set(slow[index - 1 :: count])
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
    items[:] = [item for item in items if item.nodeid in chosen]


def pytest_collection_finish() -> None:
    """What was collected stays to the end: looking through it for garbage takes half a second each time."""
    gc.freeze()
