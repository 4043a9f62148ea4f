"""A revision can be had in every format, and what a format can't say is told before the download."""

import re

import pytest
from django.test import Client

from engine.formats import registry
from engine.formats.registry import Format
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.pages.editor import parts
from scheduler_admin.queues.services.hierarchies import Native, publish, terms_of, tree_of
from tests.engine.test_kueue_objects import DOCUMENT, declared
from tests.pages.queues.drafts import texts

pytestmark = pytest.mark.django_db
PAGE = "/clusters/demo/revisions/1/export/"


@pytest.mark.parametrize("form", Format)
def test_what_is_downloaded_is_the_tree(ada: Client, demo: Cluster, form: Format) -> None:
    """In every format; our own says how it decides, too."""
    response = ada.get(f"{PAGE}{form}.yaml")
    assert response.headers["Content-Disposition"] == f'attachment; filename="demo-revision-1-{form}.yaml"'
    read, revision = registry.read(response.content.decode(), form), Revision.objects.get()
    assert declared(read.tree) == declared(tree_of(revision))
    assert read.terms == (terms_of(revision)._asdict() if form is Format.SCHEDULER_ADMIN else {})


def test_what_a_format_can_not_say_is_told_before(ada: Client, demo: Cluster) -> None:
    """Queue by queue; and whether it is the document that the tree came from."""
    said = texts(ada.get(PAGE).content.decode())
    assert "root.tenant-1: Kueue does not support" in said
    assert "Scheduler Admin YAML or JSON newly generated This format can express the whole tree." in said


def test_the_document_that_it_came_from_is_written_back(ada: Client, demo: Cluster) -> None:
    """To the byte, where the tree is still the one that it says."""
    assert demo.hierarchy is not None
    publish(
        hierarchy=demo.hierarchy,
        tree=registry.read(DOCUMENT).tree,
        author=None,
        reason="from Kueue",
        native=Native("kueue", DOCUMENT),
    )
    assert ada.get("/clusters/demo/revisions/2/export/kueue.yaml").content.decode() == DOCUMENT
    said = texts(ada.get("/clusters/demo/revisions/2/export/").content.decode())
    assert "Kueue objects the imported document, updated to this tree This format can express the whole tree." in said


def test_a_format_of_a_large_tree_is_checked_when_somebody_asks(
    ada: Client, demo: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To write all of them takes long; a download is there at once."""
    monkeypatch.setattr(parts, "MOST", 8)
    html = ada.get(PAGE).content.decode()
    assert re.findall(r'href="\?check=([^#]+)#h-([^"]+)"', html) == [(form, form) for form in Format]
    assert "Kueue does not support" not in html
    assert f'href="{PAGE}kueue.yaml"' in html
    html = ada.get(PAGE, {"check": "kueue"}).content.decode()
    assert "root.tenant-1: Kueue does not support" in texts(html)
    assert html.count('href="?check=') == len(Format) - 1


def test_others_see_no_export(tess: Client, carl: Client, ada: Client, demo: Cluster) -> None:
    """It shows the whole tree; and there is none of a format that is not known."""
    for client in (tess, carl):
        assert client.get(PAGE).status_code == 404
        assert client.get(f"{PAGE}kueue.yaml").status_code == 404
    assert ada.get(f"{PAGE}excel.yaml").status_code == 404
