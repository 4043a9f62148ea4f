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
    value = obj
    for step in _STEP.finditer(path):
        if step["field"] is not None:
            field = step["field"].replace("\\", "")
            value = value.get(field) if isinstance(value, dict) else None
        elif not isinstance(value, list):
            return None
        elif step["index"] is not None:
            value = value[int(step["index"])] if int(step["index"]) < len(value) else None
        else:
            matching = (item for item in value if isinstance(item, dict) and item.get(step["key"]) == step["value"])
            value = next(matching, None)
    return value
