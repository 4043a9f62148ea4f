"""The ledger: each victim is booked once, where it belongs, and stays when its decision goes."""

from datetime import date, timedelta

import msgspec
import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.utils import timezone

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.ledger.models import LedgerEntry
from scheduler_admin.ledger.services import book, unbook
from scheduler_admin.worker.cluster_removal import remove_cluster
from scheduler_admin.worker.retention import KEEP_PREEMPTIONS
from scheduler_admin.worker.tasks import prune
from tests.pages import rows
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
TRAINING, QUEUE_B, SYSTEM = "root.tenant-1.training", "root.tenant-1.queue-b", "root.system"


@pytest.fixture
def noon():
    """A moment that lasts."""
    with time_machine.travel("2026-01-31T12:00:00Z", tick=False):
        yield


@pytest.fixture
def here() -> Cluster:
    """A cluster without a history."""
    return rows.cluster("demo")


def went(here: Cluster, *victims: str, ran: timedelta | None = timedelta(hours=1), **fields: object) -> Decision:
    """A decision for training that took pods of these queues, one core each, which had run so long."""
    row = rows.decision(here, TRAINING, victims=victims, **fields)
    started = None if ran is None else row.first_seen - ran
    row.victims.update(started_at=started, requests=rows.amounts(("1",)) | {"pods": 1})
    return row


def booked(here: Cluster) -> list[LedgerEntry]:
    """Everything that is booked by now."""
    book(cluster=here)
    return list(LedgerEntry.objects.order_by("month", "losing_queue", "gaining_queue", "pk"))


def test_a_pass_books_what_it_evicted_once_it_has_gone(cluster: Cluster, watch: Watch) -> None:
    """Pods, what they had requested, and the work that was thrown away: of one core for an hour. Once."""
    now_ms = int(timezone.now().timestamp() * 1000)
    for one in [one for one in watch.state.pods.values() if one.node]:
        watch.put(msgspec.structs.replace(one, started_ms=now_ms - 3_600_000))
    run(cluster, watch)
    victim = preemption().victims.get()
    assert not LedgerEntry.objects.exists()
    watch.gone(victim.name)
    before = ClusterStatus.objects.get().news
    run(cluster, watch, times=3)
    entry = LedgerEntry.objects.get()
    assert (entry.month, entry.source, entry.pods, entry.unknown) == (date(2026, 1, 1), "engine", 1, 0)
    assert (entry.losing_namespace, entry.losing_queue) == ("ns", "root.test")
    assert (entry.gaining_namespace, entry.gaining_queue) == ("ns", "root.prod")
    assert (entry.requests, entry.work) == ({"cpu": 1000}, {"cpu": 3_600_000})
    assert ClusterStatus.objects.get().news > before


def test_what_belongs_together_is_one_entry(here: Cluster) -> None:
    """The same month, source and both sides; every difference makes another."""
    went(here, QUEUE_B, QUEUE_B)
    went(here, QUEUE_B)
    went(here, QUEUE_B, ask_namespace="ads")
    went(here, QUEUE_B, source=Decision.Source.KUBE_SCHEDULER)
    went(here, SYSTEM)
    went(here, QUEUE_B, minutes=60 * 24 * 31)
    assert [(one.month.month, one.losing_queue, one.pods) for one in booked(here)] == [
        (12, QUEUE_B, 1),
        (1, SYSTEM, 1),
        (1, QUEUE_B, 3),
        (1, QUEUE_B, 1),
        (1, QUEUE_B, 1),
    ]
    assert booked(here)[2].work == {"cpu": 3 * 3_600_000}
    assert sum(one.pods for one in booked(here)) == 7


def test_months_are_those_of_utc(here: Cluster) -> None:
    """By when the pod was evicted."""
    row = went(here, QUEUE_B)
    row.victims.update(evicted_at="2026-01-01T00:30:00+01:00")
    assert [one.month for one in booked(here)] == [date(2025, 12, 1)]


def test_what_is_not_known_is_counted_and_not_made_up(here: Cluster) -> None:
    """Of a pod that was not seen to start."""
    went(here, QUEUE_B)
    went(here, QUEUE_B, ran=None)
    (entry,) = booked(here)
    assert (entry.pods, entry.unknown, entry.work) == (2, 1, {"cpu": 3_600_000})


@pytest.mark.parametrize(
    ("state", "closed", "count"),
    [("chosen", True, 0), ("spared", True, 0), ("evicted", False, 0), ("evicted", True, 1), ("exited", False, 1)],
)
def test_who_is_still_on_the_way_out_is_booked_later(here: Cluster, state: str, closed: bool, count: int) -> None:
    """Unless nobody waits for that any more; who was spared never is."""
    row = went(here, QUEUE_B, state=Decision.State.CLOSED if closed else Decision.State.WAITING)
    row.victims.update(state=state, evicted_at=timezone.now() if state in ("evicted", "exited") else None)
    assert len(booked(here)) == count


def test_a_pod_that_two_decisions_were_about_is_booked_once(here: Cluster) -> None:
    """With the first."""
    went(here, QUEUE_B)
    second = went(here, QUEUE_B, source=Decision.Source.KUBE_SCHEDULER)
    first = Victim.objects.order_by("pk")[0]
    second.victims.update(uid=first.uid)
    assert [(one.source, one.pods) for one in booked(here)] == [("engine", 1)]
    unbook([Victim.objects.get(pk=first.pk)])
    assert [(one.source, one.pods) for one in booked(here)] == [("engine", 1)]


def test_what_went_for_another_is_taken_out_again(here: Cluster) -> None:
    """Exactly what was booked of it; an entry that holds nothing any more goes."""
    went(here, QUEUE_B, ran=None)
    row = went(here, QUEUE_B)
    assert [(one.pods, one.unknown) for one in booked(here)] == [(2, 1)]
    unbook(row.victims.all())
    entry = LedgerEntry.objects.get()
    assert (entry.pods, entry.unknown, entry.requests, entry.work) == (1, 1, {"cpu": 1000}, {})
    Decision.objects.filter(pk=row.pk).update(ask_queue=SYSTEM)
    assert [one.gaining_queue for one in booked(here)] == [SYSTEM, TRAINING]
    unbook(Victim.objects.all())
    assert not LedgerEntry.objects.exists()


def test_the_ledger_stays_when_decisions_are_dropped(here: Cluster) -> None:
    """After two years they are; the books are kept."""
    went(here, QUEUE_B, SYSTEM)
    before = [(one.pods, one.requests, one.work) for one in booked(here)]
    with time_machine.travel(timezone.now() + KEEP_PREEMPTIONS + timedelta(days=1), tick=False):
        prune()
    assert not Decision.objects.exists()
    assert [(one.pods, one.requests, one.work) for one in booked(here)] == before


def test_a_cluster_with_a_ledger_is_not_removed_unless_its_history_may_go(here: Cluster) -> None:
    """Even when its decisions have gone."""
    went(here, QUEUE_B)
    booked(here)
    Decision.objects.all().delete()
    Cluster.objects.update(mode="observe", untidy=False)
    with pytest.raises(ValidationError, match="has a history"):
        remove_cluster(cluster=here, actor=None, reason="old")
    remove_cluster(cluster=here, actor=None, reason="old", with_history=True)
    assert not LedgerEntry.objects.exists()
