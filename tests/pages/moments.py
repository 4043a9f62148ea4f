"""Moments of a cluster as the engine itself decides them, stored as passes store them, and carried out by hand."""

from datetime import datetime, timedelta

import msgspec
from django.utils import timezone

from engine.analysis.counterfactuals import Again, counterfactuals_of_victim
from engine.audit import audit
from engine.model.decision import Outcome, decode
from engine.model.objects import Node, Pod, PriorityClass, Taint
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import Snapshot
from engine.planning.scheduling_pass import AuditedDecision, plan
from engine.policies import policy
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Step, Victim
from scheduler_admin.worker.recorder.decisions import Finding, record
from tests import builders as make
from tests.pages import rows

GPU = rows.GPU
TREE = make.tree(
    {
        "system": make.queue({"cpu": 64, "memory": "256Gi"}),
        "tenant-1": make.queue(
            {"cpu": 96, "memory": "512Gi", GPU: 12}, max={"cpu": 160, "memory": "1024Gi", GPU: 20}, fence=True
        ),
        "tenant-1.training": make.queue(
            {"cpu": 64, "memory": "384Gi", GPU: 8}, max={"cpu": 128, "memory": "768Gi", GPU: 12}
        ),
        "tenant-1.queue-b": make.queue(
            {"cpu": 12, "memory": "64Gi", GPU: 2}, max={"cpu": 64, "memory": "256Gi", GPU: 8}
        ),
        "tenant-2": make.queue({"cpu": 64, "memory": "296Gi", GPU: 8}, fence=True),
        "tenant-2.queue-1": make.queue({"cpu": 48, "memory": "200Gi", GPU: 6}),
        "tenant-2.queue-2": make.queue({"cpu": 16, "memory": "96Gi", GPU: 2}),
    }
)


def ms(at: datetime) -> int:
    """Milliseconds since 1970."""
    return int(at.timestamp() * 1000)


def worker(name: str, queue: str, app: str, at: datetime, **fields: object) -> Pod:
    """A pod that started some hours before, in the namespace of its queue."""
    spaces = {"training": "vision", "queue-b": "search", "queue-1": "ads-prod", "queue-2": "bids-prod", "system": "ops"}
    run = fields.pop("minutes", 300)
    begun = ms(at - timedelta(minutes=run if isinstance(run, int) else 300))
    defaults = {"namespace": spaces[queue.rpartition(".")[2]], "created_ms": begun, "priority": 500}
    if fields.get("node"):
        defaults["started_ms"] = begun
    return make.pod(name, queue=queue, app=app, **{**defaults, **fields})


def _trainer(name: str, node: str, at: datetime) -> Pod:
    resources = {"memory": "24Gi", GPU: 1}
    return worker(
        name, "tenant-1.training", "vision-train-0041", at, cpu=7, resources=resources, node=node, priority=1000
    )


def running(at: datetime) -> list[Node | Pod | PriorityClass]:
    """Six nodes with devices and two without, full of four tenants' pods."""
    big = {"memory": "256Gi", GPU: 4}
    nodes = [make.node(f"gpu-0{n}", 32, resources=big) for n in range(1, 7)]
    nodes[1] = make.node("gpu-02", 32, resources=big, taints=(Taint("maintenance"),))
    found: list[Node | Pod | PriorityClass] = [
        *nodes,
        make.node("cpu-01", 32, resources={"memory": "128Gi"}),
        make.OPTED_OUT,
    ]
    one = {"memory": "24Gi", GPU: 1}
    for node in ("gpu-01", "gpu-03"):
        found += [_trainer(f"vision-train-0041-{node[-1]}{n}", node, at) for n in range(3)]
    found.append(
        worker(
            "rank-batch-31d0-driver",
            "tenant-1.queue-b",
            "rank-batch-31d0",
            at,
            cpu=2,
            resources={"memory": "8Gi"},
            node="gpu-04",
            minutes=420,
        )
    )
    found.append(
        worker(
            "embed-batch-7f9c-kx2lp",
            "tenant-1.queue-b",
            "embed-batch-7f9c",
            at,
            cpu="4500m",
            resources=one,
            node="gpu-04",
            minutes=312,
        )
    )
    found.append(
        worker(
            "embed-batch-7f9c-x8v2d",
            "tenant-1.queue-b",
            "embed-batch-7f9c",
            at,
            cpu="4500m",
            resources=one,
            node="gpu-04",
            minutes=18,
        )
    )
    found.append(
        worker(
            "rank-batch-31d0-exec-5",
            "tenant-1.queue-b",
            "rank-batch-31d0",
            at,
            cpu="3500m",
            resources=one,
            node="gpu-04",
            minutes=41,
            priority=1000,
        )
    )
    found.append(
        worker(
            "notebook-anna-0",
            "tenant-1.queue-b",
            "notebook-anna",
            at,
            cpu=2,
            resources=one,
            node="gpu-04",
            priority_class="keep",
        )
    )
    found += [
        worker(
            f"embed-batch-7f9c-w{n}",
            "tenant-1.queue-b",
            "embed-batch-7f9c",
            at,
            cpu=5,
            resources=one,
            node="gpu-01" if n == 0 else "gpu-03",
        )
        for n in range(2)
    ]
    for node in ("gpu-05", "gpu-06"):
        found += [
            worker(
                f"bidder-train-{node[-1]}{n}",
                "tenant-2.queue-1" if n < 2 else "tenant-2.queue-2",
                "bidder-train-21f",
                at,
                cpu=7,
                resources=one,
                node=node,
            )
            for n in range(4)
        ]
    found.append(worker("node-keeper", "system", "keeper", at, cpu=20, resources={"memory": "100Gi"}, node="cpu-01"))
    return found


