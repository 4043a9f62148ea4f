"""Pages of a cluster that is divided by shares."""

import importlib
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from engine.model.decision import Decision as Decided
from engine.model.decision import (
    DeservedFigures,
    Outcome,
    PodFacts,
    PodReason,
    PodVerdict,
    Reason,
    ReclaimNotice,
    Trace,
    encode,
)
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from tests.pages import rows
from tests.pages.queues.shares import QUEUE_B, divided

pytestmark = pytest.mark.django_db
CPU = {"cpu": 1000}
PAGE = f"/clusters/demo/queues/{QUEUE_B}/"


@pytest.fixture
def shared(demo: Cluster) -> Cluster:
    return divided(demo)


def test_queues_stand_against_what_they_deserve(ada: Client, shared: Cluster) -> None:
    """In words and numbers, with what is reserved and hard beside; the lead and the legend speak of shares."""
    html = ada.get("/clusters/demo/queues/").content.decode()
    for shown in (
        ">47.2 above deserved share",
        ">32 below deserved share<",
        "its deserved share",
        "deserved share (always mid-bar)",
        "must give back within",
    ):
        assert shown in html
    assert "guarantee" not in strip_tags(html.partition("<main")[2].partition("</main>")[0])


def test_the_footer_leads_to_the_term_that_the_page_uses(ada: Client, shared: Cluster) -> None:
    """Of the tree and of a queue; under other policies it is the guarantee."""
    for address in ("/clusters/demo/queues/", PAGE):
        foot = ada.get(address).content.decode().partition("<footer")[2]
        assert "#deserved-share" in foot
        assert "#guarantee" not in foot


def test_under_other_policies_the_footer_leads_to_the_guarantee(ada: Client, demo: Cluster) -> None:
    for address in ("/clusters/demo/queues/", PAGE):
        foot = ada.get(address).content.decode().partition("<footer")[2]
        assert "#guarantee" in foot
        assert "#deserved-share" not in foot


def test_the_filter_finds_those_that_have_more_than_they_deserve(ada: Client, shared: Cluster) -> None:
    """Whatever is guaranteed to them: queue-1 is below its guarantee."""
    html = ada.get("/clusters/demo/queues/?state=above&q=tenant-2").content.decode()
    assert "queue-1" in html
    assert "queue-1" not in ada.get("/clusters/demo/queues/?state=above&q=training").content.decode()


def test_the_queue_says_what_it_borrows_of_whom_and_how_long_it_may_keep_it(ada: Client, shared: Cluster) -> None:
    """The deadline stands there as a time, and as what is left of it."""
    html = ada.get(PAGE).content.decode()
    for shown in ("Borrowed and lent", "borrows", "training</a>", "to give back cpu 47", "data-left", 'role="timer"'):
        assert shown in html


def test_whom_it_may_preempt_and_its_settings_speak_of_shares(ada: Client, shared: Cluster) -> None:
    """Nothing is guaranteed, no priority is in the way, and there is a grace period in place of a delay."""
    html = ada.get(PAGE).content.decode()
    reaches = html.partition('id="reaches"')[2].partition("</main>")[0]
    settings = html.partition('id="settings"')[2].partition("</section>")[0]
    assert reaches.count("be notified, and have no grace period left") == 2
    for shown in ("cpu reserved", "cpu deserved share", "cpu hard cap", "Grace period"):
        assert shown in settings
    assert "uarantee" not in reaches
    assert "Priorities" not in settings


def test_a_hard_cap_above_the_quota_of_the_namespace_is_a_finding(ada: Client, shared: Cluster) -> None:
    """With what the namespace may have; only where it is so."""
    assert "ResourceQuotas" not in ada.get(PAGE).content.decode()
    shared.status.queues[QUEUE_B]["above_quota"] = {"namespace": "search", "allows": {"cpu": 2000}}
    shared.status.save()
    html = ada.get(PAGE).content.decode()
    assert "is higher than the ResourceQuotas of namespace search allow (cpu 2)." in html


