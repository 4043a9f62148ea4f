"""What pages show of a decision, in the words for a group of pods if it is about one."""

import dataclasses
from typing import Any, TypeVar

from engine.explain import Message, for_group
from scheduler_admin.decisions.models import Decision

Shown = TypeVar("Shown")


def worded(shown: Shown, row: Decision) -> Shown:
    """Return what a page shows of a decision: of one about a group, with every message in it as for a group."""
    found: Shown = _for_group(shown) if row.ask_group else shown
    return found


def _for_group(shown: Any) -> Any:
    if isinstance(shown, Message):
        return for_group(shown)
    if isinstance(shown, list | tuple) and type(shown) in (list, tuple):
        return type(shown)(map(_for_group, shown))
    if dataclasses.is_dataclass(shown) and not isinstance(shown, type):
        fields = (field.name for field in dataclasses.fields(shown) if field.init)
        return dataclasses.replace(shown, **{name: _for_group(getattr(shown, name)) for name in fields})
    return shown
