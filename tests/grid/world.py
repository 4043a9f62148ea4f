"""Two tenants in one cluster, and the people who ask for what they have."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

import msgspec
from django.test import Client

from engine.formats import yunikorn
from engine.formats.tree_json.canonical import encode_tree
from engine.model.objects import ClassQuota, ClassRule, Flavor, Node, Pod, Preempted, PriorityClass
from engine.model.quantities import Amounts, parse_amounts
from engine.model.queue_tree import Queue
from engine.model.snapshot import ClusterState
from engine.planning.comparison import SideFigures
from engine.planning.scheduling_pass import plan
from engine.policies import policy
from scheduler_admin.accounts.doors import add_mapping
from scheduler_admin.accounts.models import ApiToken, AuditEvent, Tenant, User, WorkloadIdentity
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.accounts.services.workload_identities import create_identity
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Pause
from scheduler_admin.clusters.safeguards.limits import add_window
from scheduler_admin.clusters.safeguards.pauses import pause
from scheduler_admin.clusters.status import pending_workloads
from scheduler_admin.clusters.status.priority_classes import listed
from scheduler_admin.clusters.status.quota import store_quota
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.history_filters import Filters
from scheduler_admin.decisions.services.saved_filters import save_filter
from scheduler_admin.journal.models import Pass
from scheduler_admin.journal.services.snapshots import upload_snapshot
from scheduler_admin.ledger.services import book
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.outbox import Telling, Told, tell
from scheduler_admin.notifications.services import add_channel
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import publish
from scheduler_admin.sync.models import Copy, Writing
from scheduler_admin.usage.models import Usage, UsageSample
from scheduler_admin.usage.runs import Amount, Now, pack, run_of
from scheduler_admin.worker.recorder.decisions import Finding, record
from scheduler_admin.worker.recorder.observe import look, record_others
from tests import builders
from tests.engine import quota_builders as quota
from tests.grid.sides import ADMIN, BLUE, GUEST, MARKET, RED, SECRET, SHARED, STAFF, Side, tree_of
from tests.nodes.builders import store
from tests.pages.moments import carried_out, ms

PASSWORD = "of the admin alone"
"""Others never sign in with one."""
NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def amounts(**quantities: str) -> Amounts:
    """``cpu="1500m"`` in the engine's integers."""
    return parse_amounts(quantities)


def people() -> dict[str, User]:
    """Somebody of every kind who signs in."""
    red, blue = (
        create_tenant(name=side.tenant, namespaces=[side.namespace], subtrees=[side.team, side.met])
        for side in (RED, BLUE)
    )
    return {
        "nobody": create_user(username="nobody"),
        "other": create_user(username=f"{BLUE.canary}-person", tenants=[blue]),
        "tenant": create_user(username=f"{RED.canary}-person", tenants=[red]),
        "editor": create_user(username=f"{RED.canary}-editor", edits=[red]),
        "auditor": create_user(username=f"{STAFF}-auditor", role=User.Role.AUDITOR),
        "operator": create_user(username=f"{STAFF}-operator", role=User.Role.OPERATOR),
        "admin": create_user(username=f"{STAFF}-admin", role=User.Role.ADMIN, password=PASSWORD),
    }


def session_of(person: User) -> str:
    """The key of a session in which the person is signed in."""
    client = Client()
    client.force_login(person)
    return str(client.session.session_key)


def token_of(person: User) -> str:
    """A token of a person for the API, which allows all that the person may do."""
    _token, plaintext = create_token(user=person, name="grid", scopes=ApiToken.Scope.values)
    return plaintext


def make(author: User) -> tuple[Side, Side]:
    """The three clusters with all that happened. Returns both sides with the number of their decision."""
    shared = _cluster(SHARED, (RED, BLUE), author)
    for side in (RED, BLUE):
        _cluster(side.cluster, (side,), author)
    red, blue = _happened(shared, 0)
    compared, run = _compared(shared, author), _run(shared)
    return replace(
        red,
        draft=draft(SHARED, author),
        comparison=compared,
        run=run,
        snapshot=_snapshot(red, author),
        saved=_saved(red, author),
        **_stops(red),
    ), replace(
        blue,
        draft=draft(BLUE.cluster, author),
        comparison=compared,
        run=run,
        snapshot=_snapshot(blue, author),
        saved=_saved(blue, author),
        **_stops(blue),
    )


