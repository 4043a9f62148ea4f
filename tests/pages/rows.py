"""Rows of a plausible cluster: the fence example's tree, with usage, decisions and victims."""

import math
import zlib
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import msgspec
from django.utils import timezone

from engine.formats.tree_json.canonical import encode_tree
from engine.model.objects import ClassQuota, ClassRule, PriorityClass
from engine.model.quantities import DOMINANT, Amounts, parse_amounts, total
from engine.model.queue_tree import PreemptionPolicy, QueueTree
from engine.model.queue_tree import Queue as TreeQueue
from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.status.priority_classes import listed
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.services.index import mention
from scheduler_admin.decisions.services.latest import keep_last
from scheduler_admin.queues.models import Hierarchy, Queue, Revision
from scheduler_admin.queues.services.chain import digest_of
from scheduler_admin.queues.services.hierarchies import row_of
from scheduler_admin.usage.models import Usage, UsageSample
from scheduler_admin.usage.runs import LEVELS, Amount, Now, pack, run_of, unpack_sample

PASSWORD = "correct horse battery"

TREE: list[tuple[str, dict[str, Any]]] = [
    ("root", {}),
    ("root.queue-a", {"fence": True, "guaranteed": ("160", "640Gi", "4"), "max": ("240", "960Gi", "6")}),
    ("root.system", {"guaranteed": ("96", "384Gi"), "max": ("192", "768Gi"), "namespaces": ["kube-system"]}),
    ("root.tenant-1", {"fence": True, "guaranteed": ("480", "3072Gi", "24"), "max": ("800", "5120Gi", "36")}),
    ("root.tenant-1.queue-b", {"guaranteed": ("160", "1024Gi", "8"), "max": ("320", "2048Gi", "16")}),
    ("root.tenant-1.training", {"guaranteed": ("320", "2048Gi", "16"), "max": ("560", "3584Gi", "28")}),
    ("root.tenant-2", {"fence": True, "guaranteed": ("320", "1920Gi", "16"), "max": ("600", "3584Gi", "24")}),
    ("root.tenant-2.queue-1", {"guaranteed": ("200", "1280Gi", "12"), "max": ("360", "2304Gi", "20")}),
    ("root.tenant-2.queue-2", {"guaranteed": ("120", "640Gi", "4"), "max": ("240", "1280Gi", "8")}),
]
USED = {
    "root.system": ("68500m", "268Gi"),
    "root.tenant-1.queue-b": ("236", "1368Gi", "10"),
    "root.tenant-1.training": ("256", "1792Gi", "16"),
    "root.tenant-2.queue-1": ("184", "1184Gi", "11"),
    "root.tenant-2.queue-2": ("148500m", "704Gi", "5"),
    "root.queue-a": ("160", "588Gi", "4"),
}
ASKS = {"root.tenant-1.queue-b": 3, "root.tenant-1.training": 1, "root.tenant-2.queue-1": 2, "root.queue-a": 2}
CAPACITY = ("1216", "7168Gi", "48")
GPU = "nvidia.com/gpu"


def amounts(given: tuple[str, ...]) -> Amounts:
    """cpu, memory and devices, as in manifests."""
    return parse_amounts(dict(zip(("cpu", "memory", GPU), given, strict=False)))


def user(name: str = "ada", role: str = User.Role.ADMIN, **fields: Any) -> User:
    """A person with the password of these tests."""
    return User.objects.create_user(name, password=PASSWORD, role=role, **fields)


def tenant_user(name: str = "tess", subtree: str = "root.tenant-1", namespaces: tuple[str, ...] = ("search",)) -> User:
    """A person who sees one subtree and its namespaces."""
    person = user(name, User.Role.TENANT)
    tenant = Tenant.objects.create(name=f"{name}'s", subtrees=[subtree], namespaces=list(namespaces))
    person.tenants.add(tenant)
    return person


def revision(
    name: str = "main",
    tree: list[tuple[str, dict[str, Any]]] | None = None,
    number: int = 1,
    reason: str = "first tree",
) -> Revision:
    """A published tree that is its hierarchy's current one."""
    hierarchy, _ = Hierarchy.objects.get_or_create(name=name)
    made = Revision(hierarchy=hierarchy, number=number, parent=hierarchy.current, author_name="ada", reason=reason)
    given = sorted(TREE if tree is None else tree, key=lambda one: one[0].split("."))  # as trees are kept
    parents = {path for path, _settings in given if any(other.startswith(f"{path}.") for other, _ in given)}
    built = QueueTree(_queue(path, settings, parent=path in parents) for path, settings in given)
    made.document = encode_tree(built).decode()
    made.digest = digest_of(made)
    made.save()
    stored: dict[str, Queue] = {}
    for position, (path, _settings) in enumerate(given):
        stored[path] = row_of(made, built, path, position)
        stored[path].parent = stored.get(path.rpartition(".")[0])
        stored[path].save()
    hierarchy.current = made
    hierarchy.save()
    return made


