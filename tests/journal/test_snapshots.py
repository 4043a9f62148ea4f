"""A moment of a cluster is kept with its tree, from the journal or a file, and looked into without the cluster."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
import time_machine
from django.core.exceptions import ValidationError

from engine.model.queue_tree import Queue, QueueTree
from engine.planning.journal import same_state
from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.journal.models import SavedSnapshot
from scheduler_admin.journal.selectors.forecasts import forecast_saved
from scheduler_admin.journal.selectors.snapshots import as_file, saved
from scheduler_admin.journal.services.snapshots import delete_snapshot, save_snapshot, upload_snapshot
from scheduler_admin.queues.services.hierarchies import Terms, publish
from tests.builders import node
from tests.worker.conftest import TREE, add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START, tick=False) as moving:
        yield moving


@pytest.fixture
def observed(db: None) -> Cluster:
    return add_cluster(mode="observe")


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create(username="ada", role=User.Role.ADMIN)


def test_what_is_saved_is_what_was_last_seen(observed: Cluster, watch: Watch, ada: User) -> None:
    run(observed, watch)
    kept = save_snapshot(cluster=observed, name=" before ", actor=ada)
    assert (kept.name, kept.at, kept.nodes, kept.pods) == ("before", START, 1, 5)
    assert same_state(saved(kept).state, watch.state)
    assert saved(kept).tree.queues == TREE.queues
    assert AuditEvent.objects.get(verb="snapshot.save").target == "before"


def test_a_moment_that_has_passed_is_saved_with_the_tree_of_then(
    observed: Cluster, watch: Watch, ada: User, clock: time_machine.Traveller
) -> None:
    run(observed, watch)
    clock.shift(timedelta(minutes=1))
    hierarchy = observed.hierarchy
    assert hierarchy is not None
    less = QueueTree([Queue(path="root")])
    publish(hierarchy=hierarchy, tree=less, author=None, reason="less", allow_orphans=True)
    watch.put(node("n2", 4))
    run(observed, watch)
    then = save_snapshot(cluster=observed, name="then", actor=ada, at=START + timedelta(seconds=30))
    now = save_snapshot(cluster=observed, name="now", actor=ada)
    assert (then.nodes, now.nodes) == (1, 2)
    assert then.at == START
    assert (len(saved(then).tree.queues), len(saved(now).tree.queues)) == (3, 1)


def test_what_nobody_saw_can_not_be_saved(observed: Cluster, watch: Watch, ada: User) -> None:
    with pytest.raises(ValidationError, match="has not been read yet"):
        save_snapshot(cluster=observed, name="x", actor=ada)
    run(observed, watch)
    with pytest.raises(ValidationError, match="does not go back that far"):
        save_snapshot(cluster=observed, name="x", actor=ada, at=START - timedelta(days=1))
    with pytest.raises(ValidationError):
        save_snapshot(cluster=observed, name=" ", actor=ada)


def test_there_is_an_end_to_what_is_kept(
    observed: Cluster, watch: Watch, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scheduler_admin.journal.services.snapshots.MOST_KEPT", 1)
    run(observed, watch)
    kept = save_snapshot(cluster=observed, name="one", actor=ada)
    with pytest.raises(ValidationError, match="Delete one first"):
        save_snapshot(cluster=observed, name="two", actor=ada)
    delete_snapshot(snapshot=kept, actor=ada)
    save_snapshot(cluster=observed, name="two", actor=ada)


@pytest.mark.parametrize("without_names", [False, True])
def test_a_file_that_is_downloaded_and_uploaded_says_the_same(
    observed: Cluster, watch: Watch, ada: User, without_names: bool
) -> None:
    for one in list(watch.state.pods.values()):
        watch.put(msgspec.structs.replace(one, labels={"queue": one.queue_label}))
    run(observed, watch)
    kept = save_snapshot(cluster=observed, name="here", actor=ada)
    data = as_file(kept, without_names=without_names)
    again = upload_snapshot(cluster=observed, name="there", actor=ada, data=data)
    assert (again.at, again.nodes, again.pods, again.uploaded) == (kept.at, kept.nodes, kept.pods, True)
    first, second = (forecast_saved(snapshot=each, tree=saved(each).tree, terms=Terms()) for each in (kept, again))
    assert first.total == second.total
    assert first.total.pods > 0
    assert first.settles == second.settles


def test_a_saved_snapshot_is_foretold_under_another_tree(observed: Cluster, watch: Watch, ada: User) -> None:
    run(observed, watch)
    kept = save_snapshot(cluster=observed, name="here", actor=ada)
    flat = QueueTree(Queue(path=path) for path in TREE.walk())
    assert forecast_saved(snapshot=kept, tree=flat, terms=Terms()).total.pods == 0
    assert forecast_saved(snapshot=kept, tree=saved(kept).tree, terms=Terms()).total.pods > 0


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"hello", "neither a saved snapshot nor JSON"),
        (b'{"kind": "Pod"}', "apiVersion"),
        (b'{"apiVersion": "v1", "kind": "List", "items": []}', "no nodes and no pods"),
        (
            json.dumps(
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ""}, "spec": {"priority": "x"}}
            ).encode(),
            "Pod",
        ),
    ],
)
def test_a_file_that_holds_no_cluster_is_turned_away_in_a_sentence(
    observed: Cluster, ada: User, data: bytes, says: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        upload_snapshot(cluster=observed, name="x", actor=ada, data=data)
    assert says in " ".join(refused.value.messages)
    assert not SavedSnapshot.objects.exists()


def test_a_file_that_is_too_large_is_not_read(observed: Cluster, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler_admin.journal.services.snapshots.MOST_BYTES", 1_000_000)
    with pytest.raises(ValidationError, match="larger than 1 MB"):
        upload_snapshot(cluster=observed, name="x", actor=ada, data=b" " * 1_000_001)
