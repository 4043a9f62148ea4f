"""Who is told to give back, from pass to pass, and what their pods' readers are told of it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
import time_machine

from engine.cluster.acting.outcomes import OperationOutcome, Result
from engine.model.decision import Decision, PodFacts, Reason, ReclaimNotice
from engine.model.decision import Outcome as Decided
from engine.model.objects import Pod, Shield
from scheduler_admin.clusters import models
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision as History
from scheduler_admin.queues.services.hierarchies import Terms
from scheduler_admin.worker import reclaim_notices
from tests.builders import ask, node, pod, queue, tree
from tests.samples import sampled
from tests.worker.conftest import add_cluster
from tests.worker.passing import run
from tests.worker.watch import Watch

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
GRACE = timedelta(seconds=30)
pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(db: None) -> Cluster:
    return add_cluster(name="prod")


def asking(path: str = "root.test", *, cpu: int = 2000, due: datetime = NOW + GRACE) -> Decision:
    """A decision for which a queue is told."""
    return Decision(
        policy="deserved",
        ask=PodFacts(uid="u", namespace="prod", name="a", queue="root.prod", application="a", priority=0, requests={}),
        outcome=Decided.NOT_ELIGIBLE,
        reason=Reason.GRACE,
        notices=(ReclaimNotice(queue=path, over={"cpu": cpu}, due_ms=int(due.timestamp() * 1000)),),
    )


def follow(cluster: Cluster, *decisions: Decision, now: datetime = NOW) -> bool:
    """A pass that decided these."""
    return reclaim_notices.follow(cluster=cluster, before=reclaim_notices.told(cluster), decisions=decisions, now=now)


def told(cluster: Cluster) -> Mapping[str, datetime]:
    """Queue -> when it was told."""
    return {queue: datetime.fromtimestamp(ms / 1000, UTC) for queue, ms in reclaim_notices.told(cluster).items()}


def running(name: str, path: str = "root.test", **settings: Any) -> Pod:
    """A pod of a queue, on a node."""
    return msgspec.structs.replace(pod(name, node="n1", **settings), queue=path)


def notices(cluster: Cluster) -> Any:
    """As they are stored."""
    return models.Notice.objects.filter(cluster=cluster)


def test_a_queue_stays_told_since_it_was_told_first(cluster: Cluster) -> None:
    """Whatever it uses by then, and however often passes name it."""
    follow(cluster, asking())
    follow(cluster, asking(cpu=1000), now=NOW + timedelta(seconds=10))
    assert told(cluster) == {"root.test": NOW}
    assert [(one.over, one.due_at) for one in notices(cluster)] == [({"cpu": 1000}, NOW + GRACE)]


def test_a_queue_that_no_decision_names_any_more_is_forgotten(cluster: Cluster) -> None:
    """If it is named again, its time begins anew."""
    follow(cluster, asking())
    follow(cluster, now=NOW + timedelta(seconds=1))
    assert told(cluster) == {}
    follow(cluster, asking(), now=NOW + timedelta(seconds=2))
    assert told(cluster) == {"root.test": NOW + timedelta(seconds=2)}


def test_what_was_told_in_another_mode_is_void(cluster: Cluster) -> None:
    """Nobody was told for real while a cluster was observed."""
    Cluster.objects.filter(pk=cluster.pk).update(mode="observe")
    cluster.refresh_from_db()
    follow(cluster, asking())
    Cluster.objects.filter(pk=cluster.pk).update(mode="enforce")
    cluster.refresh_from_db()
    assert told(cluster) == {}
    later = NOW + timedelta(minutes=1)
    follow(cluster, asking(due=later + GRACE), now=later)
    assert told(cluster) == {"root.test": later}


def test_it_is_news_when_somebody_is_told_or_forgotten_or_told_otherwise(cluster: Cluster) -> None:
    """And only then, so that pages rest where nothing changes."""
    assert follow(cluster, asking())
    assert not follow(cluster, asking())
    assert follow(cluster, asking(cpu=1000))
    assert follow(cluster)
    assert not follow(cluster)


def test_the_pods_that_would_go_first_are_told_once(cluster: Cluster, watch: Watch, settings: Any) -> None:
    """The lowest priority first, of these the newest; no more of them than people would read."""
    first = running("low", priority=-1)
    others = [running(f"pod-{number}", priority=5, created_ms=number) for number in range(reclaim_notices.PODS + 5)]
    foreign = running("foreign", "root.prod", priority=-9)
    follow(cluster, asking())
    for _ in range(2):
        reclaim_notices.publish(cluster=cluster, executor=watch.actuator, pods=[*others, foreign, first])
    said = watch.actuator.said
    assert [name for name, _ in said[:3]] == ["low", "pod-24", "pod-23"]
    assert len(said) == reclaim_notices.PODS
    assert "foreign" not in {name for name, _ in said}
    assert said[0][1] == (
        "root.test uses cpu 2 more than its deserved share, and other queues need it. Delete pods of your choice until "
        "2026-01-05 12:00:30 UTC. After that, pods of the queue may be evicted. "
        f"Details: {settings.SITE_URL}/clusters/prod/queues/root.test/"
    )


def test_in_advise_they_are_told_that_nothing_is_evicted(cluster: Cluster, watch: Watch) -> None:
    """The same, and what it is worth."""
    cluster.mode = Cluster.Mode.ADVISE
    follow(cluster, asking())
    reclaim_notices.publish(cluster=cluster, executor=watch.actuator, pods=[running("t")])
    assert "so no pods are evicted" in watch.actuator.said[0][1]


def test_what_the_cluster_did_not_answer_is_said_again(
    cluster: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the next pass."""
    follow(cluster, asking())
    pods, answer = [running("t")], watch.actuator.event
    monkeypatch.setattr(watch.actuator, "event", lambda *_: Result(outcome=OperationOutcome.RETRY))
    reclaim_notices.publish(cluster=cluster, executor=watch.actuator, pods=pods)
    monkeypatch.setattr(watch.actuator, "event", answer)
    reclaim_notices.publish(cluster=cluster, executor=watch.actuator, pods=pods)
    assert [name for name, _ in watch.actuator.said] == ["t"]


