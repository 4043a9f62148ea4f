"""Creates the objects that every cluster has from the beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.storage.priority_admission import KEY, SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.objects import Object

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
PRIORITY_CLASSES = {
    "system-cluster-critical": (
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    ),
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
}
"""Name of a priority class -> its description."""


def bootstrap(create: Callable[[str, Object], Object]) -> None:
    """Create the namespaces and priority classes that the API server itself creates."""
    for name in NAMESPACES:
        create("namespaces", {"metadata": {"name": name}})
    for name, description in PRIORITY_CLASSES.items():
        create(KEY, {"metadata": {"name": name}, "value": SYSTEM[name], "description": description})