def _queue(path: str, settings: dict[str, Any], *, parent: bool) -> TreeQueue:
    policy = "fence" if settings.get("fence") else settings.get("policy", "default")
    return TreeQueue(
        path=path,
        guaranteed=amounts(settings.get("guaranteed", ())),
        max=amounts(settings.get("max", ())),
        preemption_policy=PreemptionPolicy(policy),
        delay_ms=settings.get("delay_ms"),
        quota_delay_ms=settings.get("quota_delay_ms"),
        namespaces=tuple(settings.get("namespaces", ())),
        parent_declared=parent,
    )


def cluster(name: str = "demo", of: Revision | None = None, **fields: Any) -> Cluster:
    """A cluster that enforces the tree, without a status yet."""
    made = of or revision(name)
    return Cluster.objects.create(name=name, hierarchy=made.hierarchy, mode=fields.pop("mode", "enforce"), **fields)


def status(of: Cluster, now: datetime | None = None, **fields: Any) -> ClusterStatus:
    """What the last pass read, two seconds ago."""
    now = now or timezone.now()
    used = {path: amounts(given) for path, given in USED.items()}
    paths = [path for path, _ in TREE]
    wait = {path: int((now - timedelta(minutes=2 + 2 * n)).timestamp() * 1000) for n, path in enumerate(ASKS)}
    figures = {}
    for path in paths:
        below = [leaf for leaf in used if leaf == path or leaf.startswith(f"{path}.")]
        figures[path] = {
            "used": total(used[leaf] for leaf in below),
            "asks": sum(ASKS.get(leaf, 0) for leaf in below),
            "oldest_ask_ms": min((wait[leaf] for leaf in below if leaf in wait), default=None),
        }
    values: dict[str, Any] = {
        "news": 1,
        "read_at": now - timedelta(seconds=2),
        "pass_at": now - timedelta(seconds=2),
        "pass_us": 41_000,
        "revision_number": 1,
        "nodes": 16,
        "pods": 412,
        "capacity": amounts(CAPACITY),
        "queues": figures,
        **classes(),
        "applications": {
            "root.tenant-1.queue-b": [
                application("embed-batch-7f9c", "search", 14, ("63", "336Gi", "4")),
                application("rank-batch-31d0", "search", 6, ("21", "144Gi", "6")),
                application("crawl-5d21", "search", 38, ("152", "888Gi")),
            ]
        },
    }
    return ClusterStatus.objects.create(cluster=of, **(values | fields))


def classes() -> dict[str, Any]:
    """Two classes with who has them, a third that is gone, and a quota."""
    batch, serving = {"namespace": "vision", "queue": "root.tenant-1.training"}, {"namespace": "ads", "queue": None}
    return {
        "classes": listed(
            [
                PriorityClass(name="serving", value=1000, global_default=True, description="Answers people who wait."),
                PriorityClass(name="batch", value=100, never_preempts=True, may_preempt=True, opted_out=True),
            ]
        ),
        "class_use": {
            "batch": use(30, 4, batch),
            "serving": use(12, 0, serving),
            "old": use(1, 0, serving),
        },
        "class_quotas": [
            msgspec.to_builtins(
                ClassQuota(
                    namespace="vision",
                    name="no-serving",
                    rules=(ClassRule("In", ("serving",)),),
                    hard={"pods": "0", "requests.cpu": "0"},
                    used={"pods": "0", "requests.cpu": "0"},
                )
            )
        ],
        "rivals": ["serving"],
    }


def use(running: int, waiting: int, *places: dict[str, Any]) -> dict[str, Any]:
    """An entry of ClusterStatus.class_use; all pods are in each place."""
    counts = {"running": running, "waiting": waiting}
    return {**counts, "places": [{**place, **counts} for place in places], "more": 0}


def application(name: str, namespace: str, pods: int, requests: tuple[str, ...]) -> dict[str, Any]:
    """An entry of ClusterStatus.applications."""
    return {"name": name, "namespace": namespace, "pods": pods, "requests": amounts(requests)}


def decision(of: Cluster, queue: str, *, minutes: float = 4, victims: tuple[str, ...] = (), **fields: Any) -> Decision:
    """A decision some minutes ago that evicted one pod of each queue in ``victims``."""
    at = timezone.now() - timedelta(minutes=minutes)
    number = Decision.objects.count() + 1
    values: dict[str, Any] = {
        "policy": "fence",
        "mode": "enforce",
        "ask_uid": f"ask-{number}",
        "ask_namespace": "vision",
        "ask_name": f"vision-train-0042-worker-{number}",
        "ask_queue": queue,
        "ask_application": "vision-train-0042",
        "ask_requests": amounts(("8", "64Gi", "2")),
        "ask_since": at - timedelta(seconds=30),
        "outcome": "preempt" if victims else "no-candidate",
        "reason": "below-guarantee" if victims else "no-candidates",
        "node": "gpu-04" if victims else "",
        "document": "{}",
        "state": Decision.State.CLOSED if victims else Decision.State.RECORDED,
        "ending": Decision.Ending.BOUND if victims else "",
        "first_seen": at,
        "last_seen": at,
        "closed_at": at + timedelta(seconds=38) if victims else None,
    }
    made = Decision.objects.create(cluster=of, **(values | fields))
    mention([made])
    for position, path in enumerate(victims):
        victim(made, path, position)
    return made


