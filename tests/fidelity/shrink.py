"""Make a case smaller, as long as something still holds of it."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

Manifest = dict[str, Any]

KEPT = {
    "kind",
    "apiVersion",
    "name",
    "namespace",
    "uid",
    "containers",
    "resources",
    "priority",
    "schedulerName",
    "topologyKey",
}
KEPT |= {
    "maxSkew",
    "whenUnsatisfiable",
    "operator",
    "key",
    "status",
    "spec",
    "metadata",
    "phase",
    "allocatable",
    "nodeName",
}
"""Fields without which an object would be another, or none."""


def shrunk(case: Manifest, holds: Callable[[Manifest], bool]) -> Manifest:
    """The case without whole objects, then without fields, that ``holds`` can do without."""
    smaller = copy.deepcopy(case)
    for position in reversed(range(len(smaller["objects"]))):
        one = smaller["objects"].pop(position)
        if _is_asker(case, one) or not _safe(holds, smaller):
            smaller["objects"].insert(position, one)
    for one in smaller["objects"]:
        for container, key in list(_fields(one)):
            if key not in container:
                continue
            before = dict(container)
            del container[key]
            if not _safe(holds, smaller):
                container.clear()
                container.update(before)
    return smaller


def _is_asker(case: Manifest, one: Manifest) -> bool:
    return one["kind"] == "Pod" and f"{one['metadata']['namespace']}/{one['metadata']['name']}" == case["asker"]


def _safe(holds: Callable[[Manifest], bool], case: Manifest) -> bool:
    try:
        return holds(case)
    except Exception:  # noqa: BLE001 - a case that can't be decided shows nothing
        return False


def _fields(value: Any) -> Iterator[tuple[Manifest, str]]:
    """Every field of every mapping in it that may go, outermost first."""
    if isinstance(value, list):
        for item in value:
            yield from _fields(item)
    elif isinstance(value, dict):
        yield from ((value, key) for key in value if key not in KEPT)
        for item in list(value.values()):
            yield from _fields(item)
