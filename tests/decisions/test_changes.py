"""What would have changed a stored decision: worked out on what its pass saw, shown on its page and by REST."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from engine.analysis.anomalies import AnomalyKind
from engine.analysis.counterfactuals import Then
from engine.model.change import Change
from engine.model.decision import decode
from scheduler_admin.accounts.models import User
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.replay.changes import otherwise
from scheduler_admin.decisions.replay.replay import CannotReplayError
from scheduler_admin.journal.models import JournalEntry
from tests.builders import ask, node, pod
from tests.worker.execution_scenes import first, run
from tests.worker.test_policy_priority import cluster  # noqa: F401 - a fixture
from tests.worker.watch import Watch

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cluster")]


def fragmented() -> Watch:
    """Four cores are free in all, and two at most on one node."""
    return Watch(
        *(node(f"n{number}", 4) for number in (1, 2)),
        *(pod(f"low-{number}", queue="test", node=f"n{number}", priority=number, cpu=2) for number in (1, 2)),
        ask("urgent", queue="prod", cpu=3, priority=500),
    )


def read(client: Client, row: Decision, query: str = "", **headers: str) -> str:
    """The page."""
    response = client.get(f"/clusters/east/decisions/{row.pk}/{query}", headers=headers)
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def ada(client: Client) -> Client:
    """A browser of somebody who sees everything."""
    client.force_login(User.objects.create_user("ada", role=User.Role.OPERATOR))
    return client


def test_it_is_worked_out_on_what_the_pass_saw() -> None:
    """Whatever the cluster went through since."""
    watch = fragmented()
    row = first(watch)
    watch.state.nodes["n3"] = node("n3", 64)
    run(watch, times=2)
    found = otherwise(row)
    fits = next(one for one in found.counterfactuals if one.then is Then.FITS)
    assert (fits.change, fits.smaller) == (Change.REQUEST, {"cpu": 1000})
    assert AnomalyKind.FRAGMENTED in {one.trouble for one in found.troubles}
    assert found.least is not None
    assert found.least.same


def test_every_other_policy_is_asked_about_the_same_moment() -> None:
    """What each decides, of the same ask; the policy that decided is not asked again."""
    others = otherwise(first(fragmented())).others
    assert {(one.policy, one.dialect) for one in others} == {
        ("fence", "design"),
        ("fence", "yunikorn"),
        ("priority", "kube-scheduler-1.37"),
        ("cohort", "kueue"),
        ("fair-share", "kueue"),
        ("deserved", "arbitrator"),
    }
    assert {one.ask.name for one in others} == {"urgent"}


def test_of_a_pass_with_several_asks_each_is_seen_after_those_before_it() -> None:
    """The second ask finds the first one's node taken."""
    watch = fragmented()
    watch.state.pods["uid-next"] = ask("next", queue="prod", cpu=3, priority=400)
    run(watch)
    rows = Decision.objects.filter(outcome="preempt").order_by("pk")
    assert {row.ask_name: row.node for row in rows} == {"urgent": "n1", "next": "n2"}
    for row in rows:
        assert otherwise(row).decision == decode(row.document)


def test_what_is_no_longer_stored_can_not_be_worked_out() -> None:
    """Nothing is made up in its place."""
    row = first(fragmented())
    JournalEntry.objects.all().delete()
    with pytest.raises(CannotReplayError):
        otherwise(Decision.objects.get(pk=row.pk))


def test_the_page_offers_it_and_shows_it_when_asked(ada: Client) -> None:
    """It takes a moment, so not at every look; and the page's own refresh does not work it out again."""
    row = first(fragmented())
    assert "Run analysis" in read(ada, row)
    page = read(ada, row, "?otherwise=1")
    assert "without preemption if it requested 1 core less" in page
    assert "4 cpu is free on the 2 suitable nodes in total, but no node has more than 2 free." in page
    assert "No other set of pods on any node would have cost less." in page
    assert "fence/design" in page
    assert "What would have changed this decision" not in read(ada, row, "?otherwise=1", HX_Request="true")


def test_a_page_says_so_where_it_can_not_be_read_any_more(ada: Client) -> None:
    """The journal's bytes are gone, its row is not."""
    row = first(fragmented())
    JournalEntry.objects.update(blob=b"")
    assert "can no longer be read, so this can’t be computed" in read(ada, row, "?otherwise=1")


def test_it_is_told_by_rest_to_those_who_see_everything() -> None:
    """As sentences, and as the engine has it."""
    row = first(fragmented())
    api = APIClient()
    api.force_authenticate(User.objects.create_user("olga", role=User.Role.AUDITOR))
    body = api.get(f"/api/v1/decisions/{row.pk}/counterfactuals").json()
    assert body["counterfactuals"][0]["document"]["smaller"] == {"cpu": 1000}
    assert body["counterfactuals"][0]["sentence"].startswith("It would fit on n1 without preemption")
    assert body["optimum"]["document"]["same"] is True
    assert {one["document"]["policy"] for one in body["other_policies"]} == {
        "fence",
        "priority",
        "cohort",
        "fair-share",
        "deserved",
    }
    tenant = APIClient()
    tenant.force_authenticate(User.objects.create_user("tim", role=User.Role.TENANT))
    assert tenant.get(f"/api/v1/decisions/{row.pk}/counterfactuals").status_code == 404
    JournalEntry.objects.all().delete()
    gone = api.get(f"/api/v1/decisions/{row.pk}/counterfactuals")
    assert gone.status_code == 409
    assert "It cannot be computed what would have changed this decision" in gone.json()["detail"]
