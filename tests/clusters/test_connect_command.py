"""``manage.py connect``: somebody's cluster, with one command, and not one byte written to it."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from engine.model.queue_tree import Queue, QueueTree
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.connect import connect, look, slug
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.queues.services.hierarchies import publish_as, tree_of
from simulator.kubeconfig import kubeconfig
from tests.cluster.doubles import Simulated, scripted, simulate
from tests.controlplane import anycluster, arbitration, kueue

pytestmark = pytest.mark.django_db


@pytest.fixture
def theirs() -> Iterator[Simulated]:
    """Somebody's cluster: a node, a running pod and a pending one."""
    with simulate() as simulated:
        simulated.add_node()
        simulated.add_pod("web", node="n1")
        simulated.add_pod("waits")
        yield simulated


@pytest.fixture
def config(theirs: Simulated, tmp_path: Path) -> str:
    """A kubeconfig for it, with one context: simulator."""
    path = tmp_path / "config"
    path.write_text(kubeconfig(theirs.address))
    return str(path)


def run(**options: Any) -> str:
    """What the command prints."""
    out = io.StringIO()
    call_command("connect", stdout=out, **options)
    return out.getvalue()


def test_a_cluster_is_added_in_observe_with_a_tree_of_its_own(config: str, theirs: Simulated) -> None:
    """One command: what was found, what to do next; revision 1, of a hierarchy of its name."""
    said = run(kubeconfig=config, context="simulator")
    cluster = Cluster.objects.get()
    assert (cluster.name, cluster.mode, cluster.kubeconfig, cluster.context) == (
        "simulator", "observe", config, "simulator",
    )  # fmt: skip
    assert cluster.hierarchy is not None
    revision = cluster.hierarchy.current
    assert revision is not None
    assert (cluster.hierarchy.name, revision.number) == ("simulator", 1)
    assert tree_of(revision)["root.default"].namespaces == ("default",)
    for line in ("1 running, 1 pending", "1: cpu 4", "kube-scheduler: 2 pods use it", "root.default: 2 pods",
                 "/clusters/simulator/queues/", "set_mode simulator advise", "Nothing is written"):  # fmt: skip
        assert line in said


def test_the_cluster_sees_nothing_but_reads(config: str, theirs: Simulated) -> None:
    """Every request that its API server got."""
    run(kubeconfig=config)
    assert theirs.audit
    assert {record.verb for record in theirs.audit} <= {"get", "list", "watch"}


def test_a_second_run_changes_nothing_that_was_edited(config: str) -> None:
    """Mode, interval and a newer tree stay as people made them; it says what is there."""
    run(kubeconfig=config)
    Cluster.objects.update(mode="advise", interval_ms=5000)
    tree = QueueTree([Queue(path="root"), Queue(path="root.mine")])
    publish_as(name="simulator", tree=tree, author=None, reason="refined")
    said = run(kubeconfig=config)
    cluster = Cluster.objects.get()
    assert (cluster.mode, cluster.interval_ms, Revision.objects.count()) == ("advise", 5000, 2)
    assert "was already connected and is unchanged. Its mode is advise" in said
    assert "2 pods run without a queue of the tree" in said


def test_a_kubeconfig_that_leads_to_another_cluster_by_now_is_not_taken_for_the_known_one(config: str) -> None:
    """The same file and context, and another kube-system in the end."""
    run(kubeconfig=config)
    Cluster.objects.update(uid="another")
    with pytest.raises(CommandError, match="These credentials belong to a different cluster, not to simulator"):
        run(kubeconfig=config)


def test_a_tree_that_was_imported_before_is_taken(config: str) -> None:
    """Under the cluster's name: nothing is generated over it."""
    publish_as(name="mine", tree=QueueTree([Queue(path="root"), Queue(path="root.x")]), author=None, reason="by hand")
    run(kubeconfig=config, name="mine")
    assert Revision.objects.get().reason == "by hand"
    assert Cluster.objects.get().hierarchy == Hierarchy.objects.get(name="mine")


