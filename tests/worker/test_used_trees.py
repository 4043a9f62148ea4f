"""What another scheduler did is told by the tree that it went by at that moment, not by the one we would like."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from engine.cli.replay import replay_bundle
from engine.cluster.sync.copies import CopyEffect
from engine.formats.tree_json.canonical import encode_tree
from engine.model.objects import Preempted
from engine.model.queue_tree import QueueTree
from engine.observation.evictions import EvictionSource, decode
from engine.observation.evictions.eviction_sources import RULES
from engine.planning.bundle import unpack
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay.replay_file import replay_file
from scheduler_admin.decisions.replay.rewind import again_lines, as_it_was
from scheduler_admin.queues.models import Revision
from scheduler_admin.sync.models import Copy, UsedTree
from scheduler_admin.sync.used_trees import note_used
from scheduler_admin.worker.passes import run_pass
from tests.builders import ask, node, pod, queue, rewrite, tree
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
WANTED = tree({"a": queue("1"), "b": queue("2")})
"""Our revision: b is to keep its two cores."""
THERE = tree({"a": queue("2"), "b": queue("0")})
"""What YuniKorn goes by: a is guaranteed both."""


@pytest.fixture
def cluster(db: None) -> Cluster:
    """Somebody's, only observed, where our revision was never written."""
    made = add_cluster(WANTED, mode="observe")
    rewrite(Revision.objects.all(), published_at=datetime.now(UTC) - timedelta(hours=1))
    return made


def used(cluster: Cluster, tree: QueueTree, *, ago: timedelta = timedelta(minutes=30)) -> UsedTree:
    """YuniKorn has gone by a tree for a while."""
    since = datetime.now(UTC) - ago
    return UsedTree.objects.create(cluster=cluster, document=encode_tree(tree).decode(), since=since)


def preempted(cluster: Cluster) -> Decision:
    """YuniKorn takes both cores of b for web."""
    pods = [pod(f"b-{n}", queue="b", node="n1", labels={"queue": "b"}) for n in range(2)]
    web = ask("web", queue="a", cpu=2, scheduler="yunikorn", labels={"queue": "a"})
    watch = Watch(node("n1", 2), pods, web)
    run_pass(cluster=cluster, watch=watch)
    about = {"ask_uid": "uid-web", "ask_namespace": "ns", "ask_name": "web", "node": "n1"}
    for one in pods:
        watch.put(msgspec.structs.replace(one, terminating=True))
        at_ms = int(datetime.now(UTC).timestamp() * 1000) - 3_000
        event = Preempted(uid=one.uid, namespace="ns", name=one.name, at_ms=at_ms, **about)
        watch.state.yunikorn[f"event-{one.name}"] = event
    run_pass(cluster=cluster, watch=watch)
    return Decision.objects.select_related("rewound", "revision").get(source="yunikorn")


def again(row: Decision, running: str = "") -> str:
    """What is said of its being decided again."""
    return " ".join(map(text, again_lines(row, decode(row.document), running)))


def test_a_preemption_that_the_schedulers_own_tree_allows_is_no_breach_of_ours(cluster: Cluster) -> None:
    """By our revision b would have been left two cores below its guarantee."""
    used(cluster, THERE)
    row = preempted(cluster)
    assert row.detail == ""
    found = decode(row.document)
    assert [one.guaranteed for one in found.queues if one.path == "root.a"] == [{"cpu": 2000}]


def test_it_is_decided_again_by_that_tree_and_the_page_says_so(cluster: Cluster) -> None:
    """With the number of the revision that says something else."""
    row = preempted_by(cluster, THERE)
    assert (
        "This replay uses the queue tree that YuniKorn used at that moment. It differs from revision 1, which was "
        "published here at that time."
    ) in again(row)
    question, decision = as_it_was(row, decode(row.document))
    assert question.tree["root.a"].guaranteed == {"cpu": 2000}
    assert {one.pod.name for one in decision.victims} == {"b-0", "b-1"}


def test_the_file_of_the_decision_holds_that_tree_and_comes_out_again(cluster: Cluster) -> None:
    """Wherever it is replayed."""
    assert replay_bundle(unpack(replay_file(preempted_by(cluster, THERE)), 1_000_000)).same


def test_where_the_scheduler_goes_by_the_revision_nothing_is_added(cluster: Cluster) -> None:
    """The usual case."""
    row = preempted_by(cluster, WANTED)
    assert row.rewound.tree is None
    assert "the queue tree that" not in again(row)


def test_a_tree_that_was_written_later_does_not_count(cluster: Cluster) -> None:
    """What holds is what was used at that moment."""
    used(cluster, THERE, ago=-timedelta(minutes=5))
    assert preempted(cluster).rewound.tree is None


def preempted_by(cluster: Cluster, tree: QueueTree) -> Decision:
    """The same with what YuniKorn goes by."""
    used(cluster, tree)
    return preempted(cluster)


@pytest.mark.parametrize(
    ("effect", "noted"),
    [(CopyEffect.APPLIED, True), (CopyEffect.UNKNOWN, True), (CopyEffect.REJECTED, False), (CopyEffect.PENDING, False)],
)
def test_what_the_scheduler_refuses_or_has_not_taken_over_yet_it_does_not_go_by(
    cluster: Cluster, effect: CopyEffect, noted: bool
) -> None:
    """Where it can't be asked it is taken to go by its copy."""
    now = datetime.now(UTC)
    copy = Copy(cluster=cluster, there=True, document=encode_tree(THERE).decode(), effect=effect, changed_at=now)
    for _ in range(2):
        note_used(copy=copy, now=now)
    assert [one.document for one in UsedTree.objects.all()] == [copy.document] * noted


@pytest.mark.parametrize(
    ("running", "told"),
    [
        ("", "This replay uses the rules of YuniKorn of 2026-07."),
        (
            "1.7.0",
            (
                "This replay uses the rules of YuniKorn of 2026-07. The cluster runs version 1.7.0, for which these "
                "rules are not tested."
            ),
        ),
    ],
)
def test_by_which_versions_rules_it_is_decided_again_is_told(cluster: Cluster, running: str, told: str) -> None:
    """And that they are untested where the cluster runs another."""
    assert told in again(preempted(cluster), running)


@pytest.mark.parametrize(
    ("source", "running", "tested"),
    [
        (EvictionSource.KUBE_SCHEDULER, "v1.36.3", True),
        (EvictionSource.KUBE_SCHEDULER, "v1.37.0", False),
        (EvictionSource.KUBE_SCHEDULER, "v1.3", False),
        (EvictionSource.KUEUE, "v0.19.2", True),
        (EvictionSource.KUEUE, "v0.20.0", False),
        (EvictionSource.VOLCANO, "v1.14.0", False),
    ],
)
def test_a_release_is_covered_where_its_own_decisions_were_recorded(
    source: EvictionSource, running: str, tested: bool
) -> None:
    """All patches of it; no other."""
    assert RULES[source].cover(running) is tested
