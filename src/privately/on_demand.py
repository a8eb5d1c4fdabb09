"""Names of a package that are loaded when they are first asked for: whoever needs one waits for no other."""

import sys

# Type checkers know this name; importing it from `typing` would cost more than all the rest.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable


def on_demand(package: str, **homes: str) -> "Callable[[str], object]":
    """The `__getattr__` of a package: it finds its modules, and in each the names, set apart by spaces, told of it."""
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def load(name: str) -> object:
        import gc
        from importlib import import_module

        if name in homes:
            return import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Modules and classes are no garbage; looking for some among them takes a fifth of the time to load them, and
        # as long again afterwards unless they are put with what is old, which freezing and unfreezing does.
        is_collecting = gc.isenabled()
        gc.disable()
        try:
            value: object = getattr(import_module(f"{package}.{home_of[name]}"), name)
        finally:
            if is_collecting:
                if not gc.get_freeze_count():
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()
        setattr(sys.modules[package], name, value)
        return value

    return load
