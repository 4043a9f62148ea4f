"""Nodes with their pods, as the passes of a large cluster have stored them."""

import random
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

import msgspec

from engine.model.snapshot.node_listing import ListedNode, ListedPod, PodPhase

if TYPE_CHECKING:
    from scheduler_admin.clusters.models import Cluster
    from scheduler_admin.nodes.models import NodePods

PODS = 30
"""Of each node."""
_APPLICATIONS, _NAMESPACES = 60_000, 3_000
_AT_ONCE = 5_000
_numbers = count(1)


def fill_pods(cluster: "Cluster", pods: int, tell: Callable[[str], None]) -> None:
    """Store nodes with so many pods together."""
    from django.db import connection, transaction  # noqa: PLC0415 - once Django is set up

    from scheduler_admin.nodes import services  # noqa: PLC0415

    choice, nodes = random.Random(1), pods // PODS
    for first in range(0, nodes, _AT_ONCE):
        rows = [_row(cluster, number, choice) for number in range(first, min(nodes, first + _AT_ONCE))]
        with transaction.atomic():
            services.write(cluster, rows, ())
        tell(f"Stored {min(nodes, first + _AT_ONCE)} of {nodes} nodes")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE history_podplace, history_nodepods")


def change_pods(cluster: "Cluster", many: int) -> None:
    """Store that so many nodes have a new pod in the place of another one, as a pass does."""
    from django.db import transaction  # noqa: PLC0415 - once Django is set up

    from scheduler_admin.nodes import services  # noqa: PLC0415
    from scheduler_admin.nodes.models import NodePods  # noqa: PLC0415

    choice = random.Random(next(_numbers))
    rows = []
    for row in NodePods.objects.filter(cluster=cluster).order_by("pk")[:many]:
        [_gone, *left] = services.pods_in(bytes(row.pods))
        row.pods = msgspec.msgpack.encode(sorted([*left, _pod(row.name, choice)], key=lambda one: one.name))
        row.digest = f"2-{next(_numbers)}"
        rows.append(row)
    with transaction.atomic():
        services.write(cluster, rows, ())


def _row(cluster: "Cluster", number: int, choice: random.Random) -> "NodePods":
    from scheduler_admin.nodes.models import NodePods  # noqa: PLC0415 - once Django is set up

    name = f"ip-10-{number // 250}-{number % 250}-17.eu-central-1.compute.internal"
    node = ListedNode(
        name=name,
        there=True,
        ready=True,
        unschedulable=False,
        unread=False,
        taints=(),
        allocatable={"cpu": 32_000, "memory": 2**37, "pods": 110},
        used={"cpu": 30_000, "memory": 30 * 2**30, "pods": PODS},
        pods=PODS,
        leaving=0,
        unknown=0,
    )
    pods = sorted((_pod(name, choice) for _ in range(PODS)), key=lambda one: (one.namespace, one.name))
    return NodePods(
        cluster=cluster,
        name=name,
        facts=msgspec.json.encode(node).decode(),
        pods=msgspec.msgpack.encode(pods),
        digest=f"2-{number}",
    )


def _pod(node: str, choice: random.Random) -> ListedPod:
    application, own = choice.randrange(_APPLICATIONS), choice.getrandbits(60)
    return ListedPod(
        uid=f"{choice.getrandbits(128):032x}",
        namespace=f"ns-{application % _NAMESPACES}",
        name=f"service-{application:05}-{own >> 20:010x}-{own & 0xFFFFF:05x}",
        queue=f"root.t{application % 20}.g{application % 50}.q{application % 19}",
        application=f"service-{application:05}",
        phase=PodPhase.RUNNING,
        since_ms=1_700_000_000_000,
        priority=0,
        priority_class="batch",
        requests={"cpu": 1000, "memory": 2**30, "pods": 1},
        node=node,
        leaving=False,
        leaving_ms=None,
        disruption="",
        unread=False,
    )
