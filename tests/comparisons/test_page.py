"""The pages of comparisons: begun with a form, followed, read as tables, plots, CSV and JSON."""

import csv
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from engine.planning.comparison import SideFigures
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.comparisons import runs, services
from scheduler_admin.comparisons.api.results import SideFiguresSerializer
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.comparisons.pages import comparison_context
from scheduler_admin.comparisons.pages.comparison_context import _rows
from scheduler_admin.comparisons.sides import Chosen, ways
from scheduler_admin.queues.models import Draft
from tests.comparisons.conftest import NOON
from tests.pages.conftest import client_of
from tests.pages.rows import tenant_user, user

pytestmark = pytest.mark.django_db
PAGE = "/clusters/east/compare/"


@pytest.fixture(autouse=True)
def _plain(settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT = False


@pytest.fixture
def ada(admin: User) -> Client:
    return client_of(admin)


@pytest.fixture
def begun(cluster: Cluster, admin: User) -> Comparison:
    """Two minutes, by the tree's own policy and by priority."""
    sides = [Chosen("current"), Chosen("current", "priority/kube-scheduler")]
    until = NOON + timedelta(minutes=2)
    return services.start(cluster=cluster, author=admin, since=NOON, until=until, sides=sides)


@pytest.fixture
def done(begun: Comparison) -> Comparison:
    runs.run(pk=begun.pk)
    begun.refresh_from_db()
    return begun


def form(**more: str) -> dict[str, str]:
    """What the browser sends for two minutes under the tree in force."""
    times = {"when": "between", "since": "2026-01-01T12:00", "until": "2026-01-01T12:02"}
    return {**times, "tree-1": "current", "terms-1": "", **more}


def test_all_policies_are_chosen_at_first(cluster: Cluster, ada: Client) -> None:
    """Whatever this version can decide by."""
    page = ada.get(PAGE)
    rows = page.context["form"].rows()
    assert [terms.value() for tree, terms in rows if tree.value()] == ways()


def test_a_dialect_that_imitates_a_scheduler_says_so(cluster: Cluster, ada: Client) -> None:
    """Beside the name by which results call it."""
    page = ada.get(PAGE).text
    assert '<option value="fence/yunikorn" selected>fence (yunikorn): decides as YuniKorn does</option>' in page


def test_a_draft_or_revision_is_held_against_the_tree_in_force(cluster: Cluster, ada: Client, draft: Draft) -> None:
    """By their addresses."""
    for query, tree in ((f"draft={draft.pk}", f"draft:{draft.pk}"), ("revision=1", "revision:1")):
        rows = ada.get(f"{PAGE}?{query}").context["form"].rows()
        page = ada.get(f"/clusters/east/{'drafts' if 'draft' in query else 'revisions'}/{query.partition('=')[2]}/")
        assert f'href="{PAGE}?{query}"' in page.text
        assert [tree.value() for tree, _terms in rows if tree.value()] == ["current", tree]


def test_the_form_begins_one_and_leads_to_it(cluster: Cluster, ada: Client) -> None:
    """Where it waits, can be stopped, and is told in the list."""
    answer = ada.post(PAGE, form(**{"tree-2": "current", "terms-2": "fence/yunikorn"}))
    one = Comparison.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}{one.pk}/")
    assert (one.since, one.until) == (NOON, NOON + timedelta(minutes=2))
    page = ada.get(f"{PAGE}{one.pk}/").text
    assert "The comparison starts as soon as the comparison worker is free." in page
    assert "revision 1, fence (yunikorn)" in page
    assert f'href="{PAGE}{one.pk}/"' in ada.get(PAGE).text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"since": "soon"}, "soon is not a valid time."),
        ({"until": "2026-01-01T12:00:30"}, "The period must be at least 1 minute."),
        ({"tree-1": ""}, "Choose at least one queue tree."),
        ({"tree-1": "draft:99"}, "Queue tree draft:99 does not exist."),
    ],
)
def test_a_form_that_is_turned_away_keeps_what_was_typed(
    cluster: Cluster, ada: Client, more: dict[str, str], said: str
) -> None:
    """And says what is wrong."""
    sent = form(**more)
    answer = ada.post(PAGE, sent)
    assert answer.status_code == 422
    assert said in answer.text
    kept = answer.context["form"]
    assert {name: kept[name].value() for name in ("when", "since", "until")} == {
        name: sent[name] for name in ("when", "since", "until")
    }
    assert not Comparison.objects.exists()


def test_what_was_found_stands_beside_what_happened(done: Comparison, ada: Client) -> None:
    """The best of each row in a word; what happened competes with nobody."""
    page = ada.get(f"{PAGE}{done.pk}/")
    found = page.context["found"]
    assert found.heads == ["what happened", "revision 1, fence (design)", "revision 1, priority (kube-scheduler)"]
    cells = {row.name: [(cell.text, cell.best) for cell in row.cells] for row in found.rows}
    assert cells["Pods preempted"] == [("0", False), ("1", False), ("0", True)]
    assert cells["Time below guarantee"][0] == ("1 min 30 s", False)
    assert cells["Time below guarantee"][1][1]
    assert "sampled every 1 s" in page.text
    lead = page.text.partition('class="because summary">')[2].partition("</p>")[0]
    assert lead.startswith(
        "Policy priority (kube-scheduler) preempts fewer pods than policy fence (design) (0 instead of 1)"
    )
    assert "Content-Security-Policy" in page.headers
    assert "style=" not in page.text


