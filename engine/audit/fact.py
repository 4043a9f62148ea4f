"""An attribute that is calculated when it is first asked for."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class fact(Generic[Value]):  # noqa: N801 - used as a decorator, as property is
    """A cached property that takes no lock.

    Before Python 3.12, functools.cached_property takes one, which costs more than most facts about a decision.
    """

    def __init__(self, calculate: Callable[[Any], Value]) -> None:
        self._calculate, self._name = calculate, calculate.__name__
        self.__doc__ = calculate.__doc__

    @overload
    def __get__(self, case: None, owner: type) -> "fact[Value]": ...
    @overload
    def __get__(self, case: object, owner: type) -> Value: ...
    def __get__(self, case: object | None, owner: type) -> "fact[Value] | Value":
        if case is None:
            return self
        value = case.__dict__[self._name] = self._calculate(case)
        return value
