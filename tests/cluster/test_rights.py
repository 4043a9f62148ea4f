"""The manifests under deploy/ grant what the code uses: nothing less, nothing more."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from ruamel.yaml import YAML

from engine.cluster.acting.actuator import Actuator
from engine.cluster.acting.allocations import AllocationWriter
from engine.cluster.acting.lease import ClusterLease
from engine.cluster.acting.outcomes import EvictionOutcome, ReservationTerms
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.connecting.token_review import review
from engine.cluster.inspection.check import CheckLevel, Expected, check
from engine.cluster.inspection.priority_classes import ChangedError, PriorityClasses
from engine.cluster.inspection.rights import (
    ACTING,
    APPLY,
    APPLYING,
    ARBITRATING,
    CLASSES,
    CONSUMERS,
    ENFORCE,
    OBSERVE,
    OBSERVING,
    PUBLISHING,
    REVIEWING,
    REVIEWS,
    WRITING_CLASSES,
    required_rights,
)
from engine.cluster.inspection.scan import scan_cluster
from engine.cluster.sync.config_map import read_config_map, write_config_map
from engine.cluster.sync.copies import Rewrite
from engine.cluster.sync.object_copies import write_objects
from engine.cluster.watching.watcher import ClusterWatcher
from engine.formats import parented_objects
from engine.formats.arbitrator import consumers
from engine.formats.arbitrator.allocations import NAME
from engine.formats.kubernetes.decode import decode_pod
from engine.formats.kueue.object_kinds import KUEUE
from engine.model.objects import Allocation, AllocationCondition, PriorityClass
from engine.model.queue_tree import Queue, QueueTree
from tests.controlplane import anycluster, arbitration, kueue
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.plane import ControlPlane
from tests.waiting import PATIENCE_S, wait_for

BASE = Path(__file__).resolve().parents[2]
ACCOUNT = "system:serviceaccount:scheduler-admin:scheduler-admin"
TOKEN = "/api/v1/namespaces/scheduler-admin/serviceaccounts/scheduler-admin/token"
GROUPS = {"rbac.authorization.k8s.io/v1": "/apis/rbac.authorization.k8s.io/v1", "v1": "/api/v1"}
RULE = tuple[str, str, str, str, str]
"""verb, group, resource with subresource, name or "", namespace of the role or ""."""


def manifest(path: str) -> list[dict[str, Any]]:
    return list(YAML(typ="safe", pure=True).load_all((BASE / path).read_text()))


def granted(*paths: str) -> set[RULE]:
    """All that the roles of manifests say."""
    return {
        (verb, group, resource, name, role["metadata"].get("namespace", ""))
        for path in paths
        for role in manifest(path)
        if role["kind"].endswith("Role")
        for rule in role.get("rules", ())
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", ("",))
    }


def test_the_manifests_are_what_the_table_of_rights_says():
    """By which people are told what is missing, and where to get it."""
    manifests = (
        (OBSERVE, OBSERVING),
        (ENFORCE, ACTING),
        (CLASSES, WRITING_CLASSES),
        (REVIEWS, REVIEWING),
        (APPLY, APPLYING),
        (CONSUMERS, ARBITRATING),
    )
    for path, rights in manifests:
        assert granted(path) == {(one.verb, one.group, one.resource, one.name, one.namespace) for one in rights}
        assert {one.manifest for one in rights} == {path}


def test_nothing_is_ever_deleted_by_the_engine():
    assert not [rule for rule in granted(OBSERVE, ENFORCE) if "delete" in rule[0] or "*" in rule]


def test_each_mode_needs_what_the_one_before_needs():
    assert required_rights("observe") == required_rights("advise") == OBSERVING
    assert required_rights("advise", publish=True) == (*OBSERVING, *PUBLISHING)
    assert set(required_rights("advise", publish=True)) < set(required_rights("enforce"))


@pytest.fixture
def real(plane: ControlPlane) -> Iterator[AnyCluster]:
    with anycluster.real(plane) as cluster:
        yield cluster


class Account:
    """The service account of the manifests, with the roles that it is given."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._made: list[str] = []

    def give(self, path: str) -> ConnectionSettings:
        """What a manifest grants, too."""
        for document in (one for one in manifest(path) if one["kind"] != "CustomResourceDefinition"):
            meta, kind = document["metadata"], document["kind"].lower() + "s"
            space = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
            at = f"{GROUPS[document['apiVersion']]}{space}/{kind}"
            wait_for(
                lambda at=at, document=document: self._plane.request("POST", at, document), f"{meta['name']} is made"
            )
            self._made.append(f"{at}/{meta['name']}")
        token = self._plane.request("POST", TOKEN, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
        ca = (self._plane.folder / "ca.crt").read_text()
        return ConnectionSettings(address=self._plane.address, token=token, ca=ca)

    def take_all(self) -> None:
        for path in reversed(self._made):
            self._plane.request("DELETE", path)


@pytest.fixture
def account(plane: ControlPlane) -> Iterator[Account]:
    found = Account(plane)
    yield found
    found.take_all()


def used(plane: ControlPlane, since: int) -> set[RULE]:
    """What the account asked for and was allowed by a role of ours; fails where it was forbidden anything."""
    rules, known = set(), granted(OBSERVE, ENFORCE, CLASSES, REVIEWS, APPLY, CONSUMERS)
    for event in plane.events(since):
        if event["user"].get("username") != ACCOUNT:
            continue
        notes = event["annotations"]
        assert notes["authorization.k8s.io/decision"] == "allow", event["requestURI"]
        if "scheduler-admin" not in notes["authorization.k8s.io/reason"]:
            continue  # what every account may: ask for versions, and what it may do
        at = event["objectRef"]
        resource = "/".join(part for part in (at["resource"], at.get("subresource")) if part)
        what = event["verb"], at.get("apiGroup", ""), resource
        rules |= {
            rule
            for rule in known
            if rule[:3] == what and rule[3] in ("", at.get("name")) and rule[4] in ("", at.get("namespace"))
        }
    return rules


def observe(settings: ConnectionSettings) -> None:
    """All that a worker reads, and what is read when a cluster is connected."""
    found = scan_cluster(settings)
    assert found.unread == ()
    assert found.yunikorn
    watcher = ClusterWatcher(Connection(settings))
    watcher.start()
    try:
        assert watcher.wait_synced(PATIENCE_S)
    finally:
        assert watcher.stop()


def act(settings: ConnectionSettings, cluster: AnyCluster) -> None:
    """All that is done to a cluster in enforce."""
    actuator = Actuator(Connection(settings))
    ask, victim = (decode_pod(cluster.get("pods", name)) for name in ("ask", "victim"))
    assert actuator.reserve("n1", ask, ReservationTerms(until_ms=1_767_268_800_000, decision="https://site/1")).done
    for _ in range(2):  # said again, it is counted
        assert actuator.event(ask, "RoomIsMade", "soon").done
    assert actuator.mark(victim, "Preempted", "for another").done
    for dry_run in (True, False):
        assert actuator.evict(victim, dry_run=dry_run).outcome is EvictionOutcome.ACCEPTED
    assert actuator.sweep((), thorough=True).freed == ("n1",)
    lease = ClusterLease(Connection(settings), identity="test")
    assert lease.renew()
    assert lease.renew()
    lease.release()
    assert lease.error == ""


def manage(settings: ConnectionSettings) -> None:
    """All that is done to priority classes."""
    classes = PriorityClasses(Connection(settings))
    made = classes.create(PriorityClass(name="high", value=1))
    changed = classes.change(made, msgspec.structs.replace(made, description="new"))
    with pytest.raises(ChangedError):
        classes.delete(made)
    classes.delete(changed)


def fill(cluster: AnyCluster) -> None:
    """A node, an ask, a victim, and YuniKorn's configuration."""
    cluster.add_node()
    cluster.add_pod("victim", node="n1")
    cluster.add_pod("ask")
    cluster.add_pod("yunikorn-scheduler-1")
    data = {"queues.yaml": "partitions: []"}
    cluster.create("configmaps", {"metadata": {"name": "yunikorn-configs"}, "data": data})
    cluster.running("victim")


@pytest.mark.controlplane
def test_nothing_forbidden_is_tried_and_nothing_granted_is_unused(
    plane: ControlPlane, real: AnyCluster, account: Account
):
    """Observing, checking and acting under the roles, by the real API server's own log."""
    fill(real)
    settings = account.give(OBSERVE)
    since = plane.audited()
    observe(settings)
    assert check(settings, Expected("observe")).well
    assert missing(settings) == [
        f"Missing permission: {right}, which enforce mode requires. Apply deploy/rbac.yaml to grant it."
        for right in ACTING
    ]
    assert used(plane, since) == granted(OBSERVE)

    settings = account.give(ENFORCE)
    since = plane.audited()
    observe(settings)
    assert missing(settings) == []
    act(settings, real)
    assert used(plane, since) == granted(OBSERVE, ENFORCE)

    assert told_of("priority classes", settings).endswith("Apply deploy/priority-classes.yaml to grant them.")
    settings = account.give(CLASSES)
    since = plane.audited()
    manage(settings)
    assert told_of("priority classes", settings) == "Priority classes can be changed here."
    assert granted(CLASSES) <= used(plane, since)

    assert told_of("tree", settings).endswith("Apply deploy/apply-tree.yaml to grant them.")
    settings = account.give(APPLY)
    since = plane.audited()
    write_back(settings, real)
    assert told_of("tree", settings) == "Queue trees can be written to the cluster’s configuration."
    # To make by applying takes the right to create as well, but the log says only that it was applied.
    assert {rule for rule in granted(APPLY) if rule[0] != "create"} <= used(plane, since)

    assert told_of("consumers", settings).endswith("Apply deploy/consumers.yaml to grant them.")
    settings = account.give(CONSUMERS)
    since = plane.audited()
    tell(settings, real)
    assert told_of("consumers", settings) == "The deserved shares of namespaces can be published as Allocations."
    # To make by applying takes the right to create as well, as above.
    missed = granted(CONSUMERS) - used(plane, since)
    assert [(verb, resource) for verb, _group, resource, *_ in missed] == [("create", "allocations")]

    assert tokens_of(settings).endswith("Apply deploy/token-review.yaml to grant it.")
    settings = account.give(REVIEWS)
    since = plane.audited()
    wait_for(lambda: tokens_of(settings) == "Tokens of this cluster can be used to sign in to the REST API.", "it may")
    assert review(settings, settings.token, ("scheduler-admin",)) is None  # it is for the API server itself
    assert granted(REVIEWS) <= used(plane, since)


def told_of(subject: str, settings: ConnectionSettings) -> str:
    """What a check says of something."""
    return next(str(line) for line in check(settings, Expected("observe")).lines if line.subject == subject)


def tokens_of(settings: ConnectionSettings) -> str:
    """What a check says of reviewing tokens, where that is wanted."""
    lines = check(settings, Expected("observe", reviews=True)).lines
    return next(str(line) for line in lines if line.subject == "tokens")


def tell(settings: ConnectionSettings, cluster: AnyCluster) -> None:
    """All that is done to Consumers and Allocations."""
    writer = AllocationWriter(Connection(settings))
    one = Allocation(namespace=cluster.namespace, name=NAME, deserved={"cpu": "1"})
    told = AllocationCondition("Overused", "False", "WithinDeserved", "It uses no more.", "2026-11-23T10:00:00Z")
    every = {cluster.namespace: msgspec.structs.replace(one, conditions=(told,))}
    assert writer.write({cluster.namespace: {}}, every, [], lambda: True) == 1
    assert writer.trouble == ""


def write_back(settings: ConnectionSettings, cluster: AnyCluster) -> None:
    """All that is done to YuniKorn's ConfigMap, to Kueue's objects, and to Consumers."""
    connection = Connection(settings)
    seen = read_config_map(connection, (cluster.namespace,))
    assert seen is not None
    text = "partitions: [] # written"
    write_config_map(connection, seen, Rewrite(onto=seen.version, before=seen.text, text=text))
    kueue.install_queues(cluster)
    made = kueue.three(cluster.namespace)
    changed = kueue.three(cluster.namespace, cpu="9", local="other")
    for before, after in (("", made), (made, changed), (changed, "")):
        write_objects(KUEUE, connection, Rewrite(onto="", before=before, text=after))
    arbitration.install(cluster)
    one = consumers.write("", QueueTree([parented_objects.IMPLIED_ROOT, Queue(path=f"root.{cluster.namespace}")])).text
    for before, after in (("", one), (one, "")):
        write_objects(consumers.FAMILY, connection, Rewrite(onto="", before=before, text=after))


def missing(settings: ConnectionSettings) -> list[str]:
    """What is said of the rights that enforce lacks."""
    report = check(settings, Expected("enforce"))
    return [str(line) for line in report.lines if (line.subject, line.level) == ("rights", CheckLevel.ERROR)]