def test_a_cluster_that_does_not_answer_is_not_asked_again_in_that_pass(
    cluster: Cluster, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of a hundred Events would wait for it."""
    asked: list[str] = []

    def no_answer(one: Pod, *_: str) -> Result:
        asked.append(one.name)
        return Result(outcome=OperationOutcome.RETRY)

    names = ["root.q1", "root.q2"]
    follow(cluster, *(asking(name) for name in names))
    monkeypatch.setattr(watch.actuator, "event", no_answer)
    pods = [running(f"{name}-{number}", name) for name in names for number in range(3)]
    reclaim_notices.publish(cluster=cluster, executor=watch.actuator, pods=pods)
    assert len(asked) == 1


def test_who_is_due_first_is_told_first(cluster: Cluster, watch: Watch) -> None:
    """Others have more time to be told."""
    late = [asking(f"root.a{number}", due=NOW + 2 * GRACE) for number in range(reclaim_notices.QUEUES)]
    follow(cluster, *late, asking("root.z"))
    reclaim_notices.publish(cluster=cluster, executor=watch.actuator, pods=[running("z", "root.z")])
    assert [name for name, _ in watch.actuator.said] == ["z"]


def test_pods_that_never_go_are_told_nothing(cluster: Cluster, watch: Watch) -> None:
    """Nor those that are on their way out."""
    follow(cluster, asking())
    stay = [
        running("system", namespace="kube-system"),
        running("everywhere", controller="DaemonSet/d"),
        running("kept", opted_out=True),
        running("protected", shield=Shield.NAMESPACE),
        running("ends", terminating=True),
    ]
    reclaim_notices.publish(cluster=cluster, executor=watch.actuator, pods=[*stay, running("t")])
    assert [name for name, _ in watch.actuator.said] == ["t"]


def test_of_many_queues_each_pass_tells_a_few(cluster: Cluster, watch: Watch) -> None:
    """Until all are told."""
    names = [f"root.q{number}" for number in range(reclaim_notices.QUEUES + 2)]
    follow(cluster, *(asking(name) for name in names))
    pods = [running(name, name) for name in names]
    reclaim_notices.publish(cluster=cluster, executor=watch.actuator, pods=pods)
    assert len(watch.actuator.said) == reclaim_notices.QUEUES
    reclaim_notices.publish(cluster=cluster, executor=watch.actuator, pods=pods)
    assert {name for name, _ in watch.actuator.said} == set(names)


SHARED = tree({"prod": queue(delay_ms=30_000), "test": queue(delay_ms=30_000)})


@pytest.fixture
def divided(db: None) -> Cluster:
    """A cluster of four cores that is divided by shares: Test deserves three of them, and Prod one."""
    return add_cluster(SHARED, terms=Terms(policy="deserved", dialect="arbitrator"))


def test_passes_tell_first_and_take_when_the_time_is_over(divided: Cluster, watch: Watch) -> None:
    """Test, which has all four cores, is told on its pods; it keeps them for thirty seconds and loses one then."""
    with time_machine.travel(NOW, tick=False) as clock:
        run(divided, watch)
        assert told(divided) == {"root.test": NOW}
        assert {name for name, _ in watch.actuator.said} == {f"test-{number}" for number in range(4)}
        clock.shift(29)
        run(divided, watch)
        assert watch.actuator.evicted == []
        clock.shift(2)
        run(divided, watch)
        assert len(watch.actuator.evicted) == 1
        assert told(divided) == {"root.test": NOW}


def test_without_node_fit_pods_go_from_several_nodes_and_no_node_is_kept(db: None) -> None:
    """The ask is where the scheduler puts it then."""
    parameters = {"node_fit": False}
    cluster = add_cluster(SHARED, terms=Terms(policy="deserved", dialect="arbitrator", parameters=parameters))
    pods = [pod(f"test-{at}", queue="test", node=f"n{at % 2}", created_ms=at) for at in range(4)]
    watch = Watch(node("n0", 2), node("n1", 2), pods, ask("prod-0", queue="prod", cpu=2))
    with time_machine.travel(NOW, tick=False) as clock:
        run(cluster, watch)
        clock.shift(31)
        run(cluster, watch, times=2)
        assert watch.actuator.evicted == ["test-3", "test-2"]
        assert not [one for one in watch.actuator.did if one.startswith(("reserve", "release"))]
        watch.gone("test-2", "test-3")
        watch.bound("prod-0", "n1")
        run(cluster, watch)
    (decision,) = History.objects.filter(outcome="preempt")
    assert decision.ending == History.Ending.BOUND


def test_what_all_deserve_is_kept_with_each_pass_and_over_time(divided: Cluster, watch: Watch) -> None:
    """For pages and programs."""
    run(divided, watch)
    figures = models.ClusterStatus.objects.get(cluster=divided).queues
    deserved = {path: one["deserved"]["cpu"] for path, one in figures.items()}
    assert deserved == {"root": 4000, "root.prod": 1000, "root.test": 3000}
    assert figures["root.test"]["requested"]["cpu"] == 4000
    ((_at, now),) = sampled("root.test")
    assert now.amounts["cpu"].deserved == 3000


def test_under_other_policies_nothing_is_deserved(cluster: Cluster, watch: Watch) -> None:
    """There is no figure rather than a nought."""
    run(cluster, watch)
    assert "deserved" not in models.ClusterStatus.objects.get(cluster=cluster).queues["root"]
    ((_at, now),) = sampled("root.test")
    assert {amount.deserved for amount in now.amounts.values()} == {None}
