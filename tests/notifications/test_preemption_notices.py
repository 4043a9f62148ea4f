"""Tenants are told of their victims exactly when they are: with what happened, once, and of nobody else's."""

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import msgspec
import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import get_language

from engine.cluster.acting.outcomes import EvictionOutcome, EvictionResult
from engine.model.decision import PodFacts
from engine.model.objects import Preempted
from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.services.site import change_site
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.sentences import why_victim
from scheduler_admin.notifications.delivery.send import send_due
from scheduler_admin.notifications.events import preemptions
from scheduler_admin.notifications.models import Channel, Notification
from scheduler_admin.notifications.selectors import enabled_for, latest
from scheduler_admin.notifications.services import add_channel
from scheduler_admin.worker.retention import KEEP_NOTIFICATIONS
from scheduler_admin.worker.tasks import prune
from tests.api import builders
from tests.builders import ask, node, pod
from tests.notifications.conftest import NOON
from tests.worker.passing import preemption, run
from tests.worker.watch import ACCEPTED, Watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock() -> Any:
    """It is noon, until the test says otherwise."""
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def cluster(clock: time_machine.Traveller, cluster: Cluster) -> Cluster:
    return cluster


def pods(namespace: str = "test-ns", **settings: Any) -> list[Any]:
    """Test's four, which fill the node."""
    return [pod(f"test-{n}", queue="test", node="n1", app="etl", namespace=namespace, **settings) for n in range(4)]


@pytest.fixture
def watch() -> Watch:
    """Prod asks for two cores: two pods of etl have to go. Every name of prod's is a canary."""
    return Watch(node("n1", 4), pods(), ask("canary-ask", queue="prod", cpu=2, namespace="canary-ns", app="canary-app"))


@pytest.fixture
def test_tenant(db: None) -> Tenant:
    return create_tenant(name="test", namespaces=["test-ns"], subtrees=["root.test"])


@pytest.fixture
def channel(clock: time_machine.Traveller, test_tenant: Tenant) -> Channel:
    return listening(test_tenant)


def listening(tenant: Tenant, **values: Any) -> Channel:
    """A channel of a tenant's."""
    values = {"name": f"channel {Channel.objects.count()}", **values}
    return add_channel(tenant=tenant, kind="email", address="who@example.com", values=values, actor=None)


def told(event: str = "") -> list[tuple[str, str]]:
    """Event and headline of what is in the outbox."""
    rows = Notification.objects.filter(event=event) if event else Notification.objects.all()
    return [(row.event, row.lines[0]) for row in rows.order_by("pk")]


GOING = (
    "about-to-be-preempted",
    "2 pods of etl in namespace test-ns are about to be preempted. They must stop by 2026-01-05 12:00:30 UTC.",
)
GONE = ("preempted", "2 pods of etl in namespace test-ns were preempted.")


def test_an_application_is_told_before_and_after(cluster: Cluster, watch: Watch, channel: Channel) -> None:
    """Once while its grace runs, once when the last has gone: one message for all its pods."""
    run(cluster, watch)
    assert told() == [GOING]
    first, second = preemption().victims.values_list("name", flat=True)
    watch.gone(first)
    run(cluster, watch)
    assert told() == [GOING]
    watch.gone(second)
    run(cluster, watch, times=2)
    assert told() == [GOING, GONE]


def test_it_says_why_and_where_to_read_on(cluster: Cluster, watch: Watch, channel: Channel) -> None:
    """The sentence of the pod's page, and the facts for programs."""
    run(cluster, watch)
    row, decision = Notification.objects.get(), preemption()
    assert "is being evicted from n1 because prod was below its guarantee while test was 2 cores above" in row.lines[1]
    assert row.link == "http://127.0.0.1:8000/pods/?q=etl&namespace=test-ns&show=preempted"
    assert row.facts == {
        "cluster": "east",
        "namespace": "test-ns",
        "application": "etl",
        "queue": "root.test",
        "pods": list(decision.victims.values_list("name", flat=True)),
        "pod_count": 2,
        "exit_deadline": "2026-01-05T12:00:30+00:00",
        "decision_id": decision.pk,
        "source": "engine",
        "preemptor": {"queue": "root.prod"},
    }


