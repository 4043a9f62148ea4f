"""Rows in few words. Red is Alice's and Bob's tenant; everything of blue, the other one, is named canary."""

from datetime import UTC, datetime, timedelta
from typing import Any

from engine.model.decision import Decision as EngineDecision
from engine.model.decision import Outcome, PodFacts, PodReason, PodVerdict, Reason, encode
from engine.model.objects import PriorityClass
from engine.model.quantities import parse_amounts
from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.status.priority_classes import listed
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.decisions.services.index import mention
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import publish
from scheduler_admin.usage.models import Usage
from scheduler_admin.usage.runs import Amount, Now, pack, run_of
from tests import builders

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
RED, BLUE = "root.red.batch", "root.blue"
CANARY = "canary"


def red_tenant() -> Tenant:
    """Alice's and Bob's."""
    return create_tenant(name="red", namespaces=["red"], subtrees=["root.red"])


def user(name: str, *tenants: Tenant, role: str = User.Role.TENANT) -> User:
    """A user who signs in by token."""
    return create_user(username=name, role=role, tenants=tenants)


def cluster(name: str = "prod", *, blues_namespace: str = "canary-ns", **settings: Any) -> Cluster:
    """A cluster with red behind a fence, blue beside it, and a status that a pass left a minute ago."""
    hierarchy = Hierarchy.objects.create(name=f"{name}-tree")
    queues = {
        "red": builders.queue("8", fence=True),
        "red.batch": builders.queue({"cpu": "4", "memory": "8Gi"}, max="10", delay_ms=5000, namespaces=("red",)),
        "blue": builders.queue("2", namespaces=(blues_namespace,)),
    }
    author, _created = User.objects.get_or_create(username="canary-author")
    publish(hierarchy=hierarchy, tree=builders.tree(queues), author=author, reason="canary reason")
    hierarchy.refresh_from_db()
    made = Cluster.objects.create(name=name, hierarchy=hierarchy, **settings)
    ClusterStatus.objects.create(cluster=made, **_status())
    return made


def _status() -> dict[str, Any]:
    application = {"name": "etl", "namespace": "red", "pods": 2, "requests": amounts(cpu="5500m")}
    guest = {"name": "canary-app", "namespace": "canary-ns", "pods": 1, "requests": amounts(cpu="1")}
    red = {"used": amounts(cpu="5500m", memory="8Gi"), "asks": 2, "oldest_ask_ms": ms(NOW - timedelta(minutes=3))}
    blue = {"used": amounts(cpu="1"), "asks": 0, "oldest_ask_ms": None}
    root = {"used": amounts(cpu="6500m", memory="8Gi"), "asks": 2, "oldest_ask_ms": red["oldest_ask_ms"]}
    return {
        "read_at": NOW - timedelta(seconds=60),
        "pass_at": NOW - timedelta(seconds=60),
        "pass_us": 1500,
        "revision_number": 1,
        "nodes": 3,
        "pods": 12,
        "capacity": amounts(cpu="12", memory="32Gi"),
        "queues": {"root": root, "root.red": red, RED: red, BLUE: blue},
        "classes": listed([PriorityClass(name="batch", value=100, never_preempts=True, version="7")]),
        "class_use": {"batch": {"running": 2, "waiting": 0, "places": [], "more": 0}},
        "applications": {RED: [application, guest], BLUE: [guest]},
    }


def amounts(**quantities: str) -> dict[str, int]:
    """``cpu="1500m"`` in the engine's integers."""
    return parse_amounts(quantities)


def ms(at: datetime) -> int:
    """Milliseconds since 1970."""
    return int(at.timestamp() * 1000)


def red_pod(name: str = "red-pod") -> PodFacts:
    """A pod of Alice's and Bob's."""
    return _pod(name, namespace="red", queue=RED, application="etl")


def blue_pod(name: str = "canary-pod") -> PodFacts:
    """A pod that neither of them may learn of."""
    return _pod(name, namespace="canary-ns", queue=BLUE, application="canary-app")


def _pod(name: str, **settings: Any) -> PodFacts:
    return PodFacts(uid=f"uid-{name}", name=name, priority=100, requests=amounts(cpu="2"), node="n1", **settings)


def decision(on: Cluster, *, ask: PodFacts, victims: tuple[PodFacts, ...] = (), **settings: Any) -> Decision:
    """A stored decision with its victims, a law, and a step for every pod; every free text names the canary."""
    verdicts = tuple(PodVerdict(pod=pod, reason=PodReason.OVER_GUARANTEE, detail="canary detail") for pod in victims)
    found = EngineDecision(
        policy="fence",
        dialect="design",
        ask=ask,
        outcome=Outcome.PREEMPT if victims else Outcome.NO_CANDIDATE,
        reason=Reason.BELOW_GUARANTEE if victims else Reason.NO_ROOM,
        victims=verdicts,
    )
    at = settings.pop("first_seen", NOW - timedelta(minutes=10))
    defaults: dict[str, Any] = {
        "revision": on.hierarchy.current if on.hierarchy else None,
        "policy": found.policy,
        "dialect": found.dialect,
        "ask_uid": ask.uid,
        "ask_namespace": ask.namespace,
        "ask_name": ask.name,
        "ask_queue": ask.queue,
        "ask_application": ask.application,
        "ask_priority": ask.priority,
        "ask_requests": ask.requests,
        "ask_priority_class": f"{ask.name}-class",
        "outcome": found.outcome.value,
        "reason": found.reason.value,
        "detail": f"{ask.name} detail",
        "node": "n1" if victims else "",
        "document": encode(found).decode(),
        "laws": [{"law": "fits", "holds": True, "sums": [{"subject": "canary-ns/canary-pod"}]}],
        "first_seen": at,
        "last_seen": at,
    }
    row = Decision.objects.create(cluster=on, **{**defaults, **settings})
    for position, pod in enumerate(victims):
        _victim(row, position, pod)
    mention([row])
    for pod in (ask, *victims):
        Step.objects.create(decision=row, at=at, kind=Step.Kind.EVICTED, pod=pod.key, note="canary note")
    return row


def _victim(row: Decision, position: int, pod: PodFacts) -> None:
    Victim.objects.create(
        decision=row,
        cluster=row.cluster,
        position=position,
        uid=pod.uid,
        namespace=pod.namespace,
        name=pod.name,
        queue=pod.queue,
        application=pod.application,
        priority=pod.priority,
        requests=pod.requests,
        node=pod.node,
        reason=PodReason.OVER_GUARANTEE.value,
    )


def usage(on: Cluster, queue: str, *, hour: datetime, cpu: list[int], every_s: int = 600) -> None:
    """An hour of samples."""
    for index, amount in enumerate(cpu):
        at = hour + timedelta(seconds=index * every_s)
        said = [(int(at.timestamp()), Now(0, {"cpu": Amount(amount, 4000)}))]
        Usage.objects.create(cluster=on, queue=queue, step=10, start=at, document=pack(run_of(said)))
