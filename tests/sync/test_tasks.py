"""Beat sends a visit where one is due; the engine's worker finds where YuniKorn runs, and looks there."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from engine.cluster.sync.config_map import KEY
from engine.model.objects import GroupEvidence, GroupScheduling
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.watching.watchers import WATCHES, Watch
from scheduler_admin.queues.services.imports import import_tree
from scheduler_admin.sync import tasks
from scheduler_admin.sync.models import Copy
from scheduler_admin.sync.services import look_now
from scheduler_admin.sync.used_trees import scheduler_of
from simulator.kubeconfig import kubeconfig
from tests.cluster.doubles import Simulated, simulate
from tests.sync.builders import CONFIG, TEXT
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def theirs() -> Iterator[Simulated]:
    with simulate() as simulated:
        yield simulated
        WATCHES.keep(())


@pytest.fixture
def cluster(theirs: Simulated, tmp_path: Path) -> Cluster:
    """YuniKorn runs in ``batch``, and keeps its ConfigMap there."""
    path = tmp_path / "kubeconfig"
    path.write_text(kubeconfig(theirs.address))
    theirs.create("namespaces", {"metadata": {"name": "batch"}})
    meta = {"name": "yunikorn-scheduler-0", "namespace": "batch"}
    container = {"name": "main", "image": "apache/yunikorn:scheduler-1.7.0"}
    theirs.create("pods", {"metadata": meta, "spec": {"containers": [container]}})
    theirs.create("configmaps", {"metadata": {"name": CONFIG, "namespace": "batch"}, "data": {KEY: TEXT}})
    revision, _notes = import_tree(hierarchy="demo", text=TEXT, author=None, reason="as it was")
    return Cluster.objects.create(name="demo", hierarchy=revision.hierarchy, kubeconfig=str(path))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The copies to which a visit was sent."""
    found: list[int] = []
    monkeypatch.setattr(tasks.visit_copy, "apply_async", lambda args, **_options: found.append(args[0]))
    return found


def test_every_cluster_with_a_tree_is_visited_when_it_is_due(cluster: Cluster, sent: list[int]) -> None:
    Cluster.objects.create(name="bare")
    tasks.send_due_visits()
    copy = Copy.objects.get()
    assert (copy.cluster, sent) == (cluster, [copy.pk])
    Copy.objects.update(due_at=timezone.now() + timedelta(minutes=1))
    tasks.send_due_visits()
    assert sent == [copy.pk]


def test_a_visit_finds_the_copy_where_yunikorn_runs(cluster: Cluster, sent: list[int], theirs: Simulated) -> None:
    """It counts as running from then on, though its pod is away for a moment."""

    def seen() -> bool:
        look_now(cluster=cluster)
        tasks.visit_copy(Copy.objects.get().pk)
        return Copy.objects.get().there

    tasks.send_due_visits()
    wait_for(seen, "its pods are known, and so is where to look")
    assert (Copy.objects.get().namespace, Copy.objects.get().error) == ("batch", "")
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    assert revision is not None
    wait_for(lambda: seen() and scheduler_of(cluster, revision) == "yunikorn", "YuniKorn to be known to run")
    theirs.call(theirs.store.delete, "pods", "batch", "yunikorn-scheduler-0", grace_seconds=0)
    wait_for(lambda: not WATCHES.of(cluster).watcher.state().pods, "it to be away")
    assert seen()
    assert scheduler_of(cluster, revision) == "yunikorn"


def test_a_visit_notes_which_versions_run(cluster: Cluster, theirs: Simulated) -> None:
    """By the image of the scheduler's own pod, and by what the API server says."""
    ClusterStatus.objects.create(cluster=cluster)

    def noted() -> dict[str, str]:
        look_now(cluster=cluster)
        tasks.visit_copy(Copy.objects.get_or_create(cluster=cluster)[0].pk)
        versions: dict[str, str] = ClusterStatus.objects.get().versions
        return versions if "YuniKorn" in versions else {}

    versions = wait_for(noted, "YuniKorn's version")
    assert versions["YuniKorn"] == "1.7.0"
    assert versions["kube-scheduler"].startswith("v1.")


@pytest.mark.parametrize(
    ("served", "found"), [(False, None), (True, GroupScheduling(on=True, evidence=GroupEvidence.FLAGS))]
)
def test_a_visit_finds_out_how_groups_of_pods_are_scheduled_where_any_are_served(
    cluster: Cluster, theirs: Simulated, *, served: bool, found: GroupScheduling | None
) -> None:
    """From the scheduler's own pod: here, from its command line."""
    if not served:
        theirs.call(theirs.store.kinds.discard, "podgroups.scheduling.k8s.io")
    container = {
        "name": "main",
        "image": "kube-scheduler:v1.37.2",
        "command": ["kube-scheduler", "--feature-gates=GenericWorkload=true"],
    }
    meta = {"name": "kube-scheduler-n1", "namespace": "batch"}
    theirs.create("pods", {"metadata": meta, "spec": {"containers": [container]}})

    def visited() -> Watch:
        look_now(cluster=cluster)
        tasks.visit_copy(Copy.objects.get_or_create(cluster=cluster)[0].pk)
        return WATCHES.of(cluster)

    wait_for(lambda: visited().watcher.health().groups_served is served, "it is known whether groups are served")
    wait_for(lambda: visited().gate == found, "the scheduler is asked, or not")


def test_a_way_that_can_not_be_used_is_said(cluster: Cluster, sent: list[int]) -> None:
    """And the visit after it is not asked for at once."""
    Cluster.objects.update(kubeconfig="/no/such/file")
    tasks.send_due_visits()
    tasks.visit_copy(Copy.objects.get().pk)
    copy = Copy.objects.get()
    assert "/no/such/file" in copy.error
    assert copy.due_at > timezone.now()