def _snapshot(side: Side, author: User, number: int = 0) -> int:
    """The number of a snapshot of the shared cluster that was uploaded."""
    pod = {"name": f"{side.pod}-{number}", "namespace": side.namespace, "labels": {"queue": side.queue}}
    named = {"apiVersion": "v1", "kind": "Pod", "metadata": pod, "spec": {"nodeName": side.node}}
    shared, data = Cluster.objects.get(name=SHARED), msgspec.json.encode(named)
    return upload_snapshot(cluster=shared, name=f"{STAFF} {side.pod}", actor=author, data=data).pk


def _saved(side: Side, author: User, number: int = 0) -> int:
    """The number of saved filters."""
    filters, shared = Filters.of({"namespace": side.namespace}, NOW), Cluster.objects.get(name=SHARED)
    return save_filter(owner=author, cluster=shared, name=f"{STAFF} {side.canary} {number}", filters=filters).pk


def _run(cluster: Cluster) -> int:
    """The number of a pass."""
    assert cluster.hierarchy is not None
    return Pass.objects.create(cluster=cluster, revision=cluster.hierarchy.current, at=NOW, took_us=900, asks=1).pk


def _compared(cluster: Cluster, author: User) -> int:
    """The number of a comparison that is done, of both sides' queues."""
    found = SideFigures(
        decisions=1,
        preempted=1,
        again=0,
        applications=1,
        work=amounts(cpu="2"),
        placed=1,
        waiting=1,
        short={side.queue: 1 for side in (RED, BLUE)},
    )
    side = {"revision": 1, "policy": "fence", "dialect": "design", "parameters": {}, "document": ""}
    result = {"since_ms": ms(NOW), "step_ms": None, "record": None, "sides": [msgspec.to_builtins(found)]}
    values = {"cluster": cluster, "author": author, "author_name": STAFF, "created_at": NOW, "since": NOW}
    return Comparison.objects.create(**values, sides=[side], state=Comparison.State.DONE, result=result).pk


def _stops(side: Side) -> dict[str, Any]:
    """The numbers of the pause and of a window of a side's team in the shared cluster, and of a group's mapping."""
    shared = Cluster.objects.get(name=SHARED)
    hours = {"weekdays": ["mon"], "begins": time(1), "ends": time(2), "zone": "UTC"}
    window = add_window(cluster=shared, queue=side.team, kind="deny", actor=None, reason=f"{STAFF} window", **hours)
    tenant = Tenant.objects.get(name=side.tenant)
    mapping = add_mapping(group=f"{STAFF}-group", role="editor", tenant=tenant, actor=None, reason=f"{STAFF} mapping")
    pause = Pause.objects.of(shared, side.team).get()
    channel = _channels(side, 0)
    told = str(channel.notifications.earliest("pk").guid)
    person = User.objects.get(username=f"{side.canary}-person")
    token, _plaintext = create_token(user=person, name=f"{side.canary}-token")
    event = AuditEvent.objects.get(verb="tenant.create", target=side.tenant)
    service = create_user(username=f"{side.canary}-service", service=True)
    workload = _workload(side, service)
    rows = {
        "token": token,
        "user": person,
        "service": service,
        "tenant_number": tenant,
        "event": event,
        "channel": channel,
    }
    rows |= {"pause": pause, "window": window, "mapping": mapping, "workload_identity": workload}
    return {"notification": told, **{name: row.pk for name, row in rows.items()}}


def _workload(side: Side, account: User, number: int = 0) -> WorkloadIdentity:
    """A workload identity that acts as a service account of a side's name."""
    return create_identity(
        name=f"{side.canary}-workload-{number}",
        user=account,
        issuer="https://token.actions.githubusercontent.com",
        audience="https://scheduler.example.com",
        claims={"sub": f"repo:{side.canary}/queues"},
        scopes=["read"],
        actor=None,
        reason=f"{STAFF} workload",
    )


def _people(side: Side, number: int) -> None:
    """One more person of a side, with a token and a group's mapping; and one more tenant with nothing."""
    tenant = Tenant.objects.get(name=side.tenant)
    person = create_user(username=f"{side.canary}-person-{number}", tenants=[tenant])
    create_token(user=person, name=f"{side.canary}-token-{number}")
    account = create_user(username=f"{side.canary}-service-{number}", service=True)
    _workload(side, account, number)
    add_mapping(group=f"{STAFF}-group-{number}", role="editor", tenant=tenant, actor=None, reason=f"{STAFF} mapping")
    create_tenant(name=f"{side.tenant}-{number}")


