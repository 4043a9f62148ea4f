"""Tallies of hours that are over, and the rows of the rest, make up what counting all rows does."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.kinds import Kind, Kinds, Lost, Sort, pack, summed, unpack
from scheduler_admin.counts.models import Tally
from scheduler_admin.counts.selectors import filtered
from scheduler_admin.counts.selectors import stored as tally_selectors
from scheduler_admin.counts.selectors.filtered import Counts, count
from scheduler_admin.counts.selectors.pairs import preempted_pairs
from scheduler_admin.counts.selectors.timeline import timeline
from scheduler_admin.counts.services import DAY, HOUR, recount, tally
from scheduler_admin.counts.stacked import Stacked
from scheduler_admin.counts.totals import pack_totals, summed_totals
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.selectors.history_filters import Filters
from scheduler_admin.decisions.sentences import LOST
from scheduler_admin.decisions.services.index import mention
from scheduler_admin.ledger.repeat_victims import count_repeats, note_again
from scheduler_admin.worker import retention, tasks
from scheduler_admin.worker.recorder.victims import Books
from tests.counts.plain_counts import plain_counts
from tests.pages import rows
from tests.runner.suites import sized
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 10, 9, 40, tzinfo=UTC)
PASS_AT = NOW - timedelta(seconds=2)
QUEUES = ("root.a", "root.a.one", "root.a.two", "root.ab", "root.b.one")
ASKED: list[dict[str, str]] = [
    {},
    {"stack": "reason"},
    {"stack": "source"},
    {"source": "kueue"},
    {"queue": "root.a"},
    {"queue": "root.a.two", "stack": "source", "outcome": "bound"},
    *(
        {"outcome": outcome}
        for outcome in ("open", "on-hold", "dry-run", "failed-checks", "repeated", "rejected", "capacity-taken")
    ),
    # Which no tally tells.
    {"outcome": "all"},
    {"outcome": "no-candidate"},
    {"namespace": "ns-1"},
    {"node": "n1"},
]
LENGTHS = ("24h", "7d", "between")


@pytest.fixture(autouse=True)
def now() -> Iterator[None]:
    """A moment that lasts."""
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def ada(db: None) -> User:
    """Somebody who sees everything."""
    return User.objects.create_user("ada", role=User.Role.ADMIN)


def decided(cluster: Cluster, any_of: random.Random, at: datetime) -> tuple[Decision, list[Victim]]:
    """A decision of whatever kind, with its victims."""
    others = ["recorded", "on-hold", "on-hold", *Decision.OPEN[: at > NOW - timedelta(hours=3)]]
    state = any_of.choice(["closed"] * 6 + others)
    row = Decision(
        cluster=cluster,
        source=any_of.choice(["engine", "engine", "kueue", "kubelet"]),
        reason=any_of.choice(["below-guarantee", "lower-priority"]),
        state=state,
        ending=any_of.choice(["bound", "taken", "refused"]) if state == "closed" else "",
        outcome=any_of.choice(["preempt", "no-candidate"]) if state == "recorded" else "preempt",
        ask_queue=any_of.choice([*QUEUES, ""]),
        ask_namespace=any_of.choice(["ns-1", "ns-2"]),
        node=any_of.choice(["n1", "n2"]),
        first_seen=at,
        last_seen=any_of.choice([at, NOW]),
    )
    row.against_laws, row.again = (row.outcome == "preempt" and any_of.random() < 0.2 for _ in range(2))
    states = ["exited", "exited", "evicted", "chosen", "on-hold", "spared"]
    return row, [
        Victim(
            decision=row,
            cluster=cluster,
            position=position,
            uid=str(position),
            queue=any_of.choice(QUEUES),
            state=any_of.choice(states),
        )
        for position in range(any_of.choice([0, 1, 1, 2, 4]))
    ]


def past(cluster: Cluster, seed: int, many: int = 100) -> random.Random:
    """Decisions of three days, most of them of the last two."""
    any_of = random.Random(seed)
    made = []
    for _ in range(many):
        back = timedelta(days=any_of.choice([0.2, 2, 3])) * any_of.random()
        made.append(decided(cluster, any_of, any_of.choice([NOW - back, begun(NOW - back)])))
    Decision.objects.bulk_create([row for row, _victims in made])
    Victim.objects.bulk_create([victim for _row, victims in made for victim in victims])
    mention([row for row, _victims in made])
    return any_of


def begun(at: datetime) -> datetime:
    """The hour that holds a time: borders belong to what begins there."""
    return at.replace(minute=0, second=0, microsecond=0)


def tallied(cluster: Cluster, now: datetime = NOW) -> None:
    """As housekeeping does, often enough."""
    for _ in range(3):
        tally(cluster=cluster, now=now, for_s=60)


def filters(asked: dict[str, str], length: str = "between") -> Filters:
    """Of a page's address."""
    ends = {"from": "2026-02-24T03:20:00Z", "to": "2026-03-10T08:00:00Z"} if length == "between" else {}
    return Filters.of({"range": length, **ends, **asked}, NOW)


