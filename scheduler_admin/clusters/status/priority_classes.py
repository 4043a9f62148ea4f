"""Priority classes as they are stored for pages: what they are, how many pods use them, which quotas go by them."""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

import msgspec

from engine.model.objects import Pod, PriorityClass
from engine.model.snapshot import ClusterState
from scheduler_admin.clusters.models import ClusterStatus

KEPT = timedelta(seconds=10)
"""After so long a pass has seen what was written from here, or others have changed it since."""
_PLACE = attrgetter("priority_class", "namespace", "queue")
_PLACES_KEPT = 50
"""The largest of each class."""


def classes(state: ClusterState) -> list[dict[str, Any]]:
    """Every class, the highest first."""
    return listed(state.classes.values())


def listed(found: Iterable[PriorityClass]) -> list[dict[str, Any]]:
    """Classes as they are stored, the highest first."""
    ordered = sorted(found, key=lambda one: (-one.value, one.name))
    return [storable(msgspec.to_builtins(one)) for one in ordered]


def unlisted(stored: Iterable[dict[str, Any]]) -> list[PriorityClass]:
    """The other way round."""
    return msgspec.convert(list(stored), list[PriorityClass])


def class_quotas(state: ClusterState) -> list[dict[str, Any]]:
    """The quotas that go by class, by namespace and name."""
    return [storable(msgspec.to_builtins(one)) for _, one in sorted(state.quotas.items()) if one.rules]


def class_use(pods: Collection[Pod]) -> dict[str, dict[str, Any]]:
    """Class, "" for none -> how many of its pods run and wait, and where: the places with the most, and how many more.

    ``pods`` are a snapshot's: none of them has finished. A place is a namespace and a queue, null for none.
    """
    counts = {
        "running": Counter(map(_PLACE, (pod for pod in pods if pod.node is not None))),
        "waiting": Counter(map(_PLACE, (pod for pod in pods if pod.node is None))),
    }
    places: dict[str, list[dict[str, Any]]] = {}
    for name, namespace, queue in counts["running"].keys() | counts["waiting"].keys():
        found = {state: count[name, namespace, queue] for state, count in counts.items()}
        places.setdefault(name, []).append({"namespace": namespace, "queue": queue, **found})
    return {name: _summed(found) for name, found in sorted(places.items())}


def _summed(places: list[dict[str, Any]]) -> dict[str, Any]:
    places.sort(key=lambda one: (-one["running"] - one["waiting"], one["namespace"], one["queue"] or ""))
    return {
        "running": sum(one["running"] for one in places),
        "waiting": sum(one["waiting"] for one in places),
        "places": places[:_PLACES_KEPT],
        "more": max(0, len(places) - _PLACES_KEPT),
    }


def keep_classes(*, status: ClusterStatus, read: list[dict[str, Any]], now: datetime) -> bool:
    """Store what a pass read, unless it has not seen yet what was written from here. Whether it changed anything."""
    until = status.classes_kept_until
    seen = read == status.classes
    held = until is not None and now < until
    if (seen and until is None) or (held and not seen):
        return False
    row = ClusterStatus.objects.filter(pk=status.pk, classes_kept_until=until)
    return row.update(classes=read, classes_kept_until=None) == 1 and not seen


def storable(value: Any) -> Any:
    """The same without NUL, which PostgreSQL does not take."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, dict):
        return {storable(key): storable(one) for key, one in value.items()}
    return [storable(one) for one in value] if isinstance(value, list) else value