def test_a_tenant_learns_of_others_only_that_they_lend(tess: Client, shared: Cluster) -> None:
    """Not which they are; here nobody of its own lends any."""
    training = shared.status.queues["root.tenant-1.training"]
    training["deserved"] = training["used"]
    shared.status.save()
    html = tess.get(PAGE).content.decode()
    lending = html.partition('id="lending"')[2].partition("</section>")[0]
    assert "queues of other tenants" in lending
    assert "queue-a" not in lending


def test_where_nothing_is_evicted_nobody_was_told(ada: Client, shared: Cluster) -> None:
    """It says what would have been."""
    Cluster.objects.update(mode="observe")
    shared.notices.update(mode="observe")
    html = ada.get(PAGE).content.decode()
    assert "would have received a reclaim notice at" in html
    assert "No pods are evicted, because this cluster is not in Enforce mode." in html


def test_the_figure_is_drawn_as_the_proposal_draws_it(ada: Client, shared: Cluster) -> None:
    """Hard and reserved as lines, what is deserved dashed between them, what is borrowed filled."""
    figure = ada.get(f"{PAGE}usage.json?range=24h").json()
    traces = {trace["meta"]: trace for trace in figure["data"]}
    assert list(traces)[:5] == ["reserved", "deserved", "over", "hard", "used"]
    assert (traces["deserved"]["line"]["dash"], set(traces["deserved"]["y"])) == ("dash", {200.0})
    assert all(amount >= 200 for amount in traces["over"]["y"])
    assert importlib.import_module("plotly.graph_objects").Figure(figure).data


def standing(queue: str, used: int) -> DeservedFigures:
    """A queue that deserves 4 cores."""
    held = {"cpu": used}
    return DeservedFigures(
        queue=queue,
        requested={"cpu": 9000},
        used=held,
        after=held,
        reserved={"cpu": 1000},
        hard={},
        deserved={"cpu": 4000},
    )


def in_grace(demo: Cluster) -> Decision:
    """An ask of root.system, for which queue-b is to give back."""
    facts: dict[str, Any] = {"uid": "u", "application": "", "priority": 0, "requests": CPU}
    there = PodFacts(namespace="kube-system", name="dns", queue="", node="node-7", **facts)
    made = Decided(
        policy="deserved",
        ask=PodFacts(namespace="n", name="a", queue="root.system", **facts),
        outcome=Outcome.NOT_ELIGIBLE,
        reason=Reason.GRACE,
        notices=(ReclaimNotice(queue=QUEUE_B, over={"cpu": 3000}, due_ms=1_767_614_430_000),),
        trace=Trace(
            deserved=(standing("root.system", 2000), standing(QUEUE_B, 7000)),
            excluded=(PodVerdict(pod=there, reason=PodReason.SYSTEM),),
        ),
    )
    return rows.decision(demo, "root.system", policy="deserved", document=encode(made).decode())


def test_a_decision_says_who_is_to_give_back_and_what_the_queues_deserve(ada: Client, demo: Cluster) -> None:
    """With its numbers, and until when."""
    html = ada.get(f"/clusters/demo/decisions/{in_grace(demo).pk}/").content.decode()
    assert "must give back cpu 3 by" in html
    assert "2026-01-05 12:00:30 UTC" in html
    assert ">3 above deserved share<" in html
    assert "1 pod on node-7 was not a candidate" in html
    assert "the middle line marks the guarantee" not in html


def test_the_page_of_a_pod_says_what_its_own_queue_deserves(ada: Client, demo: Cluster) -> None:
    """And nothing of others."""
    row = in_grace(demo)
    html = ada.get(f"/pods/demo/{row.ask_namespace}/{row.ask_name}/").content.decode()
    shares = html.partition('id="h-shares"')[2].partition("</section>")[0]
    assert ">2 below deserved share<" in shares
    assert "queue-b" not in shares
    assert "the middle line marks the guarantee" not in html
