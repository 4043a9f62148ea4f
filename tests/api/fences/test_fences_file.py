"""The map of fences by REST: the drawing that the page saves."""

import xml.etree.ElementTree as ET

from django.test import Client
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy
from tests.api.builders import BLUE, RED
from tests.api.sending import errors

URL = "/api/v1/clusters/prod/fences.svg"


def test_it_is_what_the_page_saves(olga: APIClient, cluster: Cluster, client: Client) -> None:
    """To the letter, whatever is chosen."""
    client.force_login(User.objects.get(username="olga"))
    for query, on_the_page in (
        ({}, ""),
        ({"queue": RED, "since": "none"}, f"?queue={RED}&since=none"),
        ({"collapsed": ["root.red", "root.blue"], "expanded": "root"}, "?fold=root.red&fold=root.blue&open=root"),
        ({"root": "root.red", "queue": RED}, f"?in=root.red&queue={RED}"),
    ):
        drawn, saved = olga.get(URL, query), client.get(f"/clusters/prod/fences.svg{on_the_page}")
        assert (drawn.status_code, saved.status_code) == (200, 200)
        assert drawn.content == saved.content
        for name in ("Content-Disposition", "Content-Security-Policy"):
            assert drawn[name] == saved[name]
        assert drawn["Content-Type"].startswith("image/svg+xml")
        assert ET.fromstring(drawn.content).tag.endswith("svg")
    plain, folded = olga.get(URL).content, olga.get(URL, {"collapsed": "root.red"}).content
    assert plain != folded


def test_tenants_see_their_own_queues(alice: APIClient, cluster: Cluster) -> None:
    """And may not ask for another's."""
    drawn = alice.get(URL)
    assert drawn.status_code == 200
    assert b"blue" not in drawn.content
    assert errors(alice.get(URL, {"queue": BLUE})) == [{"parameter": "queue"}]
    assert errors(alice.get(URL, {"expanded": ["root.red", BLUE]})) == [{"parameter": "expanded"}]


def test_what_can_not_be_drawn_is_a_problem(olga: APIClient, cluster: Cluster) -> None:
    """In JSON, also for who takes nothing else than the drawing."""
    assert errors(olga.get(URL, {"since": "1y", "collapsed": "a..b"})) == [
        {"parameter": "since"},
        {"parameter": "collapsed"},
    ]
    Hierarchy.objects.update(current=None)
    refused = olga.get(URL, headers={"Accept": "image/svg+xml"})
    assert (refused.status_code, refused.json()["status"]) == (404, 404)
