"""Evaluates the printer columns of a CustomResourceDefinition."""

from __future__ import annotations

import re
from typing import Any

_STEP = re.compile(
    r"""
    \.(?P<field>(?:\\.|[^.\[\\])+)
    | \[(?P<index>\d+)\]
    | \[\?\(@\.(?P<key>\w+)\s*==\s*["'](?P<value>[^"']*)["']\)\]
    """,
    re.VERBOSE,
)


def look_up(obj: Any, path: str) -> Any:
    """Return what a simple JSONPath such as `.status.conditions[?(@.type=="Ready")].status` finds, None if nothing."""
    found = obj
    for step in _STEP.finditer(path):
        if step["field"] is not None:
            field = step["field"].replace("\\", "")
            found = found.get(field) if isinstance(found, dict) else None
        elif not isinstance(found, list):
            return None
        elif step["index"] is not None:
            found = found[int(step["index"])] if int(step["index"]) < len(found) else None
        else:
            same = (item for item in found if isinstance(item, dict) and item.get(step["key"]) == step["value"])
            found = next(same, None)
    return found
