"""Links to other tools in a browser: on the pages of a pod, of a decision and of a node, in every look."""

import re

import pytest
from playwright.sync_api import expect

from scheduler_admin.accounts.models import Site
from scheduler_admin.decisions.models import Decision
from tests.browser.conftest import OpenPage
from tests.browser.sound import faults
from tests.builders import node, pod, queue, tree
from tests.nodes.builders import store
from tests.pages import moments, rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
POD = "/pods/demo/search/embed-batch-7f9c-x8v2d/"
LINKS = [
    {"label": "Logs", "url": "https://logs.example.com/{namespace}/{pod}?from={from}&to={to}"},
    {"label": "A dashboard with a long name", "url": "https://dash.example.com/{pod}"},
]
HELP = [{"label": "Open a ticket", "url": "https://tickets.example.com/?about={pod}"}]


def test_they_are_at_hand_wherever_a_pod_or_a_node_is(open_page: OpenPage) -> None:
    """Marked as external, also for those who can't see it, and no page gets too wide by them."""
    demo = rows.cluster("demo")
    rows.status(demo)
    moments.carried_out(moments.decide(demo)[0])
    store(demo, tree({"a": queue()}), node("n1", 4), pod("web-0", node="n1", queue="root.a"))
    node_links = [{"label": "Headlamp", "url": "https://headlamp.example.com/{node}"}]
    Site.objects.create(pod_links=LINKS, node_links=node_links, support_links=HELP)
    decision = Decision.objects.get(outcome="preempt")
    for path in (POD, f"/clusters/demo/decisions/{decision.pk}/", "/clusters/demo/nodes/n1/"):
        page = open_page(path)
        expect(page.get_by_role("link", name="Logs").first).to_have_accessible_name(
            re.compile(r"^Logs .*\(external\)$")
        )
        assert faults(page) == {}, path