def _channels(side: Side, number: int) -> Channel:
    """A webhook, and a channel by mail, that was told something."""
    tenant, settings = Tenant.objects.get(name=side.tenant), {"name": f"{side.canary}-channel-{number}"}
    hook = f"https://{side.canary}.example.com/{SECRET}?token={SECRET}"
    mail = f"{side.canary}@example.com"
    add_channel(tenant=tenant, kind="slack", address=hook, values={"name": f"{side.canary}-{number}"}, actor=None)
    made = add_channel(tenant=tenant, kind="email", address=mail, values=settings, actor=None)
    for event in (Notification.Event.GOING, Notification.Event.PREEMPTED):
        said = Told(lines=[f"{side.pod} {number}.", side.queue], link=f"http://127.0.0.1:8000/pods/?q={side.pod}")
        telling = Telling(channel=made, event=event, about=side.queue, part="", say=lambda _pods, said=said: said)
        tell([telling], NOW)
    return made


def draft(cluster: str, author: User, name: str = f"{STAFF} draft") -> int:
    """The number of a new draft of a cluster's tree."""
    hierarchy = Hierarchy.objects.get(name=tree_of(cluster))
    return edits.start(hierarchy=hierarchy, name=name, author=author).pk


def grow(author: User, times: int = 10) -> None:
    """All of it ten times: clusters, revisions, drafts, queues, decisions, usage. What there was stays."""
    shared = Cluster.objects.get(name=SHARED)
    for number in range(1, times):
        for side in (RED, BLUE):
            _cluster(f"{side.cluster}-{number}", (side,), author)
            draft(side.cluster, author)
            _snapshot(side, author, number)
            _saved(side, author, number)
            _channels(side, number)
            _people(side, number)
        draft(SHARED, author)
        _run(shared)
        _happened(shared, number)
    assert shared.hierarchy is not None
    for number in range(1, times):
        publish(
            hierarchy=shared.hierarchy, tree=builders.tree(_queues((RED, BLUE), number)), author=author, reason=STAFF
        )
    _status(shared, (RED, BLUE), times)


def _cluster(name: str, sides: tuple[Side, ...], author: User) -> Cluster:
    hierarchy = Hierarchy.objects.create(name=tree_of(name))
    publish(hierarchy=hierarchy, tree=builders.tree(_queues(sides)), author=author, reason=f"{STAFF} reason")
    hierarchy.refresh_from_db()
    cluster = Cluster.objects.create(
        name=name,
        hierarchy=hierarchy,
        mode=Cluster.Mode.ENFORCE,
        kubeconfig=f"/{ADMIN}/kubeconfig",
        context=f"{ADMIN}-context",
        owner=f"{SECRET}-worker",
    )
    _status(cluster, sides, 1)
    _copied(cluster, sides)
    store_quota(cluster=cluster, state=_kueue(sides), known=True, waits=True, now=NOW)
    pause(cluster=cluster, actor=author, reason=f"{STAFF} pause")
    for side in sides:
        pause(cluster=cluster, queue=side.team, actor=author, reason=f"{STAFF} pause")
    return cluster


def _kueue(sides: tuple[Side, ...]) -> ClusterState:
    """A cohort for each side's team, with a ClusterQueue for its leaf; and one that no tree has."""
    found = ClusterState()
    for side in sides:
        cohort, name = (path.rpartition(".")[2] for path in (side.team, side.queue))
        found.cluster_queues[name] = quota.queue(name, cohort, cpu=2)
        asks = msgspec.structs.replace(quota.waits(name, cpu=3), uid=side.workload, namespace=side.namespace)
        found.workloads[side.workload] = msgspec.structs.replace(asks, name=side.workload)
        found.workloads[side.application] = quota.holds(side.application, name, cpu=2)
    found.flavors[quota.FLAVOR] = Flavor(name=quota.FLAVOR)
    found.cluster_queues[STAFF] = quota.queue(f"{STAFF}-queue", f"{STAFF}-cohort", cpu=2)
    return found


def _queues(sides: tuple[Side, ...], more: int = 0) -> dict[str, Queue]:
    """Each side's team behind a fence, and its leaf in the market; ``more`` further leaves."""
    found = {MARKET: builders.queue(fence=True)}
    for side in sides:
        found[side.team] = builders.queue("3", fence=True)
        found[side.queue] = builders.queue("2", namespaces=(side.namespace,))
        found[side.batch] = builders.queue("1")
        found[side.met] = builders.queue("2", namespaces=(f"{GUEST[side].namespace}-2",))
        for number in range(more):
            found[f"{side.batch}-{number}"] = builders.queue()
    return {path.removeprefix("root."): queue for path, queue in found.items()}


