"""The shell: who lands where, what every page carries, and how it behaves when something is wrong."""

import errno
import json
import re
from pathlib import Path
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.staticfiles.finders import find
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.words import duration, readable
from tests.pages import rows

pytestmark = pytest.mark.django_db


def test_signing_in_leads_on(client: Client, demo: Cluster) -> None:
    """A right password leads to the page that was asked for."""
    rows.user()
    answer = client.post("/sign-in/", {"username": "ada", "password": rows.PASSWORD, "next": "/clusters/"})
    assert (answer.status_code, answer["Location"]) == (302, "/clusters/")


def test_a_wrong_password_is_said_beside_the_field(client: Client) -> None:
    """The error is tied to both fields, for those who don't see where it stands."""
    answer = client.post("/sign-in/", {"username": "ada", "password": "wrong"}).content.decode()
    assert answer.count('aria-describedby="e-sign-in"') == 2
    assert 'id="e-sign-in"' in answer


def test_a_name_that_nobody_can_have_is_refused_at_its_field(client: Client) -> None:
    """No password is looked at, and no failed attempt is stored under that name."""
    answer = client.post("/sign-in/", {"username": "a" * 151, "password": "wrong"}).content.decode()
    assert 'id="e-sign-in-username" role="alert">Ensure this value has at most 150 characters' in answer
    assert not AccessAttempt.objects.exists()


def test_staff_land_on_the_only_cluster(ada: Client, demo: Cluster) -> None:
    """With one cluster there is nothing to choose."""
    assert ada.get("/")["Location"] == "/clusters/demo/queues/"


def test_staff_land_on_the_clusters_where_there_are_more(ada: Client, demo: Cluster) -> None:
    """With two, the list of clusters is the first page."""
    rows.cluster("other")
    assert ada.get("/")["Location"] == "/clusters/"


def test_tenants_land_on_their_pods(tess: Client, demo: Cluster) -> None:
    """A tenant comes for one question."""
    assert tess.get("/")["Location"] == reverse("web:pods")


@pytest.mark.parametrize("page", ["/sign-in/", "/nowhere/", "/clusters/", "/clusters/demo/queues/"])
def test_no_page_needs_inline_script_or_style(ada: Client, client: Client, demo: Cluster, page: str) -> None:
    """The policy forbids both, so nothing may depend on them."""
    answer = (client if page == "/sign-in/" else ada).get(page)
    html = answer.content.decode()
    assert "script-src 'self';" in answer["Content-Security-Policy"]
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert re.findall(r"<style\b|\sstyle=|\son\w+=", html) == []
    assert [tag for tag in re.findall(r"<script\b[^>]*>", html) if "src=" not in tag and "json" not in tag] == []


def test_an_unknown_address_is_a_page_of_ours(ada: Client) -> None:
    """404 looks like the rest and leads back."""
    answer = ada.get("/nowhere/")
    assert answer.status_code == 404
    assert 'href="/"' in answer.content.decode()


def test_a_failing_page_says_so(settings: Any, ada: Client, demo: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """500 needs neither the database nor a context processor."""

    def fails(*_: Any) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr("scheduler_admin.queues.pages.tree.views.tree_page", fails)
    ada.raise_request_exception = False
    answer = ada.get("/clusters/demo/queues/")
    assert answer.status_code == 500
    assert "Something went wrong" in answer.content.decode()


@pytest.mark.parametrize("error", [OperationalError("database is locked"), OSError(errno.ENOSPC, "No space left")])
def test_what_can_not_be_done_now_is_tried_again(
    error: Exception, settings: Any, ada: Client, demo: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 with when to come back, by page and by REST: nothing is wrong with the request, nor with us.

    The page asks the database for nothing, which may be away.
    """

    def fails(*_: Any) -> None:
        monkeypatch.setattr("django.db.models.query.QuerySet._fetch_all", fails)  # from now on
        raise error

    monkeypatch.setattr("scheduler_admin.queues.pages.tree.views.tree_page", fails)
    monkeypatch.setattr("scheduler_admin.clusters.selectors.get", fails)
    ada.raise_request_exception = False
    page, rest = ada.get("/clusters/demo/queues/"), ada.get("/api/v1/clusters/demo")
    assert (page.status_code, page["Retry-After"]) == (503, "10")
    assert "try again in a moment" in page.content.decode()
    assert (rest.status_code, rest["Retry-After"], rest["Content-Type"]) == (503, "10", "application/problem+json")
    assert str(error) not in page.content.decode() + rest.content.decode()


def test_the_language_is_chosen_by_post(client: Client) -> None:
    """Django's own view keeps it; the page then says so in its lang attribute."""
    client.post("/language/", {"language": "zh-hans", "next": "/sign-in/"})
    assert '<html lang="zh-hans">' in client.get("/sign-in/").content.decode()


def test_signing_out_takes_a_post(ada: Client) -> None:
    """A link on a foreign page can't sign anybody out."""
    assert ada.get("/sign-out/").status_code == 405
    assert ada.post("/sign-out/")["Location"] == reverse("web:login")


def test_the_words_of_durations_go_to_the_browser(client: Client) -> None:
    """The module that counts on uses the server's words."""
    html = client.get("/sign-in/").content.decode()
    found = re.search(r'<script id="units" type="application/json">(.*?)</script>', html)
    assert found is not None
    assert json.loads(found[1])["ago"] == "%(time)s ago"


@pytest.mark.parametrize(
    ("seconds", "want"), [(0, "0 s"), (89, "89 s"), (90, "1 min"), (5399, "89 min"), (5400, "1 h"), (129600, "1 d")]
)
def test_durations_have_one_unit(seconds: int, want: str) -> None:
    """The finer unit is kept up to one and a half of the coarser."""
    assert duration(seconds) == want


@pytest.mark.parametrize(
    ("resource", "value", "want"),
    [
        ("cpu", 1500, ("1500", "m")),
        ("cpu", 2000, ("2", "")),
        ("memory", 32 * 2**30, ("32", "Gi")),
        ("memory", 1536 * 2**20, ("1536", "Mi")),
        ("memory", 0, ("0", "")),
        ("memory", 10 * 2**30 + 1, ("10", "Gi")),
        ("nvidia.com/gpu", 3, ("3", "")),
    ],
)
def test_amounts_read_as_people_type_them(resource: str, value: int, want: tuple[str, str]) -> None:
    """Digits and unit apart, so that the unit can stand back."""
    assert readable(resource, value) == want


def test_every_style_that_plotly_would_write_is_kept_out() -> None:
    """plotly.js leaves a style out where an element with its id is there: the page has one for each in this bundle."""
    bundle = Path(str(find("plotly.min.js"))).read_text(encoding="utf-8")
    ids = set(re.findall(r'getElementById\("([0-9a-f]{64})"\)', bundle))
    page = Path("templates/queues/queue.html").read_text(encoding="utf-8")
    assert ids
    assert ids <= set(re.findall(r'id="([0-9a-f]{64})"', page))
    assert 'id="plotly.js-style-global" class="no-inline-styles"' in page
    assert 'plotly.js-style-"+' in bundle
    assert ".no-inline-styles" in bundle