def test_what_all_sides_have_is_nobodys_best() -> None:
    """Nor is what is only counted, nor what is not known."""
    plain = SideFigures(decisions=1, preempted=2, again=0, applications=1, work={}, placed=3, waiting=0)
    other = SideFigures(decisions=9, preempted=2, again=0, applications=1, work={}, placed=9, waiting=0, jain=1)
    assert not any(cell.best for row in _rows([plain, other], past=False, lasting=True) for cell in row.cells)


def test_a_moment_has_no_times_and_no_course(cluster: Cluster, admin: User, ada: Client) -> None:
    """But whether it comes to rest."""
    one = services.start(cluster=cluster, author=admin, since=None, until=None, sides=[Chosen("current")])
    runs.run(pk=one.pk)
    page = ada.get(f"{PAGE}{one.pk}/")
    names = [row.name for row in page.context["found"].rows]
    assert "Becomes stable" in names
    assert not [name for name in names if "waited" in name or "below" in name]
    assert "data-plot" not in page.text


@pytest.mark.parametrize("what", ["preempted", "waiting", "short", "jain"])
def test_every_plot_has_a_line_a_side(done: Comparison, ada: Client, what: str) -> None:
    """Told apart by dashes, too."""
    assert f"/plot.json?plot={what}" in ada.get(f"{PAGE}{done.pk}/?plot={what}").text
    figure = ada.get(f"{PAGE}{done.pk}/plot.json?plot={what}").json()
    assert figure["data"][0]["name"] == "what happened"
    assert len({line["line"]["dash"] for line in figure["data"]}) == 3
    assert all(len(line["x"]) == len(line["y"]) == 120 for line in figure["data"])


def test_csv_and_json_have_every_figure(done: Comparison, ada: Client) -> None:
    """A line each; plain numbers."""
    lines = list(csv.DictReader(ada.get(f"{PAGE}{done.pk}/figures.csv").getvalue().decode().splitlines()))
    assert {"side": "revision 1, fence (design)", "figure": "preempted_pods", "subject": "", "value": "1"} in lines
    told = json.loads(ada.get(f"{PAGE}{done.pk}/figures.json").getvalue())
    assert [(row["figure"], row["subject"]) for row in told] == [(row["figure"], row["subject"]) for row in lines]
    side = SideFiguresSerializer().fields
    assert {row["figure"].partition(".")[0] for row in told} <= side.keys() - {"course"}, "as the REST API calls them"


def test_the_page_asks_for_news_until_there_is_all(begun: Comparison, ada: Client) -> None:
    """Nothing is sent while nothing changed; the whole page comes once it is done."""
    address, ask = f"{PAGE}{begun.pk}/", {"HX-Request": "true"}
    first = ada.get(address, headers=ask)
    assert "<html" not in first.text
    assert ada.get(address, headers={**ask, "If-None-Match": first["ETag"]}).status_code == 304
    Comparison.objects.update(state=Comparison.State.RUNNING, done=90, steps=360)
    moved = ada.get(address, headers={**ask, "If-None-Match": first["ETag"]})
    assert 'value="25"' in moved.text
    Comparison.objects.update(state=Comparison.State.FAILED, trouble="It failed.")
    assert ada.get(address, headers={**ask, "If-None-Match": moved["ETag"]})["HX-Refresh"] == "true"
    assert "It failed." in ada.get(address).text


def test_who_began_it_stops_it_and_operators_may(begun: Comparison, ada: Client) -> None:
    """Others read it, and are not offered to."""
    stop = f"{PAGE}{begun.pk}/stop/"
    auditor = client_of(user("audrey", User.Role.AUDITOR))
    assert 'id="stop"' not in auditor.get(f"{PAGE}{begun.pk}/").text
    assert auditor.post(stop).status_code == 403
    assert client_of(user("otto", User.Role.OPERATOR)).post(stop).status_code == 302
    assert "The comparison had already ended." in ada.post(stop, follow=True).text
    begun.refresh_from_db()
    assert begun.state == Comparison.State.STOPPED


def test_tenants_find_nothing_there(done: Comparison) -> None:
    """A comparison shows the whole tree."""
    tess = client_of(tenant_user(subtree="root.prod", namespaces=("ns",)))
    for address in (PAGE, f"{PAGE}{done.pk}/", f"{PAGE}{done.pk}/figures.csv", f"{PAGE}{done.pk}/plot.json"):
        assert tess.get(address).status_code == 404
    assert "/compare/" not in tess.get("/clusters/east/queues/").text


def test_very_many_queues_are_shown_in_pages(done: Comparison, ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each table by itself; CSV has them all."""
    assert done.result is not None
    shares = {f"root.q{number}": number for number in range(250)}
    done.result["sides"] = [each | {"shares": shares} for each in done.result["sides"]]
    done.save(update_fields=["result"])
    assert len(ada.get(f"{PAGE}{done.pk}/").context["found"].shares.rows) >= 250
    monkeypatch.setattr(comparison_context, "MOST", 200)
    page = ada.get(f"{PAGE}{done.pk}/?shares=3")
    found = page.context["found"].shares
    assert (len(found.rows), found.paged.first, found.paged.older) == (found.paged.many - 200, 201, "")
    assert "shares=2#h-shares" in page.text
    assert ada.get(f"{PAGE}{done.pk}/figures.csv").getvalue().count(b"queue_shares") >= 2 * 250
