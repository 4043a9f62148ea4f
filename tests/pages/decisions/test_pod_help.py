"""What the page of a pod says a tenant can do about it."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from scheduler_admin.accounts.models import Site
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Victim
from scheduler_admin.pending.models import Wait
from tests.pages import rows
from tests.pages.conftest import client_of

pytestmark = pytest.mark.django_db
QUEUE, TRAINING = "root.tenant-1.queue-b", "root.tenant-1.training"
POD = "/pods/demo/search/embed-1/"


@pytest.fixture
def demo() -> Cluster:
    """A cluster in which a pod of the tenant's is pending."""
    made = rows.cluster("demo")
    rows.status(made)
    names = {"ask_namespace": "search", "ask_name": "embed-1", "ask_uid": "u1", "ask_priority": 100}
    rows.decision(made, QUEUE, **names, last_seen=timezone.now())
    return made


@pytest.fixture
def tess() -> Client:
    """A browser of queue-b's tenant."""
    return client_of(rows.tenant_user("tess", QUEUE, ("search",)))


def plain(client: Client, address: str = POD) -> str:
    """The text of a page's main part, with single blanks."""
    html = client.get(address).content.decode().partition("<main")[2].partition("</main>")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_a_pending_pods_page_begins_with_the_usual_wait(demo: Cluster, tess: Client) -> None:
    """Then comes what can be done: wait, use a higher class, ask."""
    waits = {"namespace": "search", "queue": QUEUE, "priority": 100, "since": timezone.now() - timedelta(minutes=3)}
    Wait.objects.create(cluster=demo, uid="u1", half_ms=10_000, most_ms=60_000, known=32, alike=True, **waits)
    text = plain(tess)
    usual = "Similar pods waited a median of 10.0 s; nine in ten waited at most 60.0 s (32 pods in the last 14 days)."
    assert text.count(usual) == 1
    assert text.index(usual) < text.index("What you can do") < text.index("What happened to this pod")
    assert "It has been pending for 4 min . This one has already waited longer." in text


def test_higher_classes_are_offered_with_what_they_are_for(demo: Cluster, tess: Client) -> None:
    """The lowest first, with the quotas of the pod's own namespace and no other's."""
    assert "Use a higher priority class. serving (1000): Answers people who wait." in plain(tess)
    assert "no-serving" not in plain(tess)
    (quota,) = ClusterStatus.objects.get().class_quotas
    ClusterStatus.objects.update(class_quotas=[quota, {**quota, "namespace": "search", "name": "some-serving"}])
    assert "quota some-serving: pods 0 of 0, requests.cpu 0 of 0" in plain(tess)
    assert "no-serving" not in plain(tess)
    assert 'href="/clusters/demo/priority-classes/"' in tess.get(POD).content.decode()


def test_where_no_class_is_higher_that_is_said(demo: Cluster, tess: Client) -> None:
    """Nothing is offered that would not help."""
    ClusterStatus.objects.update(classes=[])
    assert "This cluster has no such class." in plain(tess)


def test_a_preempted_pods_page_says_which_change_spares_the_next_one(demo: Cluster, tess: Client) -> None:
    """A smaller request or a higher class, as the engine worked out."""
    row = rows.decision(demo, TRAINING)
    change = {"then": "spared", "spared": "search/embed-9"}
    rows.victim(
        row,
        QUEUE,
        name="embed-9",
        priority=100,
        changes=[
            {**change, "change": "own-request", "smaller": {"cpu": 500}},
            {**change, "change": "priority", "priority": 901},
        ],
    )
    text = plain(tess, "/pods/demo/search/embed-9/")
    assert "Request less. embed-9 would be spared if it requested 500m cpu less." in text
    assert "Use a higher priority class. embed-9 would be spared if its priority were 901. serving (1000)" in text
    assert "It has been pending" not in text


@pytest.mark.parametrize("state", [Victim.State.SPARED, Victim.State.CHOSEN])
def test_nothing_is_to_be_done_about_a_pod_that_was_not_evicted(demo: Cluster, tess: Client, state: str) -> None:
    """But asking."""
    row = rows.decision(demo, TRAINING)
    rows.victim(row, QUEUE, name="embed-9", state=state, evicted_at=None, gone_at=None)
    text = plain(tess, "/pods/demo/search/embed-9/")
    assert ("Use a higher priority class." in text, "Ask." in text) == (False, True)


class TestWhomToAsk:
    """As the site's settings say."""

    LINKS = (
        {"label": "Open a ticket", "url": "https://tickets.example.com/new?about={namespace}/{pod}&body={summary}"},
        {"label": "Chat", "url": "https://chat.example.com/gpu"},
    )

    def test_the_contact_and_the_links_of_the_site_are_on_the_page(self, demo: Cluster, tess: Client) -> None:
        """With the pod, and its summary, in their addresses."""
        Site.objects.create(support_contact="#gpu-help", support_links=list(self.LINKS))
        html = tess.get(POD).content.decode()
        assert "Ask. #gpu-help; Open a ticket (external) , Chat (external)" in plain(tess)
        (address,) = re.findall(r'href="(https://tickets[^"]+)"', html)
        query = parse_qs(urlsplit(address.replace("&amp;", "&")).query)
        assert query["about"] == ["search/embed-1"]
        assert query["body"][0].startswith("Pod: search/embed-1\nCluster: demo\n")

    def test_without_one_admins_learn_where_to_set_it(self, demo: Cluster, tess: Client, ada: Any) -> None:
        """Tenants are sent to whoever runs the cluster."""
        assert "Ask. The people who run this cluster can help." in plain(tess)
        assert "Set a contact" not in plain(tess)
        assert "Set a contact" in plain(ada)


def test_an_older_decision_offers_nothing(demo: Cluster, tess: Client) -> None:
    """What is to be done follows from the newest."""
    names = {"ask_namespace": "search", "ask_name": "embed-1", "ask_uid": "u1"}
    old = rows.decision(demo, QUEUE, minutes=30, **names)
    assert "What you can do" in plain(tess)
    assert "What you can do" not in plain(tess, f"{POD}?decision={old.pk}")
