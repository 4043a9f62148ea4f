"""What happened is the sum of days and hours that are over and of the rest: at any time what all its rows make anew."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
import time_machine
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from engine.model.queue_tree import QueueTree
from engine.tree.reach import BY_GUARANTEES, CLAIMS
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.selectors.pairs import Pair, PairCount, preempted_pairs
from scheduler_admin.counts.services import recount, tally
from scheduler_admin.decisions.models import Victim
from scheduler_admin.decisions.sentences import LOST
from scheduler_admin.fences import descriptions
from scheduler_admin.fences.address import Choice
from scheduler_admin.fences.drawing.shapes import picture
from scheduler_admin.fences.pairs import pairs
from scheduler_admin.fences.scene import Scene
from tests.engine.test_reach import EXAMPLE
from tests.pages import rows
from tests.runner.suites import sized

pytestmark = pytest.mark.django_db
BEGIN = datetime(2026, 3, 10, 9, 40, tzinfo=UTC)
LENGTHS = (timedelta(hours=24), timedelta(days=2), timedelta(days=30))
TRAINING = "root.tenant-1.training"


@pytest.fixture
def cluster(db: None) -> Cluster:
    """A cluster in which nothing happened yet."""
    return Cluster.objects.create(name="demo")


@pytest.fixture
def reader(db: None) -> User:
    """Somebody who sees everything."""
    return rows.user("audrey", "auditor")


def preempted(cluster: Cluster, any_of: Random, at: datetime) -> None:
    """Some pods of one queue, or of two, go for a pod of another, or of one that is gone; whoever decides it."""
    queues = [*EXAMPLE.leaves, "root.gone"]
    made = rows.decision(
        cluster,
        any_of.choice(queues),
        victims=tuple(any_of.choices(queues, k=any_of.randint(1, 3))),
        first_seen=at,
        source=any_of.choice(["engine", "yunikorn", "kubelet"]),
        reason=any_of.choice(["below-guarantee", "below-guarantee", "daemonset", "last-resort"]),
    )
    recount(cluster=cluster, at=[made.first_seen])


def spared(cluster: Cluster, any_of: Random) -> None:
    """A pod that was said to have gone has not: what is over changes."""
    changed = any_of.choice(list(Victim.objects.filter(cluster=cluster).select_related("decision")))
    changed.state = any_of.choice(["spared", "exited"])
    changed.save()
    recount(cluster=cluster, at=[changed.decision.first_seen])


def tallied(cluster: Cluster, now: datetime) -> None:
    """Tally all that is over by then."""
    for _ in range(3):
        tally(cluster=cluster, now=now, for_s=60)


def anew(cluster: Cluster, since: datetime) -> Counter[Pair]:
    """All rows, one by one."""
    found = Victim.objects.filter(cluster=cluster, state__in=LOST, decision__first_seen__gte=since)
    return Counter(
        Pair(
            victim.decision.ask_queue,
            victim.queue,
            victim.decision.source,
            victim.decision.reason not in ("daemonset", "last-resort"),
        )
        for victim in found.select_related("decision")
    )


def scene_of(happened: tuple[PairCount, ...], seen: frozenset[str], chosen: str) -> Scene:
    """The example as it happened, for who sees some of its queues."""
    return Scene(EXAMPLE, BY_GUARANTEES, seen, Choice(chosen), happened, {})


def assert_whole(scene: Scene, counted: Counter[Pair]) -> None:
    """All figures are what one pass over all pairs makes, and the page shows no more and no less."""
    of, between = scene.tree, scene.between
    leaves = scene.seen.intersection(of.leaves)
    others = set(of.leaves) - leaves
    inside = {pair: pods for pair, pods in counted.items() if pair.asker in leaves and pair.victim in leaves}
    with_others = sum(pods for pair, pods in counted.items() if others.intersection(pair[:2]))
    assert between.total == counted.total()
    assert (between.inside, between.with_others) == (sum(inside.values()), with_others)
    assert between.elsewhere == counted.total() - sum(inside.values()) - with_others
    odd = sorted(
        ((pair, pods) for pair, pods in inside.items() if is_shut(of, pair)), key=lambda one: (-one[1], one[0])
    )
    assert between.odd(len(odd) + 1, lambda _pair: True) == odd
    assert between.odd(3, lambda pair: pair.asker == TRAINING) == [one for one in odd if one[0].asker == TRAINING][:3]
    through_shut = {pair[:2] for pair, _pods in odd}
    for asker in of.leaves:
        for victim in of.leaves:
            assert between.pods(asker, victim) == sum(n for pair, n in inside.items() if pair[:2] == (asker, victim))
            assert between.is_odd(asker, victim) == ((asker, victim) in through_shut)
    plain = scene_of((PairCount(counted),), scene.seen, scene.chosen)
    for shown in (picture, descriptions.rows, descriptions.odd, lambda one: pairs(one, QueryDict())):
        assert shown(scene) == shown(plain)


def is_shut(of: QueueTree, pair: Pair) -> bool:
    """Whether the tree lets nothing through there, or nothing of that kind."""
    border = BY_GUARANTEES.border(of, pair.asker, pair.victim)
    return not border.allowed and (pair.ordinary or border.reason not in CLAIMS)


@pytest.mark.parametrize("seed", range(sized("worlds", usual=2, long=10)))
def test_whatever_happens_and_whenever_it_is_over_all_rows_make_the_same(
    cluster: Cluster, reader: User, seed: int
) -> None:
    """Pods go, sometimes late, some have not gone after all, minutes pass, hours and days end, and may be tallied."""
    any_of = Random(seed)
    partly = frozenset(path for path in EXAMPLE.queues if path.startswith("root.tenant-1"))
    with time_machine.travel(BEGIN, tick=False) as clock:
        now = BEGIN
        for hours in range(30):
            preempted(cluster, any_of, now - timedelta(hours=hours))
        for _ in range(24):
            match any_of.choice(["pod", "pod", "late", "spared", "minute", "hour", "hour", "day"]):
                case "pod":
                    preempted(cluster, any_of, now)
                case "late":
                    preempted(cluster, any_of, now - timedelta(hours=any_of.randint(1, 40)))
                case "spared":
                    spared(cluster, any_of)
                case "minute":
                    now += timedelta(minutes=1)
                case "hour":
                    now += timedelta(hours=1)
                case "day":
                    now += timedelta(hours=any_of.randint(14, 30))
            clock.move_to(now, tick=False)
            if any_of.random() < 0.5:
                tallied(cluster, now)
            since = now - any_of.choice(LENGTHS)
            happened, counted = preempted_pairs(reader, cluster, since), anew(cluster, since)
            for seen in (frozenset(EXAMPLE.queues), partly):
                assert_whole(scene_of(happened, seen, any_of.choice(["", TRAINING, "root.tenant-1"])), counted)
        tallied(cluster, now)
        *over, rest = preempted_pairs(reader, cluster, now - timedelta(days=30))
        assert all(each.tallies for each in over)
        assert rest.pods.total() < sum(each.pods.total() for each in over)


def test_what_is_over_is_read_once(cluster: Cluster, reader: User) -> None:
    """Days and hours, each in one query. One more pod or minute reads neither again, and one more hour only hours."""
    any_of = Random(0)
    with time_machine.travel(BEGIN, tick=False) as clock:
        for hours in range(0, 200, 3):
            preempted(cluster, any_of, BEGIN - timedelta(hours=hours))
        tallied(cluster, BEGIN)
        assert read_for(reader, cluster, BEGIN) == 2
        preempted(cluster, any_of, BEGIN)
        assert read_for(reader, cluster, BEGIN) == 0
        assert read_for(reader, cluster, BEGIN + timedelta(minutes=1)) == 0
        later = BEGIN + timedelta(hours=1)
        clock.move_to(later, tick=False)
        tallied(cluster, later)
        assert read_for(reader, cluster, later) == 1


def read_for(reader: User, cluster: Cluster, at: datetime) -> int:
    """How many queries read what tallies say, for who looks at a week."""
    with time_machine.travel(at, tick=False), CaptureQueriesContext(connection) as said:
        preempted_pairs(reader, cluster, at - timedelta(days=7))
    return sum('"document" FROM "history_tally"' in query["sql"] for query in said)


def test_what_is_over_and_changes_is_read_again(cluster: Cluster, reader: User) -> None:
    """As soon as it is tallied once more; until then its rows are counted."""
    any_of, since = Random(2), BEGIN - timedelta(days=7)
    with time_machine.travel(BEGIN, tick=False):
        for hours in range(60):
            preempted(cluster, any_of, BEGIN - timedelta(hours=hours))
        for _ in range(5):
            tallied(cluster, BEGIN)
            for _ in range(2):
                happened = preempted_pairs(reader, cluster, since)
                assert sum((each.pods for each in happened), Counter()) == anew(cluster, since)
                spared(cluster, any_of)


def test_a_tally_that_changes_while_it_is_looked_for_is_counted_by_its_rows(cluster: Cluster, reader: User) -> None:
    """As when a worker says that an hour is due again between two queries of a reader."""
    any_of = Random(1)
    with time_machine.travel(BEGIN, tick=False):
        for hours in range(60):
            preempted(cluster, any_of, BEGIN - timedelta(hours=hours))
        tallied(cluster, BEGIN)

        def due_again(execute: Callable[..., object], sql: str, *given: object) -> object:
            if '"document" FROM "history_tally"' in sql and due:
                preempted(cluster, any_of, due.pop())
            return execute(sql, *given)

        due = [BEGIN - timedelta(hours=hours) for hours in (30, 4)]
        since = BEGIN - timedelta(days=7)
        with connection.execute_wrapper(due_again):
            happened = preempted_pairs(reader, cluster, since)
        assert not due
        counted = anew(cluster, since)
        assert sum((each.pods for each in happened), Counter()) == counted
        tallied(cluster, BEGIN)
        assert_whole(scene_of(preempted_pairs(reader, cluster, since), frozenset(EXAMPLE.queues), ""), counted)
