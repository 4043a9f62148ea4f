"""Empty pages and lists say why they are empty and what to do next, all by the same component."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from scheduler_admin.accounts.models import Site, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy
from tests.pages import rows
from tests.pages.conftest import client_of

TEMPLATES = Path(settings.BASE_DIR) / "templates"
COMPONENT = "site/_empty.html"
SENTENCE = re.compile(r"\b(?:No|None|Nothing|There is no)\b[^\"{}]*\b(?:yet|match|matches|was found)\b[^\"{}]*")
"""What an empty state says."""
SHOWN = re.compile(r'{% translate "(?P<text>[^"]+)"(?P<rest>[^%]*)%}')
FACTS = {
    "No pass has considered these pods yet.",
    "No queue has a guarantee yet, and resource quotas become max values. You can change both in the editor later.",
    "No tenants yet. You can add users to tenants later.",
}
"""Sentences about something else than an empty page or list."""


def sources() -> dict[str, str]:
    """Return every template by its name."""
    return {str(path.relative_to(TEMPLATES)): path.read_text() for path in TEMPLATES.rglob("*.html")}


class TestTheSources:
    def test_the_component_alone_has_the_look_of_an_empty_state(self) -> None:
        """Whoever writes another one finds this test."""
        assert [name for name, text in sources().items() if re.search(r'class="[^"]*\bempty\b', text)] == [COMPONENT]

    def test_what_sounds_like_an_empty_state_is_handed_to_the_component(self) -> None:
        """A sentence such as “No drafts yet.” is its title."""
        wrong = [
            (name, shown["text"])
            for name, text in sources().items()
            for shown in SHOWN.finditer(text)
            if SENTENCE.fullmatch(shown["text"]) and " as " not in shown["rest"] and shown["text"] not in FACTS
        ]
        assert wrong == []

    def test_sentences_that_are_excused_are_still_there(self) -> None:
        """The list above names nothing that has gone."""
        every = "".join(sources().values())
        assert [fact for fact in FACTS if fact not in every] == []

    def test_every_empty_state_has_a_title_and_a_reason(self) -> None:
        """The component is never included without both."""
        found = [tag for text in sources().values() for tag in re.findall(rf'{{% include "{COMPONENT}"[^%]*%}}', text)]
        assert len(found) > 30
        assert [tag for tag in found if "title=" not in tag or "text=" not in tag or " only " not in tag] == []
        assert [tag for tag in found if (" to=" in tag) != (" action=" in tag)] == []


def text_of(client: Client, address: str) -> str:
    """Return a page with single spaces."""
    return " ".join(client.get(address).content.decode().split())


def bare() -> None:
    """Add a cluster for which no tree was published."""
    Cluster.objects.create(name="bare", hierarchy=Hierarchy.objects.create(name="bare"))


@pytest.mark.django_db
class TestWhatToDoNext:
    def test_an_admin_without_clusters_connects_one(self, ada: Client) -> None:
        """The link is in the empty page itself."""
        assert '<a class="btn" id="to-next" href="/clusters/connect/">Connect a cluster</a>' in text_of(
            ada, "/clusters/"
        )

    def test_others_without_clusters_read_who_does_it(self, otto: Client) -> None:
        """Nobody is led to a page that they can't open."""
        html = text_of(otto, "/clusters/")
        assert "A cluster appears here when an admin connects it." in html
        assert 'id="to-next"' not in html

    @pytest.mark.parametrize("page", ["queues", "fences", "editor", "revisions"])
    def test_a_cluster_without_a_tree_leads_admins_to_the_import(self, ada: Client, page: str) -> None:
        """Wherever the tree is missing."""
        bare()
        html = text_of(ada, f"/clusters/bare/{page}/")
        assert "There is no queue tree yet." in html
        assert 'href="/clusters/bare/import/">Import a tree</a>' in html

    def test_auditors_are_not_led_to_the_import(self, audrey: Client) -> None:
        """They read that an admin does it."""
        bare()
        html = text_of(audrey, "/clusters/bare/queues/")
        assert "An admin can import one." in html
        assert "Import a tree" not in html

    def test_a_tenant_without_pods_reads_whom_to_ask(self, db: None) -> None:
        """As the site's settings name them."""
        Site.objects.create(support_contact="#platform-help")
        html = text_of(client_of(rows.user("newcomer", User.Role.TENANT)), "/pods/")
        assert "ask an administrator which namespaces belong to your tenant. Whom to ask: #platform-help" in html
        assert 'href="/account/">See your tenants</a>' in html

    def test_filters_that_hide_everything_are_cleared_by_one_link(self, ada: Client, demo: Cluster) -> None:
        """The page without them."""
        html = text_of(ada, "/clusters/demo/history/?node=no-such-node")
        assert 'href="/clusters/demo/history/">Clear filters</a>' in html
