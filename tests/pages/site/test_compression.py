"""What compression does to answers, and to the tags that clients send back."""

import gzip

import pytest
from django.db.models import F
from django.test import Client

from scheduler_admin.clusters.models import Cluster, ClusterStatus

pytestmark = pytest.mark.django_db

TREE = "/clusters/demo/queues/"
GZIP = {"Accept-Encoding": "gzip"}
NEWS = {**GZIP, "HX-Request": "true", "HX-Target": "live"}


def test_a_page_is_compressed_for_who_takes_that(ada: Client, demo: Cluster) -> None:
    """Nobody else gets what they cannot read."""
    plain, packed = ada.get(TREE), ada.get(TREE, headers=GZIP)
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert len(packed.content) < len(plain.content) / 3
    assert b"data-digest=" in gzip.decompress(packed.content)


def test_news_is_not_sent_again_though_it_was_compressed(ada: Client, demo: Cluster) -> None:
    """The tag that the page has, that of the first news and that of an answer without news are the same one."""
    page = ada.get(TREE).content.decode()
    ClusterStatus.objects.update(news=F("news") + 1)
    assert (
        ada.get(TREE, headers={**NEWS, "If-None-Match": page.split('data-etag="')[1].split('" ')[0]}).status_code == 200
    )
    first = ada.get(TREE, headers=NEWS)
    assert first["Content-Encoding"] == "gzip"
    again = ada.get(TREE, headers={**NEWS, "If-None-Match": first["ETag"]})
    assert (again.status_code, again["ETag"]) == (304, first["ETag"])
