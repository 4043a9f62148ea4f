"""Usage over time: samples become blocks of each queue, and those coarser ones; each is kept for its time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from django.test import override_settings

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.usage import rollup
from scheduler_admin.usage.models import Usage, UsageSample
from scheduler_admin.usage.rollup import prune, roll_up
from scheduler_admin.usage.runs import Amount, Now, pack
from scheduler_admin.usage.selectors import POINTS, Series, series
from tests.samples import blocks

pytestmark = pytest.mark.django_db
START = datetime(2026, 1, 1, tzinfo=UTC)
"""All blocks begin here."""
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def cluster() -> Cluster:
    """One that nobody reads."""
    return Cluster.objects.create(name="prod")


def sampled(cluster: Cluster, *used: int, since: datetime = START, every_s: int = 10, queues: int = 1) -> datetime:
    """Samples of the root and queues below it, so many seconds apart; when the last of them was taken."""
    at = since
    for number, amount in enumerate(used):
        at = since + timedelta(seconds=number * every_s)
        now = Now(number % 3, {"cpu": Amount(amount, 1000 if number < 7 else 2000)})
        said = pack(dict.fromkeys(("root", *(f"root.q-{n}" for n in range(queues))), now))
        UsageSample.objects.create(cluster=cluster, at=at, document=said)
    return at


def rolled(cluster: Cluster, now: datetime) -> None:
    """All that is due."""
    roll_up(cluster=cluster, now=now, for_s=60)


def shown(cluster: Cluster, since: datetime, until: datetime, queue: str = "root.q-0") -> Series:
    """What an admin sees, with its points read at once."""
    found = series(User(username="ada", role=User.Role.ADMIN), cluster, queue, "cpu", since, until)
    assert found.points is not None
    return found


def stored() -> list[tuple[str, int, datetime, bytes]]:
    """All blocks."""
    rows = Usage.objects.order_by("queue", "step", "start").values_list("queue", "step", "start", "document")
    return [(queue, step, start, bytes(document)) for queue, step, start, document in rows]


def test_samples_of_ten_minutes_become_a_block_of_each_queue(cluster: Cluster) -> None:
    """Nothing of them is lost, and the samples go."""
    sampled(cluster, *range(60))
    rolled(cluster, START + timedelta(minutes=11))
    (run,) = blocks("root.q-0", 10)
    assert run.amounts["cpu"].used == [*range(60)]
    assert run.amounts["cpu"].guaranteed == [1000] * 7 + [2000] * 53
    assert not UsageSample.objects.exists()


def test_a_block_that_is_not_over_is_left_alone(cluster: Cluster) -> None:
    """A pass may be late by a minute."""
    sampled(cluster, *range(60))
    rolled(cluster, START + timedelta(minutes=10, seconds=59))
    assert not Usage.objects.exists()


def test_minutes_keep_the_mean_and_the_highest(cluster: Cluster) -> None:
    """Of a peak of ten seconds both stay, in minutes and in hours; the guarantee is as the time began."""
    sampled(cluster, 0, 0, 600, 0, 0, 0, *[60] * 54)
    rolled(cluster, START + 4 * HOUR + timedelta(minutes=1))
    (run,) = blocks("root.q-0", 60)
    cpu = run.amounts["cpu"]
    assert (cpu.used[:2], cpu.highest[:2], run.samples[:2]) == ([100, 60], [600, 60], [6, 6])
    assert cpu.guaranteed == [1000, 1000, *[2000] * 8]
    assert run.asks[0] == 2
    rolled(cluster, START + 7 * DAY + timedelta(minutes=1))
    (run,) = blocks("root.q-0", 3600)
    assert (run.amounts["cpu"].used, run.amounts["cpu"].highest, run.samples) == ([64], [600], [60])


def test_a_mean_is_of_samples_however_they_lie(cluster: Cluster) -> None:
    """A minute of one sample does not weigh as much as one of six."""
    sampled(cluster, *[0] * 6, 700)
    rolled(cluster, START + 7 * DAY + timedelta(minutes=1))
    (run,) = blocks("root.q-0", 3600)
    assert run.amounts["cpu"].used == [100]


@pytest.fixture
def small() -> Iterator[None]:
    """Every queue is a batch of its own."""
    with patch.object(rollup, "_BATCH", 1):
        yield


@pytest.mark.parametrize("batches", range(1, 14))
def test_killed_anywhere_it_ends_the_same(cluster: Cluster, small: None, batches: int) -> None:
    """What was begun is completed by the next, nothing twice and nothing left out."""
    sampled(cluster, *range(60), queues=3)
    late = START + 7 * DAY + timedelta(minutes=1)
    write, left = rollup._write, [batches]

    def once(*arguments: object) -> None:
        if not left[0]:
            raise SystemExit
        left[0] -= 1
        write(*arguments)  # type: ignore[arg-type]

    with patch.object(rollup, "_write", once):
        try:
            rolled(cluster, late)
        except SystemExit:
            killed = stored()
            assert len(killed) == batches
    rolled(cluster, late)
    found = stored()
    assert len(found) == 3 * 4
    Usage.objects.all().delete()
    sampled(cluster, *range(60), queues=3)
    rolled(cluster, late)
    assert stored() == found


def test_again_changes_nothing(cluster: Cluster) -> None:
    """As often as it is run."""
    sampled(cluster, *range(120))
    for _twice in range(2):
        rolled(cluster, START + DAY)
        assert Usage.objects.filter(queue="root").count() == 3


def test_what_a_time_shows_does_not_depend_on_what_is_rolled_up(cluster: Cluster) -> None:
    """The same points from samples, from blocks, and across both."""
    last = sampled(cluster, *range(0, 1300, 10))
    before = shown(cluster, START, last)
    rolled(cluster, START + timedelta(minutes=11))
    across = shown(cluster, START, last)
    rolled(cluster, START + timedelta(minutes=21))
    assert before.points == across.points == shown(cluster, START, last).points
    assert {one.step_s for one in (before, across)} == {10}
    assert len(before.points) == 129


@pytest.mark.parametrize(
    ("length", "step_s"),
    [
        (timedelta(minutes=15), 10),
        (HOUR, 10),
        (6 * HOUR, 30),
        (DAY, 120),
        (7 * DAY, 900),
        (30 * DAY, 3600),
        (365 * DAY, 43_200),
        (730 * DAY, 86_400),
    ],
)
def test_the_time_chooses_how_finely_it_is_shown(cluster: Cluster, length: timedelta, step_s: int) -> None:
    """Never more points than a screen has room for."""
    assert shown(cluster, START - length, START).step_s == step_s
    assert length / timedelta(seconds=step_s) <= POINTS


def test_a_short_time_long_ago_is_shown_as_finely_as_it_is_kept(cluster: Cluster) -> None:
    """By the minute once the seconds are past their time, and that is told; then by the hour."""
    sampled(cluster, *range(0, 3600, 10))
    rolled(cluster, START + 8 * DAY)
    prune(cluster=cluster, now=START + 8 * DAY)
    found = shown(cluster, START, START + HOUR)
    assert (found.step_s, len(found.points), found.points[1].highest) == (60, 60, 110)
    prune(cluster=cluster, now=START + 50 * DAY)
    found = shown(cluster, START, START + HOUR)
    assert (found.step_s, [point.highest for point in found.points]) == (3600, [3590])


@override_settings(USAGE_10S_HOURS=0, USAGE_1MIN_DAYS=0, USAGE_1H_DAYS=700)
def test_nothing_goes_before_it_is_rolled_up(cluster: Cluster) -> None:
    """However short a time is set; what is rolled up goes when its own time is over."""
    sampled(cluster, *range(60))
    rolled(cluster, START + HOUR)
    prune(cluster=cluster, now=START + HOUR)
    assert set(Usage.objects.values_list("step", flat=True)) == {10}
    rolled(cluster, START + 8 * DAY)
    prune(cluster=cluster, now=START + 8 * DAY)
    assert set(Usage.objects.values_list("step", flat=True)) == {3600}
    prune(cluster=cluster, now=START + 800 * DAY)
    assert not Usage.objects.exists()


def test_amounts_beyond_64_bits_are_kept(cluster: Cluster) -> None:
    """A tree may promise any amount."""
    sampled(cluster, 2**70, 2**70)
    rolled(cluster, START + 8 * DAY)
    assert blocks("root", 3600)[0].amounts["cpu"].used == [2**70]


def test_a_chart_takes_three_queries_and_one_of_each_request(
    cluster: Cluster, django_assert_num_queries: object
) -> None:
    """Whatever the range, and however much there is of it; former paths of queues are read once a request."""
    sampled(cluster, *range(0, 1300, 10))
    rolled(cluster, START + timedelta(minutes=21))
    with django_assert_num_queries(4):  # type: ignore[operator]
        shown(cluster, START - 700 * DAY, START + HOUR)
