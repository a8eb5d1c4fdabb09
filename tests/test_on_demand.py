import gc
import importlib
import sys
import types
from collections.abc import Iterator

import pytest

from privately.on_demand import on_demand


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    made = types.ModuleType("a_package")
    made.__path__ = []
    monkeypatch.setitem(sys.modules, "a_package", made)
    home = types.ModuleType("a_package.home")
    vars(home).update(one=1, two=2)
    monkeypatch.setitem(sys.modules, "a_package.home", home)
    return made


def test_a_name_is_found_in_its_home_and_then_kept(package: types.ModuleType) -> None:
    load = on_demand("a_package", home="one two")
    assert (load("one"), load("two")) == (1, 2)
    assert vars(package)["one"] == 1


def test_a_module_is_found_and_nothing_else_is(package: types.ModuleType) -> None:
    load = on_demand("a_package", home="one")
    assert load("home") is importlib.import_module("a_package.home")
    with pytest.raises(AttributeError, match="'a_package' has no attribute 'two'"):
        load("two")
    assert "two" not in vars(package)


@pytest.mark.parametrize("is_collecting", [True, False])
@pytest.mark.parametrize("home", ["home", "nowhere"])
def test_garbage_is_collected_after_loading_as_before(
    is_collecting: bool, home: str, package: types.ModuleType
) -> None:
    load = on_demand(package.__name__, **{home: "one"})
    before = gc.isenabled()
    try:
        (gc.enable if is_collecting else gc.disable)()
        if home == "nowhere":
            with pytest.raises(ModuleNotFoundError):
                load("one")
        else:
            load("one")
        assert gc.isenabled() == is_collecting
    finally:
        (gc.enable if before else gc.disable)()


@pytest.fixture
def thawed() -> Iterator[None]:
    is_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    yield
    if is_frozen:
        gc.freeze()


@pytest.mark.usefixtures("thawed")
def test_what_is_loaded_is_old_and_what_others_froze_stays_so(package: types.ModuleType) -> None:
    """Otherwise the next look for garbage goes through all modules, and the one after it again."""
    young: list[object] = []
    gc.disable()
    try:
        young.append([])
        assert any(one is young[0] for one in gc.get_objects(generation=0))
        gc.enable()
        on_demand("a_package", home="one")("one")
        gc.disable()
        assert any(one is young[0] for one in gc.get_objects(generation=2))
        assert gc.get_freeze_count() == 0
        gc.freeze()
        gc.enable()
        on_demand("a_package", home="two")("two")
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        gc.enable()