def _status(cluster: Cluster, sides: tuple[Side, ...], times: int) -> None:
    """What the last pass read: it runs, but failed just now."""
    queues: dict[str, Any] = {}
    applications: dict[str, Any] = {}
    for side in sides:
        for path, owners in ((side.queue, [side]), (side.met, [side, GUEST[side]])):
            applications[path] = [
                {"name": each.application, "namespace": each.namespace, "pods": 2, "requests": amounts(cpu="2")}
                for each in owners * times
            ]
        for path in (side.team, side.queue, side.batch, side.met):
            queues[path] = {"used": amounts(cpu="2"), "asks": 2, "oldest_ask_ms": ms(NOW - timedelta(minutes=3))}
        for hour in range(times):
            at = NOW.replace(minute=0) - timedelta(hours=hour + 1)
            seconds = [
                (int(at.timestamp()) + 300 * n, Now(n, {"cpu": Amount(1000 + 1000 * n, 2000)})) for n in range(2)
            ]
            block = {"document": pack(run_of(seconds))}
            Usage.objects.get_or_create(cluster=cluster, queue=side.queue, step=10, start=at, defaults=block)
    sample = pack({path: Now(2, {"cpu": Amount(2000, 2000)}) for path in queues})
    UsageSample.objects.update_or_create(cluster=cluster, at=NOW, defaults={"document": sample})
    read = {"read_at": NOW, "pass_at": NOW, "pass_us": 900, "nodes": 3, "pods": 12, "capacity": amounts(cpu="12")}
    odd = [{"object": f"Pod {STAFF}/odd", "why": f"{STAFF} why", "since_ms": ms(NOW)}]
    held = [
        _pod(side, f"{side.application}-workload-{number}", side.queue, NOW, unschedulable_ms=ms(NOW))
        for side in sides
        for number in range(times)
    ]
    fault = {"error": f"{STAFF} error", "error_since": NOW, "odd": odd, "odd_count": 1}
    fault["pending_workloads"] = pending_workloads.kept(held)
    values = {**read, **fault, **_classes(sides, times), "queues": queues, "applications": applications}
    ClusterStatus.objects.update_or_create(cluster=cluster, defaults=values)
    _on_nodes(cluster, sides, times)


def _on_nodes(cluster: Cluster, sides: tuple[Side, ...], times: int) -> None:
    """Each side's node with its pod; more of both as the world grows."""
    objects: list[Node | Pod] = []
    for side in sides:
        for turn in range(times):
            node = f"{side.node}-{turn}" if turn else side.node
            objects.append(builders.node(node, 8))
            facts = {"namespace": side.namespace, "app": side.application, "queue": side.queue}
            objects.append(builders.pod(side.pod, uid=f"{side.canary}-{turn}", node=node, **facts))
    store(cluster, builders.tree(_queues(sides)), *objects)


def _copied(cluster: Cluster, sides: tuple[Side, ...]) -> None:
    """Its own copy of the tree, from which somebody took the leaves that give; and one that was not written there."""
    queues = {
        path: queue for path, queue in _queues(sides).items() if f"root.{path}" not in {one.batch for one in sides}
    }
    tree = builders.tree(queues)
    assert cluster.hierarchy
    text = yunikorn.write(None, tree)
    values = {"there": True, "looked_at": NOW, "namespace": f"{STAFF}-space", "writer": f"{STAFF}-kubectl"}
    values |= {"written_at": NOW, "text": text, "document": encode_tree(tree).decode(), "version": "uid/1"}
    Copy.objects.create(cluster=cluster, **values)
    written = {"namespace": f"{STAFF}-space", "onto": "uid/0", "before": text, "text": text, "by_name": STAFF}
    revision = cluster.hierarchy.current
    Writing.objects.create(cluster=cluster, revision=revision, state="rejected", reason=STAFF, at=NOW, **written)


def _classes(sides: tuple[Side, ...], times: int) -> dict[str, Any]:
    """Each side's class, which its pods have and a quota of its namespace is for."""
    named = {side: [side.priority_class, *(f"{side.priority_class}-{n}" for n in range(1, times))] for side in sides}
    rules = {side: (ClassRule("In", tuple(names)),) for side, names in named.items()}
    place = {"running": 2, "waiting": 1}
    return {
        "classes": listed(
            PriorityClass(name=name, value=5, description=f"Description of {name}.", version="1")
            for names in named.values()
            for name in names
        ),
        "class_use": {
            name: {**place, "places": [{"namespace": side.namespace, "queue": side.queue, **place}], "more": 0}
            for side, names in named.items()
            for name in names
        },
        "class_quotas": [
            msgspec.to_builtins(ClassQuota(namespace=side.namespace, name=f"{side.canary}-quota", rules=rules[side]))
            for side in sides
        ],
    }


