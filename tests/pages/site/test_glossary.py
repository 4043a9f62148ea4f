"""The glossary: one page in the reader's language, one document in the repository, the same terms in both."""

from pathlib import Path

from django.conf import settings
from django.test import Client
from django.utils import translation

from scheduler_admin.site.glossary import GLOSSARY

DOCUMENT = Path(settings.BASE_DIR) / "docs/glossary.md"


def test_every_page_leads_to_the_glossary(ada: Client, demo: object) -> None:
    del demo
    assert 'href="/docs/glossary/"' in ada.get("/clusters/").content.decode()


def test_the_page_has_every_term_with_an_anchor(ada: Client) -> None:
    page = ada.get("/docs/glossary/").content.decode()
    for section in GLOSSARY:
        for term in section.terms:
            assert f'<div id="{term.anchor}">' in page


def test_the_document_says_the_same_as_the_page() -> None:
    with translation.override("en"):
        rows = [f"| {term.name} | {term.meaning} |" for section in GLOSSARY for term in section.terms]
    document = DOCUMENT.read_text()
    assert [row for row in rows if row not in document] == []


def test_anchors_are_unique() -> None:
    anchors = [term.anchor for section in GLOSSARY for term in section.terms]
    assert len(anchors) == len(set(anchors))
