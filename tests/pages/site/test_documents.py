"""Links from pages to the documents about them."""

import re
from typing import Any

import pytest
from django.test import Client

from scheduler_admin.site.documents import DOCUMENTS, document_url
from scheduler_admin.site.urls import urlpatterns
from tests.documentation.documents import DOCS, anchors

SITE = "https://git.example.com/scheduler-admin/blob/main/docs"


@pytest.mark.parametrize("target", sorted({*DOCUMENTS.values(), "README.md"}))
def test_every_document_and_heading_that_pages_link_to_exists(target: str) -> None:
    """No link leads to a file, or to a place in it, that is not there."""
    document, _hash, anchor = target.partition("#")
    assert (DOCS / document).is_file()
    assert not anchor or anchor in anchors((DOCS / document).read_text(encoding="utf-8"))


def test_every_page_of_the_table_exists() -> None:
    """By the name of its address."""
    assert set(DOCUMENTS) <= {pattern.name for pattern in urlpatterns}


@pytest.mark.django_db
def test_a_page_links_to_its_document(ada: Client, settings: Any) -> None:
    """In its footer, if the site says where its documents are."""
    assert "Documentation" not in ada.get("/ledger/").content.decode()
    settings.DOCS_URL = SITE
    foot = ada.get("/ledger/").content.decode().partition('<footer class="foot">')[2]
    assert re.search(rf'href="{SITE}/concepts.md#ledger"\s+rel="noreferrer noopener">Documentation<', foot)


def test_a_page_that_has_none_links_to_the_index(settings: Any) -> None:
    """Of all documents."""
    settings.DOCS_URL = SITE
    assert document_url("find") == f"{SITE}/README.md"