def _happened(cluster: Cluster, number: int) -> tuple[Side, Side]:
    """Each takes from its own and from the other, by us and by others; waits, also as a guest of the other's."""
    found = []
    for side, other in ((RED, BLUE), (BLUE, RED)):
        if not number:  # an hour ago, which pages show; the others of now are after what they show
            _decided(cluster, 60, asker=side, giver=side, to=side.queue, of=side.batch, node=side.node)
        own = _decided(cluster, number, asker=side, giver=side, to=side.queue, of=side.batch, node=side.node)
        _decided(cluster, number, asker=side, giver=other, to=side.met, of=other.met, kind="met")
        _decided(cluster, number, asker=side, giver=other, to=other.met, of=side.met, kind="guest")
        _decided(cluster, number, asker=side, giver=other, to=side.queue, of=other.batch, kind="late")
        _seen(cluster, number, asker=side, giver=other)
        found.append(replace(side, decision=own.pk))
    book(cluster=cluster)
    return found[0], found[1]


def _seen(cluster: Cluster, number: int, *, asker: Side, giver: Side) -> None:
    """kube-scheduler took a pod of one for an ask of the other: told by an Event and by the pod's condition."""
    assert cluster.hierarchy is not None
    assert cluster.hierarchy.current is not None
    at, node = NOW - timedelta(minutes=number), "met-node"
    going = {"terminating": True, "disruption": "PreemptionByScheduler", "disrupted_ms": ms(at)}
    ask = _pod(asker, f"{asker.ask}-seen-{number}", asker.met, at, priority=20)
    gone = _pod(giver, f"{giver.pod}-seen-{number}", giver.met, at, node=node, **going)
    state = ClusterState()
    state.nodes[node] = builders.node(node, 4)
    state.pods.update({pod.uid: pod for pod in (ask, gone)})
    state.preempted["event"] = Preempted(
        uid=gone.uid,
        namespace=gone.namespace,
        name=gone.name,
        node=node,
        at_ms=ms(at),
        ask_uid=ask.uid,
        ask_namespace=ask.namespace,
        ask_name=ask.name,
    )
    revision, tree = cluster.hierarchy.current, builders.tree(_queues((RED, BLUE)))
    seen = look(cluster=cluster, revision=revision, tree=tree, state=state, settled=set(), now=at)
    assert record_others(cluster=cluster, revision=revision, state=state, seen=seen, entry=0, now=at)


def _decided(
    cluster: Cluster, number: int, *, asker: Side, giver: Side, to: str, of: str, node: str = "met-node", kind: str = ""
) -> Decision:
    """The engine decides for one ask on one node full of pods in ``of``; what is no guest's is carried out."""
    assert cluster.hierarchy is not None
    assert cluster.hierarchy.current is not None
    tree = builders.tree(_queues((RED, BLUE)))
    at = NOW - timedelta(minutes=number)
    told = "-".join(part for part in (kind, str(number or "")) if part)
    ask = _pod(
        asker,
        f"{asker.ask}-{told}".rstrip("-"),
        to,
        at,
        app=f"{asker.application}-b",
        unschedulable_ms=ms(at - timedelta(minutes=1)),
    )
    held = [_pod(giver, f"{giver.pod}-{told}".rstrip("-"), of, at, node=node)]
    held += [_pod(giver, f"{giver.pod}-{told}-{n}", of, at, node=node, priority=50) for n in range(3)]
    snapshot = builders.snapshot(tree, builders.node(node, 4), held, ask, now=ms(at))
    (considered,) = plan(snapshot, tree, policy("fence", "design", {}))
    assert bool(considered.decision.victims) is (kind != "late"), considered
    acts = kind not in {"late", "guest"}
    finding = Finding(considered=considered, act=acts, priority_class=asker.priority_class)
    ((row, _finding),), _news = record(
        cluster=cluster, revision=cluster.hierarchy.current, findings=[finding], now=at, took_us=900
    )
    return carried_out(row) if acts else row


def _pod(side: Side, name: str, queue: str, at: datetime, **settings: Any) -> Pod:
    begun = ms(at - timedelta(hours=1))
    defaults = {"priority": 10, "namespace": side.namespace, "app": side.application, "created_ms": begun}
    if "node" in settings:
        defaults["started_ms"] = begun
    return builders.pod(name, queue=queue, **{**defaults, **settings})