def test_in_the_channels_language(cluster: Cluster, watch: Watch, channel: Channel) -> None:
    """Not in that of the worker."""
    Channel.objects.update(language="zh-hans")
    run(cluster, watch)
    assert Notification.objects.get().lines[1] != ""
    assert "驱逐" in Notification.objects.get().lines[1]


@pytest.mark.parametrize(
    ("level", "names"),
    [("none", []), ("queue", ["queue"]), ("uid", ["queue", "uid"]), ("name", ["queue", "uid", "namespace", "name"])],
)
def test_of_the_preemptor_it_says_what_the_site_tells(
    cluster: Cluster, watch: Watch, channel: Channel, level: str, names: list[str]
) -> None:
    """And nothing else of another tenant's."""
    change_site(preemptor=level, reason="a test")
    run(cluster, watch)
    row = Notification.objects.get()
    assert set(row.facts["preemptor"]) == set(names)
    said = f"{row.lines}{row.link}{row.facts}"
    assert ("prod" in said) is (level != "none")
    assert ("canary" in said) is (level in ("uid", "name"))
    assert ("canary-ns" in said) is (level == "name")
    assert "canary-app" not in said


def test_others_are_told_nothing(cluster: Cluster, watch: Watch, test_tenant: Tenant, clock: Any) -> None:
    """Neither the asker's tenant, nor who only has the queue, nor who wants to know of something else."""
    listening(create_tenant(name="prod", namespaces=["canary-ns"], subtrees=["root.prod"]))
    listening(create_tenant(name="queue", namespaces=["other"], subtrees=["root.test"]))
    listening(test_tenant, going=False, preempted=False)
    listening(test_tenant, enabled=False)
    run(cluster, watch)
    for victim in preemption().victims.all():
        watch.gone(victim.name)
    run(cluster, watch)
    assert told() == []


def test_each_tenant_is_told_of_its_own_pods(cluster: Cluster, watch: Watch, channel: Channel) -> None:
    """Of one decision each its part; a pod of no application is one of its own."""
    other = listening(create_tenant(name="other", namespaces=["other"]))
    for one in list(watch.state.pods.values()):
        if one.name in ("test-0", "test-1"):
            watch.put(msgspec.structs.replace(one, namespace="other", application_label="", controller=""))
    watch.put(ask("canary-ask", queue="prod", cpu=2, namespace="canary-ns"))
    run(cluster, watch)
    by_namespace = {victim.namespace for victim in preemption().victims.all()}
    channels = {row.channel for row in Notification.objects.all()}
    assert channels == {{"other": other, "test-ns": channel}[name] for name in by_namespace}
    for row in Notification.objects.all():
        assert row.facts["namespace"] in row.channel.tenant.namespaces


def test_what_is_held_back_or_only_shown_is_not_told(cluster: Cluster, watch: Watch, channel: Channel) -> None:
    """Nothing has happened."""
    cluster.mode = Cluster.Mode.ADVISE
    cluster.save()
    run(cluster, watch, times=3)
    assert preemption().state == "recorded"
    assert told() == []


def test_of_a_decision_that_ends_halfway_those_are_told_of_who_went(
    cluster: Cluster, watch: Watch, channel: Channel
) -> None:
    """The others were spared."""
    answers = iter([ACCEPTED, EvictionResult(outcome=EvictionOutcome.BLOCKED, sentence="two budgets")])
    watch.actuator.evict = _answering(watch, answers)
    run(cluster, watch)
    row = preemption()
    assert row.ending == Decision.Ending.BLOCKED
    went = row.victims.get(state=Victim.State.EVICTED)
    assert told("preempted") == [("preempted", f"Pod {went.name} in namespace test-ns was preempted.")]
    assert Notification.objects.get(event="preempted").link.endswith(f"/pods/east/test-ns/{went.name}/")
    watch.gone(went.name)
    run(cluster, watch)
    assert len(told("preempted")) == 1