def asks(at: datetime) -> list[Pod]:
    """Asks of every kind: one that preempts, one at its guarantee, one behind a fence, one that must wait."""
    since = ms(at - timedelta(seconds=30))
    two = {"memory": "64Gi", GPU: 2}
    return [
        worker(
            "vision-train-0042-worker-3",
            "tenant-1.training",
            "vision-train-0042",
            at,
            cpu=8,
            resources=two,
            priority=1000,
            unschedulable_ms=since,
            minutes=1,
        ),
        worker(
            "embed-batch-7f9c-late",
            "tenant-1.queue-b",
            "embed-batch-7f9c",
            at,
            cpu=4,
            resources={"memory": "24Gi", GPU: 1},
            unschedulable_ms=since,
            minutes=1,
        ),
        worker(
            "bidder-replay-77c-0",
            "tenant-2.queue-1",
            "bidder-replay",
            at,
            cpu=6,
            resources={"memory": "32Gi", GPU: 1},
            unschedulable_ms=since,
            minutes=1,
        ),
        worker(
            "metrics-gateway-5d8f",
            "system",
            "metrics",
            at,
            cpu=30,
            resources={"memory": "20Gi"},
            unschedulable_ms=since,
            minutes=1,
        ),
        worker(
            "vision-eval-1",
            "tenant-1.training",
            "vision-eval",
            at,
            cpu=8,
            resources={"memory": "32Gi", GPU: 1},
            unschedulable_ms=ms(at),
            minutes=1,
        ),
    ]


def considered(
    at: datetime, tree: QueueTree = TREE, only: str = "", hold: str = ""
) -> tuple[Snapshot, list[AuditedDecision]]:
    """What the engine decides for the asks, each on the untouched cluster, audited."""
    chosen = [ask for ask in asks(at) if only in ("", ask.name)]
    decide = policy("fence", "design", {})
    found = []
    for ask in chosen:
        snapshot = make.snapshot(tree, running(at), ask, now=ms(at))
        found += plan(snapshot, tree, decide, hold=lambda _one: hold)
    return make.snapshot(tree, running(at), chosen, now=ms(at)), found


def decide(
    of: Cluster, at: datetime | None = None, *, only: str = "", hold: str = "", act: bool = True
) -> list[Decision]:
    """Decide and store as a pass does; newest state, nothing carried out yet."""
    at = at or timezone.now() - timedelta(minutes=4)
    assert of.hierarchy is not None
    assert of.hierarchy.current is not None
    _snapshot, decided = considered(at, only=only, hold=hold)
    findings = [
        Finding(
            considered=one,
            act=act and not hold and one.decision.outcome is Outcome.PREEMPT,
            since_ms=ms(at - timedelta(seconds=30)),
            priority_class="batch",
        )
        for one in decided
    ]
    stored, _news = record(cluster=of, revision=of.hierarchy.current, findings=findings, now=at, took_us=41_000)
    rows_stored = [row for row, _finding in stored]
    _work_out(rows_stored, at)
    return rows_stored


def decide_group(of: Cluster, at: datetime | None = None) -> Decision:
    """Decide for a group of four pods as kube-scheduler 1.37 does: a group goes whole, another one stays whole."""
    at = at or timezone.now() - timedelta(minutes=4)
    assert of.hierarchy is not None
    assert of.hierarchy.current is not None
    snapshot = make.snapshot(TREE, _crowded_by_groups(at), now=ms(at))
    first, *_others = plan(snapshot, TREE, policy("priority", "kube-scheduler-1.37"))
    finding = Finding(considered=first, since_ms=ms(at - timedelta(seconds=30)), priority_class="training")
    ((row, _finding),), _news = record(
        cluster=of, revision=of.hierarchy.current, findings=[finding], now=at, took_us=41_000
    )
    again = Again(snapshot, TREE, make.named(snapshot, row.ask_name), policy("priority", "kube-scheduler-1.37"))
    for victim in row.victims.all():
        found = counterfactuals_of_victim(again, decode(row.document.encode()), victim.uid)
        Victim.objects.filter(pk=victim.pk).update(changes=msgspec.to_builtins(list(found)))
    return row