def victim(of: Decision, queue: str, position: int = 0, **fields: Any) -> Victim:
    """A pod that went."""
    values: dict[str, Any] = {
        "uid": f"victim-{of.pk}-{position}",
        "namespace": "search",
        "name": f"embed-batch-7f9c-{of.pk}{position}",
        "queue": queue,
        "application": "embed-batch-7f9c",
        "requests": amounts(("4500m", "24Gi", "1")),
        "node": "gpu-04",
        "reason": "over-guarantee",
        "state": Victim.State.EXITED,
        "evicted_at": of.first_seen,
        "gone_at": of.first_seen + timedelta(seconds=18),
    }
    made = Victim.objects.create(decision=of, cluster=of.cluster, position=position, **(values | fields))
    mention([of])
    keep_last([of])
    return made


def usage(of: Cluster, queue: str, *, hours: int = 6, every_s: int = 60, now: datetime | None = None) -> None:
    """Hours of samples up to now, waving around the guarantee of a queue of TREE; all but the newest in blocks."""
    last = int((now or timezone.now()).timestamp()) // every_s * every_s
    blocks, newest = _waves(queue, range(last - hours * 3600, last + 1, every_s))
    for at, said in newest:
        add_sample(of, queue, said, datetime.fromtimestamp(at, UTC))
    _store(of, queue, blocks)


@cache  # hundreds of tests begin with the same hours
def _waves(queue: str, times: range) -> tuple[dict[int, bytes], list[tuple[int, Now]]]:
    """Blocks of what a queue used, by where they start, and the samples after the last of them."""
    settings = dict(TREE)[queue]
    guaranteed, limit = amounts(settings.get("guaranteed", ())), amounts(settings.get("max", ()))
    moments: dict[int, list[tuple[int, Now]]] = {}
    for at in times:
        wave = 1 + 0.35 * math.sin(at / 2900) + 0.08 * math.sin(at % 3600 / 210)
        held = {name: Amount(int(amount * wave), amount, limit.get(name)) for name, amount in guaranteed.items()}
        held[DOMINANT] = Amount(int(200_000 * wave), 200_000)
        moments.setdefault(LEVELS[0].start(at), []).append((at, Now(max(0, round(3 * (1 - wave))), held)))
    newest = moments.pop(LEVELS[0].start(times[-1]))
    return _packed(moments), newest


def add_sample(of: Cluster, queue: str, said: Now, at: datetime) -> None:
    """What one queue used at a time that others may have a sample of already."""
    row, _new = UsageSample.objects.get_or_create(cluster=of, at=at, defaults={"document": pack({})})
    row.document = zlib.compress(msgspec.json.encode({**unpack_sample(row.document), queue: said}))
    row.save()


def store(of: Cluster, queue: str, moments: dict[int, list[tuple[int, Now]]]) -> None:
    """Blocks of the finest level, by where they start."""
    _store(of, queue, _packed(moments))


def _packed(moments: dict[int, list[tuple[int, Now]]]) -> dict[int, bytes]:
    return {start: pack(run_of(those)) for start, those in moments.items()}


def _store(of: Cluster, queue: str, blocks: dict[int, bytes]) -> None:
    Usage.objects.bulk_create(
        Usage(cluster=of, queue=queue, step=LEVELS[0].step, start=datetime.fromtimestamp(start, UTC), document=document)
        for start, document in blocks.items()
    )


def everything(name: str = "demo") -> Cluster:
    """A cluster with all that the pages can show."""
    made = cluster(name)
    status(made)
    for path, _ in TREE:
        if path.count(".") == 2:
            usage(made, path)
    decision(made, "root.tenant-1.training", victims=("root.tenant-1.queue-b",) * 2)
    decision(made, "root.system", minutes=15, victims=("root.tenant-2.queue-2",), ask_namespace="kube-system")
    decision(made, "root.tenant-2.queue-1", minutes=45, victims=("root.tenant-2.queue-2",), ask_namespace="ads")
    decision(made, "root.tenant-1.queue-b", minutes=57, victims=("root.tenant-1.training",), ask_namespace="search")
    decision(made, "root.tenant-1.queue-b", minutes=3, ask_namespace="search", last_seen=timezone.now())
    decision(
        made,
        "root.tenant-2.queue-1",
        minutes=6,
        ask_namespace="ads",
        state=Decision.State.CLOSED,
        ending=Decision.Ending.REJECTED,
        outcome="preempt",
    )
    return made


EPOCH = datetime(2026, 11, 20, 12, tzinfo=UTC)
