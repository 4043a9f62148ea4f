"""The first visit: an introduction until it is closed, and a tour of what the visitor may see."""

import re
from typing import Any

import pytest
from django.test import Client

from scheduler_admin.accounts.models import Membership, User
from scheduler_admin.clusters.models import Cluster
from tests.pages import rows

pytestmark = pytest.mark.django_db
CARD = 'id="h-introduction"'
BAR = 'id="tour-step"'


def text_of(answer: Any) -> str:
    """Return a page with single spaces."""
    return " ".join(answer.content.decode().split())


def sign_in(client: Client) -> Any:
    """Sign in by the form and follow to the first page."""
    return client.post("/sign-in/", {"username": "ada", "password": rows.PASSWORD}, follow=True)


class TestTheIntroduction:
    def test_is_on_the_first_page_after_the_first_sign_in(self, client: Client, demo: Cluster) -> None:
        """What the product is, in sentences and a picture, above what the page shows anyway."""
        rows.user()
        html = text_of(sign_in(client))
        assert CARD in html
        assert "decides which pods make room when a Kubernetes cluster is full" in html
        assert '<figure class="story">' in html
        assert "<h1>Queues</h1>" in html

    def test_stays_until_it_is_closed(self, client: Client, demo: Cluster) -> None:
        """On every first page, also after signing in again."""
        rows.user()
        sign_in(client)
        assert CARD in text_of(client.get("/clusters/"))
        client.post("/sign-out/")
        assert CARD in text_of(sign_in(client))

    def test_is_closed_for_good_by_its_button(self, client: Client, demo: Cluster) -> None:
        """A form without a script leads back to the page; another browser does not show it either."""
        rows.user()
        sign_in(client)
        answer = client.post("/about/close/", {"next": "/clusters/"}, follow=True)
        assert answer.redirect_chain == [("/clusters/", 302)]
        assert CARD not in text_of(answer)
        assert CARD not in text_of(sign_in(Client()))

    def test_leads_nowhere_else_than_to_this_site(self, client: Client, demo: Cluster) -> None:
        """An address of another site is not followed."""
        rows.user()
        sign_in(client)
        assert client.post("/about/close/", {"next": "https://example.com/"})["Location"] == "/"

    def test_is_not_shown_to_people_who_were_here_before_it_existed(self, ada: Client, demo: Cluster) -> None:
        """An upgrade introduces the product to nobody who knows it."""
        assert CARD not in text_of(ada.get("/clusters/"))

    def test_is_on_first_pages_alone(self, client: Client, demo: Cluster) -> None:
        """A link that somebody was sent shows what it is a link to."""
        rows.user()
        sign_in(client)
        assert CARD not in text_of(client.get("/clusters/demo/history/"))

    def test_begins_the_tour_and_closes(self, client: Client, demo: Cluster) -> None:
        """One button does both, so that a finished tour does not end at the introduction."""
        rows.user()
        sign_in(client)
        answer = client.post("/about/close/", {"next": "/clusters/", "tour": "1"}, follow=True)
        assert answer.redirect_chain == [("/clusters/?tour=1", 302)]
        assert BAR in text_of(answer)
        assert not User.objects.get(username="ada").introduction_open

    def test_can_be_read_again(self, tess: Client, demo: Cluster) -> None:
        """Every page leads to it at its end."""
        assert 'href="/about/"' in text_of(tess.get("/pods/"))
        html = text_of(tess.get("/about/"))
        assert '<figure class="story">' in html
        assert 'href="/pods/?tour=1"' in html


def walk(client: Client) -> list[tuple[str, str]]:
    """Take the tour by its links. Returns the address and the title of each step."""
    found = re.search(r'href="([^"]+\?tour=1)"', client.get("/about/").content.decode())
    assert found
    address, steps = found[1], []
    while address:
        html = text_of(client.get(address))
        title = re.search(r'<b id="tour-step"> (.+?) </b>', html)
        assert title, address
        steps.append((address.partition("?")[0], title[1]))
        following = re.search(r'rel="next" href="([^"]+\?tour=\d+)"', html)
        address = following[1] if following else ""
    return steps


class TestTheTour:
    @pytest.mark.parametrize("who", ["ada", "otto", "audrey"])
    def test_leads_staff_through_clusters_queues_fences_history_and_the_editor(
        self, request: pytest.FixtureRequest, demo: Cluster, who: str
    ) -> None:
        """Each step is on the page that it is about."""
        assert walk(request.getfixturevalue(who)) == [
            ("/clusters/", "Step 1 of 5: Clusters"),
            ("/clusters/demo/queues/", "Step 2 of 5: Queues"),
            ("/clusters/demo/fences/", "Step 3 of 5: Fences"),
            ("/clusters/demo/history/", "Step 4 of 5: History"),
            ("/clusters/demo/editor/", "Step 5 of 5: Editor"),
        ]

    def test_leads_tenants_through_the_pages_that_they_have(self, tess: Client, demo: Cluster) -> None:
        """No clusters, no history and no editor, which they can't open."""
        assert [page for page, _title in walk(tess)] == [
            "/pods/",
            "/clusters/demo/queues/",
            "/clusters/demo/fences/",
            "/clusters/demo/priority-classes/",
            "/ledger/",
        ]

    def test_shows_editors_of_a_subtree_the_editor(self, tess: Client, demo: Cluster) -> None:
        """They may change the tree below their queues."""
        Membership.objects.filter(user__username="tess").update(role=Membership.Role.EDITOR)
        assert walk(tess)[-1] == ("/clusters/demo/editor/", "Step 5 of 5: Editor")

    def test_needs_no_cluster(self, ada: Client) -> None:
        """An admin of an empty installation sees where to begin."""
        assert [page for page, _title in walk(ada)] == ["/clusters/", "/people/users/", "/docs/glossary/"]

    def test_stays_in_the_cluster_that_the_reader_is_in(self, ada: Client, demo: Cluster) -> None:
        """Steps after it are about the same cluster."""
        rows.cluster("another")
        html = text_of(ada.get("/clusters/demo/queues/?tour=2"))
        assert 'href="/clusters/demo/fences/?tour=3"' in html

    def test_goes_back_and_ends(self, ada: Client, demo: Cluster) -> None:
        """By links: Back leads to the step before, End tour to the same page without it."""
        html = text_of(ada.get("/clusters/demo/queues/?tour=2"))
        assert 'rel="prev" href="/clusters/?tour=1"' in html
        assert '<a class="btn" href="/clusters/demo/queues/">End tour</a>' in html
        assert BAR not in text_of(ada.get("/clusters/demo/queues/"))

    @pytest.mark.parametrize("number", ["0", "3", "6", "-1", "x", "9" * 40, ""])
    def test_is_not_shown_where_page_and_number_differ(self, ada: Client, demo: Cluster, number: str) -> None:
        """A mistyped address is the page alone."""
        answer = ada.get("/clusters/demo/queues/", {"tour": number})
        assert answer.status_code == 200
        assert BAR not in text_of(answer)