def test_the_default_kubeconfig_is_kubectls(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", config)
    run()
    assert Cluster.objects.get().kubeconfig == config


def test_a_context_that_makes_no_name_wants_one(config: str, tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.write_text(Path(config).read_text().replace("simulator", "集群"))
    with pytest.raises(CommandError, match="No cluster name can be derived from the context 集群"):
        run(kubeconfig=str(odd))
    assert "named is connected in mode observe" in run(kubeconfig=str(odd), name="named")


@pytest.mark.parametrize(
    ("context", "want"),
    [
        ("gke_acme_europe-west1_prod", "gke-acme-europe-west1-prod"),
        ("arn:aws:eks:eu-west-1:123:cluster/prod", "arn-aws-eks-eu-west-1-123-cluster-prod"),
        ("Prod@Admin", "prod-admin"),
        ("x" * 90, "x" * 63),
    ],
)
def test_a_name_is_made_of_the_context(context: str, want: str) -> None:
    assert slug(context) == want


def test_the_same_cluster_has_one_name(config: str, tmp_path: Path) -> None:
    """The way to it tells that it is known; by another way its own identity does, and its name is said."""
    run(kubeconfig=config, name="first")
    assert "first was already connected" in run(kubeconfig=config)
    other = tmp_path / "other"
    other.write_text(Path(config).read_text())
    for options in ({"kubeconfig": config, "name": "second"}, {"kubeconfig": str(other), "name": "second"}):
        with pytest.raises(CommandError, match="This is cluster first, which is already connected"):
            run(**options)
    assert Cluster.objects.get().uid


def _nothing_half_added() -> bool:
    return not (Cluster.objects.exists() or Hierarchy.objects.exists() or AuditEvent.objects.exists())


def test_what_goes_wrong_is_a_sentence_and_nothing_is_half_added(config: str, tmp_path: Path) -> None:
    """Wrong context, no file, a server that is not there, a name that is none."""
    dead = tmp_path / "dead"
    dead.write_text(kubeconfig("http://127.0.0.1:9"))
    for options, want in (
        ({"kubeconfig": config, "context": "prod"}, "has no context prod. Its contexts are: simulator."),
        ({"kubeconfig": str(tmp_path / "none")}, "none does not exist"),
        ({"kubeconfig": str(dead)}, "The API server http://127.0.0.1:9 cannot be reached"),
        ({"kubeconfig": config, "name": "no name!"}, "valid"),
    ):
        with pytest.raises(CommandError, match=r".") as caught:
            run(**options)
        assert want in str(caught.value)
    assert _nothing_half_added()


def test_a_missing_right_is_named(tmp_path: Path) -> None:
    with scripted(lambda asked, answer: answer.status(403, "Forbidden", "no")) as server:
        path = tmp_path / "config"
        path.write_text(kubeconfig(server.address))
        with pytest.raises(CommandError, match="Missing permissions: list nodes; watch nodes; list pods"):
            run(kubeconfig=str(path))
    assert _nothing_half_added()


def test_a_name_that_another_cluster_has_is_refused(config: str) -> None:
    Cluster.objects.create(name="simulator", kubeconfig="/elsewhere")
    with pytest.raises(ValidationError, match="uses a different connection"):
        look(way=Way.by_file(config))
    assert Cluster.objects.get().kubeconfig == "/elsewhere"


def test_looking_adds_nothing(config: str) -> None:
    """Only connecting does."""
    seen = look(way=Way.by_file(config))
    assert _nothing_half_added()
    connect(seen=seen, actor=None)
    assert set(AuditEvent.objects.values_list("verb", flat=True)) >= {"cluster.add", "tree.publish"}


def test_no_token_is_in_what_is_said_or_raised(theirs: Simulated, tmp_path: Path, caplog: Any) -> None:
    """Of a kubeconfig with a secret in it, in success and in failure."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text(kubeconfig(theirs.address, "hunter2"))
    bad.write_text(kubeconfig("http://127.0.0.1:9", "hunter2"))
    said = run(kubeconfig=str(good))
    with pytest.raises(CommandError) as caught:
        run(kubeconfig=str(bad), name="bad")
    assert "hunter2" not in said + str(caught.value) + caplog.text


def test_kueues_own_tree_is_revision_one_in_kueues_own_words(tmp_path: Path) -> None:
    """So that what others change of it is seen, and what is changed here can be written back."""
    with anycluster.simulated() as cluster:
        kueue.install_queues(cluster)
        kueue.make(cluster, kueue.three("default"))
        config = tmp_path / "config"
        config.write_text(cluster.entrance.kubeconfig("default"))
        connected = connect(seen=look(way=Way.by_file(str(config)), name="lab"), actor=None)
    assert connected.hierarchy is not None
    revision = connected.hierarchy.current
    assert revision is not None
    assert tree_of(revision).leaves == ("root.company.research",)
    assert (revision.source_format, "kind: ClusterQueue" in revision.source) == ("kueue", True)
    assert "Kueue" in revision.reason


def test_what_consumers_say_is_revision_one_in_their_words(tmp_path: Path) -> None:
    """Where neither YuniKorn nor Kueue keeps a tree."""
    with anycluster.simulated() as cluster:
        arbitration.install(cluster)
        arbitration.add_consumer(cluster, hard={"requests.cpu": "4"})
        config = tmp_path / "config"
        config.write_text(cluster.entrance.kubeconfig("default"))
        connected = connect(seen=look(way=Way.by_file(str(config)), name="lab"), actor=None)
    assert connected.hierarchy is not None
    revision = connected.hierarchy.current
    assert revision is not None
    assert tree_of(revision)[f"root.{cluster.namespace}"].max == {"cpu": 4000}
    assert (revision.source_format, "kind: Consumer" in revision.source) == ("consumers", True)
