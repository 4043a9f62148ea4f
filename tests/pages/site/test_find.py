"""Finding: by a part of a name, whatever it is the name of, and nothing that is somebody else's."""

import re

import pytest
from django.test import Client

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from tests.pages import rows

pytestmark = pytest.mark.django_db


def found(client: Client, text: str, **headers: str) -> dict[str, list[str]]:
    """The addresses that are found, by the heading above them."""
    html = client.get("/find/", {"q": text}, headers=headers).content.decode()
    groups = re.findall(r"<section.*?<h2[^>]*>(.*?)</h2>(.*?)</section>", html, re.DOTALL)
    return {title: re.findall('<li><a href="([^"]*)"', items) for title, items in groups}


def test_each_kind_is_found_by_a_part_of_its_name(ada: Client, demo: Cluster) -> None:
    """Of pods and applications, as there are so many, by its beginning; every address that is found leads to a page."""
    decision = rows.decision(
        demo, "root.tenant-1.training", ask_name="Bert-7", ask_application="bert", ask_namespace="ml"
    )
    weather = create_tenant(name="weather")
    looked_for = {
        "Clusters": ("EM", "/clusters/demo/queues/"),
        "Queues": ("traiN", "/clusters/demo/queues/root.tenant-1.training/"),
        "Pods": ("Bert-7", "/pods/demo/ml/Bert-7/"),
        "Applications": ("ber", "/clusters/demo/application/?namespace=ml&amp;application=bert"),
        "Decisions": (f"#{decision.pk}", f"/clusters/demo/decisions/{decision.pk}/"),
        "Tenants": ("WEA", f"/people/tenants/{weather.pk}/"),
        "Users": ("AD", f"/people/users/{User.objects.get(username='ada').pk}/"),
    }
    for kind, (text, url) in looked_for.items():
        assert url in found(ada, text)[kind], kind
        assert ada.get(url.replace("&amp;", "&")).status_code == 200, kind


def test_what_has_the_name_itself_comes_first(ada: Client, demo: Cluster) -> None:
    """A queue before those below it."""
    urls = found(ada, "tenant-1")["Queues"]
    assert urls[0] == "/clusters/demo/queues/root.tenant-1/"
    assert len(urls) > 1


def test_nothing_is_found_by_nothing_and_that_is_said_of_what_is_not_there(ada: Client, demo: Cluster) -> None:
    """An empty field asks for nothing; the wrong name gets an answer."""
    assert found(ada, "   ") == {}
    assert found(ada, "no such name") == {}
    assert "Nothing here has “no such name” in its name" in ada.get("/find/?q=no such name").content.decode()
    assert ada.get("/find/", {"q": "x" * 100_000 + "\0"}).status_code in {200, 400}


def test_a_tenant_finds_what_is_its_own(tess: Client, ada: Client, demo: Cluster) -> None:
    """Not the cluster, no nodes, no people, and nobody else's queues, pods and decisions."""
    assert found(tess, "tess") == {}
    mine = found(tess, "o")
    assert not {"Clusters", "Nodes"} & set(mine)
    own, everything = (set(found(who, "root").get("Queues", [])) for who in (tess, ada))
    assert own < everything
    for url in (url for urls in mine.values() for url in urls):
        assert tess.get(url.replace("&amp;", "&")).status_code in {200, 302}, url
    strange = [
        one for one in Decision.objects.all() if tess.get(f"/clusters/demo/decisions/{one.pk}/").status_code == 404
    ]
    assert strange
    assert not any(found(tess, str(one.pk)).get("Decisions") for one in strange)


def test_the_palette_gets_the_list_alone(ada: Client, demo: Cluster) -> None:
    """The same that the page shows."""
    assert found(ada, "root") == found(ada, "root", HX_Request="true")
    assert "<html" not in ada.get("/find/?q=root", headers={"HX-Request": "true"}).content.decode()