def told(counts: Counts, asked: Filters) -> tuple[Any, ...]:
    """All that a page tells of counts."""
    over_time = timeline(counts, asked)
    return counts.decisions, counts.refused, counts.shown, counts.since, over_time


def lost(counts: Counts) -> int:
    """All pods that were evicted."""
    return sum(counts.lost.by_name().values())


def assert_whole(user: User, cluster: Cluster) -> None:
    """Whatever is asked for is what all rows make."""
    for length in LENGTHS:
        for asked in (filters(each, length) for each in ASKED):
            found = told(count(user, cluster, asked, PASS_AT), asked)
            assert found == told(plain_counts(user, cluster, asked, PASS_AT), asked), asked


@pytest.mark.parametrize("seed", range(sized("worlds", usual=1, long=3)))
def test_tallies_and_live_rows_make_the_plain_count(cluster: Cluster, ada: User, seed: int) -> None:
    """For every filter and length; as they are, and as decisions come, change and go."""
    any_of = past(cluster, seed)
    tallied(cluster)
    assert Tally.objects.filter(span=HOUR, kinds__gt=0, document__isnull=False).exists()
    assert_whole(ada, cluster)
    for row in any_of.sample(list(Decision.objects.filter(state="closed")), 12):
        row.ending = any_of.choice(["taken", "bound"])
        row.save()
        row.victims.update(state="exited")
        recount(cluster=cluster, at=[row.first_seen])
    for row in any_of.sample(list(Decision.objects.all()), 6):
        recount(cluster=cluster, at=[row.first_seen])
        row.delete()
    assert_whole(ada, cluster)
    tallied(cluster)
    assert_whole(ada, cluster)


@pytest.mark.parametrize("seed", range(sized("worlds", usual=1, long=3)))
def test_who_preempted_whom_is_what_all_rows_make(cluster: Cluster, ada: User, seed: int) -> None:
    """Of tallies and of the rows that none tells of; for a tenant of rows about their own pods."""
    past(cluster, seed)
    Decision.objects.exclude(outcome="preempt").delete()
    Victim.objects.filter(queue__in=QUEUES[:2]).update(namespace="ns-1")
    mention(Decision.objects.all())
    tallied(cluster)
    tess = User.objects.create_user("tess", role=User.Role.TENANT)
    tess.tenants.add(Tenant.objects.create(name="one", namespaces=["ns-1"], subtrees=["root.a"]))
    for user in (ada, tess):
        for back in (timedelta(hours=1), timedelta(hours=30), timedelta(days=4)):
            want = Counter[tuple[str, str, str]]()
            own = Victim.objects.restrict(user, "view").filter(state__in=LOST, decision__first_seen__gte=NOW - back)
            for victim in own.select_related("decision"):
                want[victim.decision.ask_queue, victim.queue, victim.decision.source] += 1
            found = Counter[tuple[str, str, str]]()
            for pair, pods in chain.from_iterable(
                each.pods.items() for each in preempted_pairs(user, cluster, NOW - back)
            ):
                found[pair.asker, pair.victim, pair.source] += pods
            assert found == want


