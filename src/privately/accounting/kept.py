"""What is computed once and kept, as by functools.cached_property, without its lock: that takes longer than a sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """An attribute that is computed when it is first asked for; two threads that ask at once may both compute it.

    >>> class Sum:
    ...     @Kept
    ...     def value(self) -> int:
    ...         print("computed")
    ...         return 1 + 1
    >>> one = Sum()
    >>> one.value, one.value
    computed
    (2, 2)
    """

    def __init__(self, func: Callable[[Any], Value]) -> None:
        self.func, self.name, self.__doc__ = func, func.__name__, func.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Value:
        if instance is None:
            return self  # type: ignore[return-value]  # asked of the class itself, by tools alone
        value = self.func(instance)
        instance.__dict__[self.name] = value
        return value
