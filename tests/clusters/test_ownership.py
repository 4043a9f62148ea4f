"""Which of several workers has a cluster: what concerns it goes there alone, and each has about as many."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from scheduler_admin.clusters.models import Cluster, Worker
from scheduler_admin.clusters.watching import ownership
from scheduler_admin.clusters.watching.sharing import Presence

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def cluster(name: str, owner: str = "", **fields: int) -> Cluster:
    """One that a worker claims now, if any does."""
    made = Cluster.objects.create(name=name, **fields)
    if owner:
        assert ownership.claim(cluster=made, owner=owner, now=NOW)
        made.refresh_from_db()
    return made


def alive(*owners: str) -> None:
    """Workers that are there now."""
    for owner in owners:
        ownership.note(owner=owner, now=NOW)


def test_what_concerns_a_cluster_is_sent_to_its_owner_until_that_is_silent() -> None:
    """Then to whoever takes it."""
    east = cluster("east", "a")
    assert ownership.queue_of(east, NOW) == ownership.own_queue("a")
    assert ownership.queue_of(east, NOW + ownership.TERM + timedelta(seconds=1)) == ownership.SHARED
    assert ownership.queue_of(cluster("west"), NOW) == ownership.SHARED


def test_a_claim_outlasts_the_time_until_the_pass_after_the_next() -> None:
    """A cluster that has a pass a minute is not another's between two of them."""
    seldom, often = cluster("seldom", "a", interval_ms=60_000), cluster("often", "a", interval_ms=1000)
    later = NOW + timedelta(minutes=2)
    assert not ownership.claim(cluster=seldom, owner="b", now=later)
    assert ownership.claim(cluster=often, owner="b", now=later)
    assert [ownership.claimed_at(each) for each in (seldom, often)] == [NOW, NOW]


def test_only_what_somebody_else_has_is_anothers() -> None:
    """Not what was given back, nor what lapsed."""
    east = cluster("east", "a")
    assert ownership.is_anothers(east, owner="b", now=NOW)
    assert not ownership.is_anothers(east, owner="a", now=NOW)
    assert not ownership.is_anothers(east, owner="b", now=NOW + timedelta(minutes=1))
    ownership.release(owner="a")
    east.refresh_from_db()
    assert not ownership.is_anothers(east, owner="b", now=NOW)


def test_who_has_two_more_than_another_gives_one_to_it() -> None:
    """One more is as even as it gets."""
    alive("a", "b")
    first, _second, _third = (cluster(name, "a") for name in ("one", "two", "three"))
    assert ownership.heir(owner="a", now=NOW) == "b"
    ownership.hand_over(cluster=first.pk, owner="a", to="b")
    assert ownership.heir(owner="a", now=NOW) == ""
    assert Cluster.objects.get(pk=first.pk).owner == "b"


def test_the_database_counts_what_each_worker_has(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    """Each worker asks once a second: as many rows come back as there are workers."""
    alive("a", "b")
    for number in range(20):
        cluster(f"east-{number}", "a")
    with django_assert_num_queries(2) as queries:
        assert ownership.heir(owner="a", now=NOW) == "b"
    assert "GROUP BY" in queries[-1]["sql"]


def test_a_cluster_that_is_given_away_has_a_pass_at_once() -> None:
    """The other worker begins to read it there, however seldom its passes are."""
    east = cluster("east", "a", interval_ms=60_000)
    Cluster.objects.update(next_pass_at=NOW + timedelta(seconds=50))
    ownership.hand_over(cluster=east.pk, owner="a", to="b")
    assert Cluster.objects.get().next_pass_at is None


def test_a_worker_asks_for_passes_of_its_own_clusters_alone() -> None:
    """One that changed hands meanwhile is another's to ask for."""
    for name, owner in (("one", "a"), ("two", "a"), ("other", "b")):
        cluster(name, owner)
    Cluster.objects.update(next_pass_at=NOW)
    asked = Cluster.objects.exclude(name="two").values_list("pk", flat=True)
    ownership.make_due(list(asked), owner="a")
    assert [each.name for each in Cluster.objects.filter(next_pass_at=None)] == ["one"]


def test_nothing_is_given_to_a_worker_that_was_not_heard_of() -> None:
    """It may be dead: what it had is not free yet, so it does not look idle."""
    alive("a", "b")
    for name in ("one", "two"):
        cluster(name, "a")
    later = NOW + ownership.ALIVE + timedelta(seconds=1)
    assert ownership.heir(owner="a", now=later) == ""
    ownership.note(owner="a", now=later)
    assert ownership.release_silent(now=later) == ["b"]
    assert [worker.name for worker in Worker.objects.all()] == ["a"]


def test_what_a_silent_worker_had_is_free_at_once_however_seldom_its_passes_are() -> None:
    """And due at once; what a worker has that is heard of is not touched."""
    alive("a", "b")
    lost, kept = cluster("seldom", "a", interval_ms=60_000), cluster("other", "b")
    Cluster.objects.update(next_pass_at=NOW + timedelta(seconds=50))
    later = NOW + ownership.ALIVE + timedelta(seconds=1)
    ownership.note(owner="b", now=later)
    assert ownership.release_silent(now=later) == ["a"]
    lost.refresh_from_db()
    kept.refresh_from_db()
    assert (lost.owner, lost.next_pass_at) == ("", None)
    assert (kept.owner, kept.next_pass_at is None) == ("b", False)
    assert ownership.claim(cluster=lost, owner="b", now=later)
    assert ownership.release_silent(now=later) == []


def test_only_a_worker_that_was_there_all_the_time_judges_that_another_is_gone() -> None:
    """After a gap in its own turns it is the database, or this machine, that may have been away."""
    presence, turn = Presence(), timedelta(seconds=1)
    long = [presence.lasts(NOW + number * turn) for number in range(11)]
    assert long == [number * turn > ownership.ALIVE for number in range(11)]
    after = NOW + 10 * turn + ownership.ALIVE
    assert [presence.lasts(after + number * turn) for number in range(11)] == long
    assert not presence.lasts(NOW)


def test_what_changed_hands_meanwhile_is_not_given_away() -> None:
    """By compare-and-swap, as everything of ownership."""
    east = cluster("east", "b")
    ownership.hand_over(cluster=east.pk, owner="a", to="c")
    assert Cluster.objects.get().owner == "b"


def test_a_worker_that_ends_is_given_nothing_any_more() -> None:
    """It gives back what it has and says that it goes."""
    alive("a", "b")
    for name in ("one", "two"):
        cluster(name, "a")
    ownership.release(owner="b")
    assert ownership.heir(owner="a", now=NOW) == ""
