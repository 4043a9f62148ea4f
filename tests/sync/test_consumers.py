"""A tree that came from Consumers is held against them, and what others change there is seen."""

from collections.abc import Iterator

import pytest
from django.utils import timezone

from engine.formats import registry
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import Native, publish_as
from scheduler_admin.sync.models import Writing
from scheduler_admin.sync.services import ask_to_write, copy_of, look_now
from scheduler_admin.sync.state import Standing, standing
from scheduler_admin.sync.visits import claim, visit
from tests.controlplane import anycluster, arbitration
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.plane import ControlPlane

pytestmark = [pytest.mark.django_db, pytest.mark.controlplane]


@pytest.fixture
def real(plane: ControlPlane, db: None) -> Iterator[AnyCluster]:
    with anycluster.real(plane) as cluster:
        arbitration.install(cluster)
        yield cluster


def published(there: AnyCluster, cpu: str) -> Hierarchy:
    """The tree of one Consumer, as a document of it says."""
    text = (
        "apiVersion: kube-arbitrator.incubator.k8s.io/v1\nkind: Consumer\n"
        f"metadata: {{name: defaults, namespace: {there.namespace}}}\nspec: {{hard: {{requests.cpu: '{cpu}'}}}}\n"
    )
    tree = registry.read(text).tree
    publish_as(name="demo", tree=tree, author=None, reason="as it is", native=Native("consumers", text))
    return Hierarchy.objects.get(name="demo")


def looked(cluster: Cluster, there: AnyCluster) -> Standing:
    look_now(cluster=cluster)
    now, copy = timezone.now(), copy_of(cluster)
    assert claim(copy, now)
    visit(copy=copy, connection=there.connection(), namespaces=(), now=now)
    assert cluster.hierarchy
    cluster.hierarchy.refresh_from_db()
    return standing(copy_of(cluster), cluster.hierarchy.current)


def asked(cluster: Cluster, newer: Hierarchy, there: AnyCluster, over: int = 0) -> Writing:
    """To write it there, as the engine's worker carries it out."""
    made = ask_to_write(
        cluster=cluster,
        revision=newer.current_id or 0,
        version=copy_of(cluster).version,
        overwrite=False,
        actor=None,
        reason="the new quarter",
        over=over,
    )
    looked(cluster, there)
    made.refresh_from_db()
    return made


def test_what_they_say_is_seen_and_a_newer_revision_is_written_to_them(real: AnyCluster) -> None:
    """Others' fields only once that is confirmed."""
    arbitration.add_consumer(real, hard={"requests.cpu": "4"})
    cluster = Cluster.objects.create(name="demo", hierarchy=published(real, "4"))
    assert looked(cluster, real) is Standing.IN_SYNC
    newer = published(real, "6")
    assert looked(cluster, real) is Standing.OUTDATED
    shown = asked(cluster, newer, real)
    assert shown.state == Writing.State.NEEDS_CONFIRMATION  # the hand that made it answers for what it wrote
    assert asked(cluster, newer, real, over=shown.pk).state == Writing.State.WRITTEN
    spec = real.send("GET", arbitration.path(real.namespace, "consumers", "defaults"))["spec"]
    assert spec == {"hard": {"requests.cpu": "6"}}
    assert looked(cluster, real) is Standing.IN_SYNC
