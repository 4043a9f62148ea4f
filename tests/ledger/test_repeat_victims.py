"""How often a victim's application was preempted in the day up to then is counted, and told from three times on."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.history_filters import Filters
from scheduler_admin.ledger.repeat_victims import Repeat, _counted, _Hit, count_repeats, note_again, repeats
from tests.pages import rows
from tests.worker.passing import preemption, run
from tests.worker.watch import Watch

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
LEAF = "root.tenant-1.queue-b"


@pytest.fixture
def noon():
    """A moment that lasts."""
    with time_machine.travel("2026-01-05T12:00:00Z", tick=False):
        yield


@pytest.fixture
def here() -> Cluster:
    """A cluster without a history."""
    return rows.cluster("demo")


def hit(here: Cluster, hours_ago: float, *, pods: int = 1, app: str = "etl", namespace: str = "search", **fields):
    """A decision that took pods of an application so long ago."""
    row = rows.decision(here, "root.tenant-1.training", minutes=hours_ago * 60, outcome="preempt", **fields)
    for position in range(pods):
        rows.victim(row, LEAF, position, application=app, namespace=namespace)
    return row


def counts(here: Cluster) -> list[int | None]:
    """What is counted of each victim, in the order in which they went."""
    count_repeats(cluster=here)
    return list(Victim.objects.order_by("evicted_at", "pk").values_list("preempted_in_day", flat=True))


def listed(here: Cluster, user: User | None = None) -> list[Repeat]:
    """Who is hit again and again, for somebody who sees everything."""
    return repeats(user or rows.user("ada", User.Role.AUDITOR), here, timezone.now())


def test_a_pass_counts_what_it_evicts(cluster: Cluster, watch: Watch) -> None:
    """With the next one at the latest."""
    run(cluster, watch, times=2)
    assert preemption().victims.get().preempted_in_day == 1


def test_each_preemption_counts_once_however_many_pods_it_takes(here: Cluster) -> None:
    """Those of the 24 hours up to then: one of just 24 hours before is out."""
    for hours, pods in ((26, 2), (10, 1), (3, 3), (2, 1)):
        hit(here, hours, pods=pods)
    assert counts(here) == [1, 1, 2, 3, 3, 3, 3]


@pytest.mark.parametrize(
    "other",
    [
        {"app": "web"},
        {"namespace": "vision"},
        {"source": Decision.Source.KUBELET},
        {"source": Decision.Source.API_EVICTION},
    ],
)
def test_only_preemptions_of_the_same_application_count(here: Cluster, other: dict[str, str]) -> None:
    """In the same namespace; a pod that was evicted for other reasons was not preempted."""
    hit(here, 3)
    hit(here, 2, **other)
    hit(here, 1)
    assert counts(here)[2] == 2


def test_clusters_are_counted_each_by_itself(here: Cluster) -> None:
    """Namesakes of another are others."""
    hit(here, 2)
    hit(rows.cluster("other"), 1)
    count_repeats(cluster=here)
    assert list(Victim.objects.order_by("pk").values_list("preempted_in_day", flat=True)) == [1, None]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 5)), min_size=1, max_size=12))
def test_counts_are_those_of_a_plain_look_back(taken: list[tuple[int, int]]) -> None:
    """Hours and decisions of one application's victims, in whatever order they are read."""
    at = {hour: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hour) for hour, _decision in taken}
    hits = [_Hit(pk, ("ns", "etl"), at[hour], decision, True, None) for pk, (hour, decision) in enumerate(taken)]
    found = dict(_counted(hits, since=min(at.values())))
    assert found == {
        pk: len({decision for other, decision in taken if hour - 24 < other <= hour})
        for pk, (hour, _decision) in enumerate(taken)
    }


def test_what_is_known_late_counts_for_what_went_after_it(here: Cluster) -> None:
    """As an Event may come late."""
    hit(here, 2)
    hit(here, 1)
    assert counts(here) == [1, 2]
    hit(here, 4)
    assert counts(here) == [1, 2, 3]


def test_what_hits_again_and_again_is_taken_down_of_the_decision(here: Cluster) -> None:
    """Also where that is known late, and taken back where its victim went for another."""
    hit(here, 2)
    last = hit(here, 1)
    counts(here)
    assert not Decision.objects.filter(again=True).exists()
    hit(here, 4)
    counts(here)
    assert list(Decision.objects.filter(again=True)) == [last]
    last.victims.update(preempted_in_day=None)
    note_again(here, [last.pk])
    assert not Decision.objects.filter(again=True).exists()


def test_a_pod_that_was_not_evicted_is_not_counted(here: Cluster) -> None:
    """One that a decision only would have taken."""
    row = hit(here, 1)
    row.victims.update(evicted_at=None, state=Victim.State.CHOSEN)
    assert counts(here) == [None]


def test_the_list_has_those_that_were_preempted_three_times_in_the_last_day(here: Cluster) -> None:
    """The most often hit first, with what they lost."""
    for hours, pods in ((30, 1), (5, 2), (4, 1), (3, 1)):
        hit(here, hours, pods=pods)
    for hours in (6, 5, 4, 3):
        hit(here, hours, app="web")
    for hours in (30, 2, 1):
        hit(here, hours, app="rare")
    started = datetime.fromisoformat("2026-01-05T05:00:00Z")
    Victim.objects.filter(application="web").update(started_at=started, requests=rows.amounts(("1",)))
    web, etl = listed(here)
    assert (web.application, web.times, web.pods) == ("web", 4, 4)
    assert web.work_lost == {"cpu": 1000 * 3600 * (1 + 2 + 3 + 4)}
    assert (etl.application, etl.times, etl.pods, etl.work_lost) == ("etl", 3, 4, None)
    assert etl.last.evicted_at == timezone.now() - timedelta(hours=3)
    assert etl.queues == (LEAF,)


def test_a_tenant_finds_their_own_alone(here: Cluster) -> None:
    """By the same list."""
    for hours in (3, 2, 1):
        hit(here, hours)
        hit(here, hours, app="canary-app", namespace="canary-ns")
    tess = rows.tenant_user("tess", "root.tenant-1", ("search",))
    assert [one.application for one in listed(here, tess)] == ["etl"]


def test_the_history_is_filtered_by_it(here: Cluster) -> None:
    """Decisions that hit somebody for the third time in a day."""
    found = [hit(here, hours) for hours in (3, 2, 1)]
    count_repeats(cluster=here)
    filters = Filters.of({"outcome": "repeated"}, timezone.now())
    assert list(filters.query.rows(User(role=User.Role.ADMIN), here)) == [found[2]]
    assert filters.address() == "outcome=repeated"