def _answering(watch: Watch, answers: Any) -> Callable[..., EvictionResult]:
    inner = watch.actuator.evict

    def evict(victim: Any, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        return inner(victim, dry_run=dry_run, again=again) if dry_run else next(answers)

    return evict


def test_nothing_is_told_of_what_was_not_taken_down(
    cluster: Cluster, watch: Watch, channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are written in one transaction: who dies in between loses both, and the next pass writes both, once."""
    books = "scheduler_admin.worker.recorder.victims"
    real = preemptions.tell_going

    def dies(*given: Any) -> None:
        real(*given)
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(f"{books}.tell_going", dies)
        with pytest.raises(SystemExit):
            run(cluster, watch)
    assert (told(), Victim.objects.filter(state=Victim.State.EVICTED).count()) == ([], 0)
    run(cluster, watch)
    assert told() == [GOING]


@pytest.mark.django_db(transaction=True)
def test_a_channel_that_is_removed_meanwhile_undoes_no_pass(
    cluster: Cluster, watch: Watch, test_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tenant may do that at any moment; it is told nothing any more, the others are."""
    gone = listening(test_tenant)
    listening(test_tenant)
    real = enabled_for

    def removed(event: str) -> Any:
        found = list(real(event))
        Channel.objects.filter(pk=gone.pk).delete()
        return found

    monkeypatch.setattr(preemptions, "enabled_for", removed)
    run(cluster, watch)
    assert preemption().victims.filter(state=Victim.State.EVICTED).count() == 2
    assert [one.event for channel in Channel.objects.all() for one in latest(channel)] == [GOING[0]]
    assert send_due(now=timezone.now() + timedelta(minutes=1)) == 1


def test_what_can_not_be_told_keeps_nobody_else_from_being_told(
    cluster: Cluster, watch: Watch, test_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message of a pass may be odd; those after it are written."""
    listening(test_tenant, name="odd", language="zh-hans")
    listening(test_tenant, name="plain")
    real = why_victim

    def breaks(*given: Any, **named: Any) -> Any:
        if get_language() == "zh-hans":
            raise ValueError("a sentence that can't be said")
        return real(*given, **named)

    monkeypatch.setattr(preemptions, "why_victim", breaks)
    run(cluster, watch)
    assert told() == [GOING]


def test_what_can_not_be_told_undoes_nothing(
    cluster: Cluster, watch: Watch, channel: Channel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """That a pod was evicted is taken down all the same, and the log says what went wrong."""

    def breaks(*_given: Any, **_named: Any) -> None:
        raise ValueError("a sentence that can't be said")

    monkeypatch.setattr(preemptions, "why_victim", breaks)
    run(cluster, watch)
    assert preemption().state == Decision.State.WAITING
    assert (told(), "Creating a notification failed" in caplog.text) == ([], True)


def test_who_was_gone_before_an_answer_came_is_told_of(cluster: Cluster, watch: Watch, channel: Channel) -> None:
    """The worker may have died in between, and the eviction was ours all the same."""
    for number in range(4):
        watch.actuator.evicting[f"test-{number}"] = EvictionResult(outcome=EvictionOutcome.RETRY)
    run(cluster, watch)
    assert told() == []
    watch.gone(*preemption().victims.values_list("name", flat=True))
    run(cluster, watch)
    assert told() == [GONE]


def test_an_ever_lasting_grace_has_its_end(cluster: Cluster, watch: Watch, channel: Channel) -> None:
    """As many seconds as 64 bits hold."""
    watch.put(pods(grace_s=2**63 - 1))
    run(cluster, watch)
    assert "by 2026-02-04 12:00:00 UTC" in told()[0][1]


class TestOfOthers:
    """What kube-scheduler preempts is told alike, what a kubelet evicts is not."""

    @pytest.fixture
    def cluster(self, cluster: Cluster) -> Cluster:
        cluster.mode = Cluster.Mode.OBSERVE
        cluster.save()
        return cluster

    def going(self, watch: Watch, reason: str = "PreemptionByScheduler", ago: int = 5) -> None:
        """Two of etl were told to go."""
        at = int((timezone.now() - timedelta(seconds=ago)).timestamp() * 1000)
        for one in pods(terminating=True, disruption=reason, disrupted_ms=at)[:2]:
            watch.put(one)

    def test_before_and_after(
        self, cluster: Cluster, watch: Watch, channel: Channel, clock: time_machine.Traveller
    ) -> None:
        """With who it was."""
        clock.shift(60)
        self.going(watch)
        run(cluster, watch, times=2)
        ((event, headline),) = told()
        assert (event, "by 2026-01-05 12:01:25 UTC" in headline) == ("about-to-be-preempted", True)
        assert Notification.objects.get().facts["source"] == "kube-scheduler"
        watch.gone("test-0")
        run(cluster, watch)
        assert len(told()) == 1
        watch.gone("test-1")
        run(cluster, watch, times=2)
        assert told("preempted") == [GONE]

    def test_once_though_it_is_learned_later_for_whom(
        self, cluster: Cluster, watch: Watch, channel: Channel, clock: time_machine.Traveller
    ) -> None:
        """An Event moves a victim to another decision: its tenant has been told."""
        clock.shift(60)
        self.going(watch)
        run(cluster, watch)
        event = Preempted(
            uid="uid-test-0",
            namespace="test-ns",
            name="test-0",
            at_ms=int(timezone.now().timestamp() * 1000),
            node="n1",
            ask_uid="uid-canary-ask",
            ask_namespace="canary-ns",
            ask_name="canary-ask",
        )
        watch.put(event)
        run(cluster, watch, times=2)
        watch.gone("test-0", "test-1")
        run(cluster, watch, times=2)
        going, gone = Notification.objects.filter(event=GOING[0]), Notification.objects.filter(event="preempted")
        assert sorted(uid for row in going for uid in row.pods) == ["uid-test-0", "uid-test-1"]
        assert sorted(uid for row in gone for uid in row.pods) == ["uid-test-0", "uid-test-1"]

    def test_an_eviction_for_no_ask_is_no_preemption(
        self, cluster: Cluster, watch: Watch, channel: Channel, clock: time_machine.Traveller
    ) -> None:
        """It is recorded, and told nobody."""
        clock.shift(60)
        self.going(watch, "TerminationByKubelet")
        run(cluster, watch)
        assert (Victim.objects.count(), told()) == (2, [])

    def test_what_was_before_the_channel_is_no_news(self, cluster: Cluster, watch: Watch, channel: Channel) -> None:
        """A cluster that is connected tells of what happened before."""
        self.going(watch, ago=120)
        run(cluster, watch)
        assert (Victim.objects.count(), told()) == (2, [])


def test_what_was_told_is_kept_for_a_month(cluster: Cluster, watch: Watch, channel: Channel, clock: Any) -> None:
    """Then it is dropped."""
    run(cluster, watch)
    prune()
    assert len(told()) == 1
    clock.shift(KEEP_NOTIFICATIONS + timedelta(seconds=1))
    prune()
    assert told() == []


def test_many_take_as_many_queries_as_few(cluster: Cluster, test_tenant: Tenant) -> None:
    """Whatever one pass takes, of however many applications, however many channels tell of it: written in pieces."""
    few, many = (queries_of(cluster, test_tenant, *size) for size in ((5, 2), (50, 20)))
    assert Notification.objects.count() == 2 * (5 * 2 + 50 * 20)
    assert len(few) == len(many)
    assert len(many) < 20


def queries_of(cluster: Cluster, tenant: Tenant, applications: int, channels: int) -> list[str]:
    """What is asked while these are told to so many channels, and again when they have gone; a piece counts once."""
    while Channel.objects.count() < channels:
        listening(tenant)
    victims = []
    for number in range(applications):
        gone = PodFacts(
            uid=f"uid-{applications}-{number}", name=f"gone-{applications}-{number}", namespace="test-ns",
            queue="root.test", application=f"app-{applications}-{number}", priority=1, requests={}, node="n1",
        )  # fmt: skip
        row = builders.decision(cluster, ask=builders.blue_pod(f"ask-{number}"), victims=(gone,), source="kueue")
        row.victims.update(evicted_at=NOON, state=Victim.State.EVICTED)
        victims += list(row.victims.select_related("decision__cluster").defer("decision__document"))
    rows = [victim.decision for victim in victims]
    with CaptureQueriesContext(connection) as asked:
        preemptions.tell_recorded(victims, NOON)
        for row, victim in zip(rows, victims, strict=True):
            victim.state, row.state = Victim.State.EXITED, Decision.State.CLOSED
        preemptions.tell_preempted([(row, [victim]) for row, victim in zip(rows, victims, strict=True)], NOON)
    said = [query["sql"] for query in asked]
    return [sql for before, sql in pairwise(["", *said]) if not (before[:6] == sql[:6] == "INSERT")]
