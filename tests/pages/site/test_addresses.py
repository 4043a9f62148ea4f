"""Addresses that nobody meant are answered, not stumbled over, whatever the database."""

import pytest
from django.test import Client
from django.utils import timezone

from scheduler_admin.counts.selectors.filtered import Counts
from scheduler_admin.counts.selectors.timeline import timeline
from scheduler_admin.decisions.selectors.history_filters import LONGEST, Filters
from tests.pages import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client) -> Client:
    """Somebody who sees everything, and something to see."""
    of = rows.cluster()
    rows.status(of)
    rows.decision(of, "root.queue-a", victims=("root.system",))
    client.force_login(rows.user())
    return client


@pytest.mark.parametrize(
    "address",
    [
        "/clusters/demo/history/?queue=a%00",
        "/clusters/demo/history.csv?application=%00",
        "/clusters/demo/queues/root%00/",
        "/pods/?q=%00",
        "/pods/demo/a/b%00/",
    ],
)
def test_a_nul_is_turned_away(reader: Client, address: str) -> None:
    """PostgreSQL would answer with an error, SQLite with nothing."""
    assert reader.get(address).status_code == 400


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("/clusters/demo/history/?before=0001-01-01T00:00:00%2B14:00_5", 200),
        ("/clusters/demo/history/?from=0001-01-01T00:00:00%2B14:00&to=9999-12-31T23:59:59-14:00", 200),
        ("/pods/?before=0001-01-01T00:00:00%2B14:00_5_5", 200),
        ("/api/v1/clusters/demo/usage?queue=root&resource=cpu&until=0001-01-01T00:00:00Z", 400),
    ],
)
def test_times_beyond_the_calendar_are_no_errors_of_ours(reader: Client, address: str, code: int) -> None:
    """The first and the last year have neighbours that can't be written."""
    assert reader.get(address).status_code == code


def test_no_time_asked_for_makes_more_buckets_than_there_is_history() -> None:
    """A timeline of all years would be three million days."""
    filters = Filters.of({"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T00:00:00Z"}, timezone.now())
    assert len(timeline(Counts(), filters).buckets) <= LONGEST.days + 2