def test_a_month_is_whole_however_many_rows_may_be_read(
    cluster: Cluster, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where no tally tells, the newest are counted, and since when is told."""
    past(cluster, 7)
    Decision.objects.filter(state__in=Decision.OPEN).delete()
    tallied(cluster)
    monkeypatch.setattr(filtered, "COUNTED", 40)
    monkeypatch.setattr(filtered, "COUNTED_APART", 40)
    month = filters({})
    assert told(count(ada, cluster, month, PASS_AT), month) == told(plain_counts(ada, cluster, month, PASS_AT), month)
    everything = filters({"outcome": "all"})
    counts = count(ada, cluster, everything, PASS_AT)
    assert counts.decisions == 40
    assert counts.since is not None
    assert counts.since > everything.start


@pytest.mark.parametrize("query", [{"outcome": "all"}, {"namespace": "n"}, {}])
def test_of_what_no_tally_ever_tells_fewer_are_counted(
    cluster: Cluster, ada: User, monkeypatch: pytest.MonkeyPatch, query: dict[str, str]
) -> None:
    """Exactly those since the time that is told; what tallies could tell, and do not yet, is counted on."""
    past(cluster, 2)
    Decision.objects.update(ask_namespace="n")
    mention(Decision.objects.all())
    monkeypatch.setattr(filtered, "COUNTED_APART", 10)
    month = filters(query)
    counts = count(ada, cluster, month, PASS_AT)
    if month.tallied:
        assert counts.since is None
        assert told(counts, month) == told(plain_counts(ada, cluster, month, PASS_AT), month)
    else:
        assert counts.since is not None
        since = replace(month, start=counts.since)
        plain = plain_counts(ada, cluster, since, PASS_AT)
        assert (counts.decisions, lost(counts)) == (10, lost(plain))
        assert counts.shown == plain.shown


def test_of_more_kinds_than_can_be_added_up_the_newest_are(
    cluster: Cluster, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly those from the time on that is told."""
    past(cluster, 3)
    tallied(cluster)
    monkeypatch.setattr(tally_selectors, "MOST_KINDS", 25)
    month = filters({})
    counts = count(ada, cluster, month, PASS_AT)
    assert counts.since is not None
    assert month.start < counts.since < month.until
    since = Filters.of({"range": "between", "from": counts.since.isoformat(), "to": month.until.isoformat()}, NOW)
    plain = plain_counts(ada, cluster, since, PASS_AT)
    assert (counts.decisions, lost(counts)) == (plain.decisions, lost(plain))


def test_a_month_reads_few_rows(cluster: Cluster, ada: User) -> None:
    """Days where they are over, hours at both ends, and rows of what is left alone."""
    past(cluster, 5)
    Decision.objects.filter(state__in=Decision.OPEN).delete()
    tallied(cluster)
    with CaptureQueriesContext(connection) as asked:
        count(ada, cluster, filters({}), PASS_AT)
    gaps = [one for one in asked.captured_queries if "ORDER BY" in one["sql"] and "history_decision" in one["sql"]]
    assert len(gaps) == 1  # before there was anything
    assert len(asked.captured_queries) <= 6  # days, hours, their documents, and the rows, victims and held of the rest


def test_a_tenant_is_told_of_their_own_by_rows_alone(cluster: Cluster) -> None:
    """Tallies count the decisions of all: no tenant reads one."""
    past(cluster, 2)
    tallied(cluster)
    tess = rows.tenant_user(subtree="root.a", namespaces=("ns-1",))
    assert not Tally.objects.restrict(tess, "view").exists()
    assert_whole(tess, cluster)


def test_what_goes_on_is_not_tallied(cluster: Cluster, ada: User) -> None:
    """Its hour waits for it, and its day; others don't."""
    at = NOW - timedelta(days=2)
    going_on = rows.decision(cluster, "root.a", victims=("root.b",), first_seen=at, state="waiting", ending="")
    rows.decision(cluster, "root.a", victims=("root.b",), first_seen=at - timedelta(hours=3))
    tallied(cluster)
    due = Tally.objects.filter(document=None)
    assert set(due.values_list("start", "span")) == {(begun(at), HOUR), (begun(at).replace(hour=0), DAY)}
    going_on.state = "closed"
    going_on.save()
    tallied(cluster)
    assert not due.exists()
    assert_whole(ada, cluster)


def test_it_catches_up_after_days_in_bounded_steps(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest first, and no more than there is time for."""
    past(cluster, 1)
    Decision.objects.filter(state__in=Decision.OPEN).delete()
    tally(cluster=cluster, now=NOW, for_s=60)
    hours = Tally.objects.filter(span=HOUR)
    assert not hours.filter(document__isnull=False).exists()  # what a pass still stores finds its hour, and says so
    ticks = iter(range(1_000))
    monkeypatch.setattr("scheduler_admin.counts.services.time.monotonic", lambda: next(ticks))
    tally(cluster=cluster, now=NOW, for_s=6)
    written = list(hours.filter(document__isnull=False).order_by("-start"))
    assert [row.start for row in written] == [begun(NOW) - HOUR * n for n in range(1, len(written) + 1)]
    assert 1 <= len(written) <= 6


def test_an_hour_that_is_not_over_has_no_tally(cluster: Cluster) -> None:
    """Nor one that was over just now."""
    rows.decision(cluster, "root.a", victims=("root.b",), first_seen=NOW - timedelta(hours=2))
    tallied(cluster, begun(NOW) + timedelta(seconds=30))
    assert Tally.objects.filter(span=HOUR).latest("start").start == begun(NOW) - 2 * HOUR
    tallied(cluster, begun(NOW) + timedelta(minutes=1))
    assert Tally.objects.filter(span=HOUR).latest("start").start == begun(NOW) - HOUR


def test_the_same_again_writes_the_same(cluster: Cluster) -> None:
    """Nothing is counted twice."""
    past(cluster, 6)
    tallied(cluster)
    before = list(Tally.objects.order_by("pk").values())
    tallied(cluster)
    assert list(Tally.objects.order_by("pk").values()) == before


# Whoever changes what is counted says so


def long_over(cluster: Cluster, **fields: Any) -> Decision:
    """A decision of yesterday that is tallied."""
    at = NOW - timedelta(days=1)
    row = rows.decision(cluster, "root.a", victims=("root.b.one",), first_seen=at, **fields)
    tallied(cluster)
    assert not Tally.objects.filter(document=None).exists()
    return row


def test_a_victim_that_goes_after_its_decision_has_ended_is_counted(cluster: Cluster, ada: User) -> None:
    """It was asked to go, and no answer came."""
    row = long_over(cluster, closed_at=NOW - timedelta(minutes=30))
    row.victims.update(state="chosen", attempts=1)
    recount(cluster=cluster, at=[row.first_seen])
    tallied(cluster)
    assert lost(count(ada, cluster, filters({}), PASS_AT)) == 0
    assert Books(cluster=cluster, pod=lambda _uid: None).follow()
    assert lost(count(ada, cluster, filters({}), PASS_AT)) == 1
    assert_whole(ada, cluster)


def test_what_is_hit_again_and_again_is_counted_as_such(cluster: Cluster, ada: User) -> None:
    """Also where that is known late."""
    row = long_over(cluster)
    row.victims.update(preempted_in_day=3)
    note_again(cluster, [row.pk])
    assert count(ada, cluster, filters({"outcome": "repeated"}), PASS_AT).decisions == 1
    row.victims.update(preempted_in_day=None)
    count_repeats(cluster=cluster)
    assert count(ada, cluster, filters({"outcome": "repeated"}), PASS_AT).decisions == 0


def test_what_a_pass_stores_late_is_counted(cluster: Cluster, watch: Watch, ada: User) -> None:
    """Though its hour was over, and tallied, before."""
    rows.decision(cluster, "root.a", victims=("root.b.one",), first_seen=NOW - timedelta(hours=5))
    tallied(cluster, NOW + HOUR)
    assert not Tally.objects.filter(document=None).exists()
    run(cluster, watch)
    assert Tally.objects.filter(document=None, span=HOUR).get().start == begun(NOW)


def test_what_is_past_its_time_is_counted_no_more(cluster: Cluster, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """With it go the tallies of its days; those after them stay."""
    monkeypatch.setattr(retention, "KEEP_PREEMPTIONS", 5 * DAY)
    _gone, left, kept = (
        rows.decision(cluster, "root.a", victims=("root.b",), first_seen=at, last_seen=at)
        for at in (NOW - 5 * DAY - HOUR, NOW - 5 * DAY + HOUR, NOW - 2 * DAY)
    )
    tallied(cluster)
    tasks.prune()
    tallied(cluster)
    assert set(Decision.objects.all()) == {left, kept}
    assert Tally.objects.earliest("start").start == begun(NOW - 4 * DAY).replace(hour=0)
    assert count(ada, cluster, filters({}), PASS_AT).decisions == 2
    assert_whole(ada, cluster)


# What a tally holds

# Those that stand before and behind what lies below root.a, and what is of no queue.
queues = st.sampled_from([*QUEUES, "root.a-one", "root.a0", ""])
sorts = st.builds(
    Sort,
    st.sampled_from(["engine", "kueue"]),
    st.sampled_from(["below-guarantee", "x"]),
    st.sampled_from(["closed", "recorded", "on-hold"]),
    st.sampled_from(["", "bound", "refused"]),
    st.booleans(),
    st.booleans(),
)
pods = st.integers(0, 70_000)
victims = st.dictionaries(queues, st.tuples(pods, pods), max_size=4).map(
    lambda found: tuple(Lost(queue, *some) for queue, some in sorted(found.items()))
)
kinds = st.dictionaries(st.builds(Kind, sorts, queues, victims), st.integers(1, 300), max_size=12).map(Kinds)


@given(kinds)
def test_kinds_are_read_as_they_were_stored(stored: Kinds) -> None:
    """However many, of however many pods."""
    assert unpack(pack(stored)) == stored


@given(kinds, st.sampled_from([*(one for one in ASKED if filters(one).tallied), {"queue": "root.aa"}]))
def test_kinds_are_added_up_as_one_by_one(stored: Kinds, asked: dict[str, str]) -> None:
    """Of those that the filters leave."""
    which = filters(asked)
    left = {
        kind: many
        for kind, many in stored.items()
        if kind.sort.asked_for(which)
        and any(
            f"{name}.".startswith(f"{which.queue}." if which.queue else "")
            for name in (kind.asker, *(victim.queue for victim in kind.victims))
        )
    }
    by_name: Counter[str] = Counter()
    for kind, many in left.items():
        for victim in kind.victims:
            name = victim.queue if which.stack == "queue" else getattr(kind.sort, which.stack)
            by_name[name] += many * victim.pods
    lost, again = Stacked(), Stacked()
    sums = summed(pack(stored), which, NOW, lost)
    if not which.queue:
        assert summed_totals(pack_totals(stored), which, NOW, again) == sums
        assert again.by_name() == lost.by_name()
    assert (sums.decisions, lost.by_name()) == (sum(left.values()), +by_name)
    assert sums.refused == sum(many for kind, many in left.items() if kind.sort.ending == "rejected")
    assert sums.waiting == sum(many * victim.waiting for kind, many in left.items() for victim in kind.victims)