def _crowded_by_groups(at: datetime) -> list[make.Object]:
    """Four nodes with devices: on two a group of low priority that goes whole, on two a group of a higher one."""
    big, two = {"memory": "256Gi", GPU: 4}, {"memory": "64Gi", GPU: 2}
    found: list[make.Object] = [make.node(f"gpu-0{n}", 32, resources=big) for n in range(1, 5)]
    for name, priority, nodes in (("embed-ring", 100, "12"), ("rank-ring", 300, "34")):
        found.append(make.pod_group(name, at_once=2, priority=priority, whole=True, namespace="search"))
        found += [
            worker(
                f"{name}-{n}",
                "tenant-1.queue-b",
                name,
                at,
                cpu=8,
                resources=two,
                node=f"gpu-0{n}",
                scheduling_group=name,
                priority=priority,
            )
            for n in nodes
        ]
    found += [
        worker(f"sweep-{n}", "tenant-1.queue-b", "sweep", at, cpu=8, resources=two, node=f"gpu-0{n}", priority=0)
        for n in range(1, 5)
    ]
    found.append(make.pod_group("llm-train-70b", at_once=4, priority=1000, namespace="vision"))
    found += [
        worker(
            f"llm-train-70b-{n}",
            "tenant-1.training",
            "llm-train-70b",
            at,
            cpu=8,
            resources=two,
            priority=1000,
            scheduling_group="llm-train-70b",
            unschedulable_ms=ms(at - timedelta(seconds=30)),
            minutes=1,
        )
        for n in range(5)
    ]
    return found


def _work_out(stored: list[Decision], at: datetime) -> None:
    """What would have spared the victims, stored as the other worker does."""
    by_fence = policy("fence", "design", {})
    for row in stored:
        asking = [one for one in asks(at) if one.name == row.ask_name]
        snapshot = make.snapshot(TREE, running(at), asking, now=ms(at))
        again = Again(snapshot, TREE, snapshot.asks[0], by_fence)
        for victim in row.victims.all():
            found = counterfactuals_of_victim(again, decode(row.document.encode()), victim.uid)
            Victim.objects.filter(pk=victim.pk).update(changes=msgspec.to_builtins(list(found)))


def carried_out(row: Decision, ending: str = Decision.Ending.BOUND) -> Decision:
    """Evict, hold one back for a while, let them go, bind the ask: as the carrier stores it."""
    at = row.first_seen
    later = [timedelta(seconds=0.1), timedelta(seconds=10.5)]
    Step.objects.create(decision=row, at=at + timedelta(seconds=0.05), kind=Step.Kind.RESERVED, note=row.node)
    for position, victim in enumerate(row.victims.all()):
        told = at + later[position % 2]
        if position % 2:
            note = "disruption budget rank-batch allows no more disruptions now"
            Step.objects.create(
                decision=row, at=at + timedelta(seconds=0.4), kind=Step.Kind.REFUSED, pod=str(victim), note=note
            )
        gone = told + timedelta(seconds=17.5 + 8 * position)
        Step.objects.create(decision=row, at=told, kind=Step.Kind.EVICTED, pod=str(victim))
        Step.objects.create(decision=row, at=gone, kind=Step.Kind.EXITED, pod=str(victim))
        Victim.objects.filter(pk=victim.pk).update(
            state=Victim.State.EXITED, evicted_at=told, gone_at=gone, attempts=1 + position % 2
        )
    closed = at + timedelta(seconds=38.1)
    Step.objects.create(decision=row, at=closed, kind=Step.Kind.RELEASED, note=row.node)
    Step.objects.create(decision=row, at=closed, kind=Step.Kind.CLOSED, note=row.node)
    Decision.objects.filter(pk=row.pk).update(state=Decision.State.CLOSED, ending=ending, closed_at=closed)
    row.refresh_from_db()
    return row


def refused(of: Cluster, at: datetime | None = None) -> Decision:
    """A decision that the audit refuses: one of its victims would take its queue below its guarantee."""
    at = at or timezone.now() - timedelta(minutes=9)
    snapshot, decided = considered(at, only="vision-train-0042-worker-3")
    greedy = make.preempting(
        snapshot, "vision-train-0042-worker-3", ["bidder-train-50", "bidder-train-51"], node="gpu-05"
    )
    greedy = msgspec.structs.replace(greedy, trace=decided[0].decision.trace)
    one = AuditedDecision(decision=greedy, laws=audit(snapshot, TREE, greedy))
    assert one.refused
    assert of.hierarchy is not None
    assert of.hierarchy.current is not None
    finding = Finding(considered=one, since_ms=ms(at - timedelta(seconds=30)))
    stored, _news = record(cluster=of, revision=of.hierarchy.current, findings=[finding], now=at, took_us=900)
    return stored[0][0]


def with_guarantee(queue: Queue, resource: str, guaranteed: int) -> Queue:
    """A queue with another guarantee in one resource, in its integer unit."""
    return msgspec.structs.replace(queue, guaranteed={**queue.guaranteed, resource: guaranteed})


def replaced(queue: Queue) -> QueueTree:
    """The tree with one queue changed."""
    return QueueTree({**TREE.queues, queue.path: queue}.values())
