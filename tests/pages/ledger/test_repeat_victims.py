"""The list of those that are hit again and again."""

import pytest

from scheduler_admin.accounts.models import User
from tests.ledger.loops import member, turning
from tests.pages import rows

pytestmark = pytest.mark.django_db
URL = "/clusters/demo/history/repeats/"


@pytest.fixture
def cluster():
    """A cluster in which one application was preempted three times today."""
    made = rows.cluster("demo")
    rows.status(made)
    for minutes in (90, 60, 30):
        rows.decision(made, "root.tenant-1.training", minutes=minutes, victims=("root.tenant-1.queue-b",))
    return made


@pytest.fixture
def reader(client):
    """A browser of somebody who sees everything."""
    client.force_login(rows.user("ada", User.Role.OPERATOR))
    return client


def test_a_line_leads_to_its_preemptions_and_the_last_one(cluster, reader):
    """The history of the application, and the decision."""
    response = reader.get(URL)
    (line,) = response.context["lines"]
    assert (line.found.application, line.found.times, line.queues, line.lost) == ("embed-batch-7f9c", 3, "queue-b", "")
    page = response.content.decode()
    assert f"/clusters/demo/decisions/{line.found.last.decision_id}/" in page
    found = reader.get("/clusters/demo/history/?" + line.query)
    assert [one.lost for one in found.context["rows"]] == [1, 1, 1]


def test_without_any_it_says_so(reader):
    """In a sentence."""
    rows.status(rows.cluster("demo"))
    assert b"No repeat victims." in reader.get(URL).content


def test_it_refreshes_itself(cluster, reader):
    """Its changing part alone."""
    news = reader.get(URL, headers={"HX-Request": "true"})
    assert b"<html" not in news.content
    assert b"embed-batch-7f9c" in news.content


def test_loops_are_named_by_their_queues(cluster, reader):
    """With who gave way how often, and the last decision of each; there is no such section without any."""
    assert b"h-loops" not in reader.get(URL).content
    turning(cluster, member("a", "etl"), member("b", "web"))
    page = reader.get(URL).content.decode()
    assert "root.a → root.b → root.a" in page
    assert "etl" in page
    (found,) = reader.get(URL).context["loops"]
    assert all(f"/clusters/demo/decisions/{turn.decision}/" in page for turn in found.seen.turns)
