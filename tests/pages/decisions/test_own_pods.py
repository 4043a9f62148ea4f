"""A tenant's list of pods: one row for each, with what it does now."""

import re
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.test import Client
from django.utils import timezone

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.pending.models import Wait
from tests.builders import ask, node, pod
from tests.nodes.builders import store
from tests.pages import moments, rows
from tests.pages.conftest import client_of

pytestmark = pytest.mark.django_db
QUEUE, TRAINING = "root.tenant-1.queue-b", "root.tenant-1.training"


@pytest.fixture
def demo() -> Cluster:
    """A cluster whose passes store what they see."""
    made = rows.cluster("demo")
    rows.status(made)
    sees(made)
    return made


@pytest.fixture
def tess() -> Client:
    """A browser of queue-b's tenant."""
    return client_of(rows.tenant_user("tess", QUEUE, ("search",)))


def sees(cluster: Cluster, *found: Any) -> None:
    """The last pass saw these pods, on gpu-04 or elsewhere, and no others."""
    store(cluster, moments.TREE, node("gpu-04", 64), node("gpu-05", 64), *found)


def own(name: str, uid: str, where: str | None = "gpu-04", **fields: Any) -> Any:
    """A pod of the tenant's."""
    made = pod(name, queue=QUEUE, node=where) if where else ask(name, queue=QUEUE)
    facts = {"uid": uid, "namespace": "search", "application_label": "embed-batch-7f9c", **fields}
    return msgspec.structs.replace(made, **facts)


def pending(cluster: Cluster, name: str, uid: str, minutes: float = 4, **fields: Any) -> Decision:
    """A decision about a pod of the tenant's that found no room."""
    names = {"ask_namespace": "search", "ask_name": name, "ask_uid": uid, "ask_application": "embed-batch-7f9c"}
    return rows.decision(cluster, QUEUE, minutes=minutes, **{**names, **fields})


def listed(client: Client, **query: str) -> list[tuple[str, str, str]]:
    """Name, state and reason of each row."""
    found = client.get("/pods/", query).context["rows"]
    return [(row.event.name, row.state.word, row.why) for row in found]


def test_a_pod_with_several_decisions_is_one_row(demo: Cluster, tess: Client) -> None:
    """Its history is on its own page."""
    for minutes in (9, 6, 3):
        pending(demo, "embed-1", "u1", minutes, reason=("no-room", "delay", "no-candidates")[minutes // 3 - 1])
    sees(demo, own("embed-1", "u1", None))
    assert listed(tess) == [("embed-1", "pending", "no room")]
    page = tess.get("/pods/demo/search/embed-1/")
    assert [line.why for line in page.context["others"]] == ["preemption delay", "no candidates"]


def test_every_row_says_what_the_pod_does_now(demo: Cluster, tess: Client) -> None:
    """Not what it did when something was decided about it."""
    pending(demo, "waits", "u1", 5)
    pending(demo, "runs", "u2", 6)
    pending(demo, "ended", "u3", 7)
    row = rows.decision(demo, TRAINING, minutes=8, victims=(QUEUE,))
    lost = row.victims.get().name
    spared = rows.decision(demo, TRAINING, minutes=9)
    rows.victim(spared, QUEUE, uid="u5", name="stays", state=Victim.State.SPARED, evicted_at=None, gone_at=None)
    sees(demo, own("waits", "u1", None), own("runs", "u2", "gpu-05"), own("stays", "u5"))
    assert listed(tess) == [
        ("waits", "pending", "no candidates"),
        ("runs", "running", "was pending: no candidates"),
        ("ended", "gone", "was pending: no candidates"),
        (lost, "preempted", "training was below its guarantee"),
        ("stays", "running", "was spared"),
    ]


def test_a_pod_that_was_told_to_go_is_being_evicted_until_it_is_gone(demo: Cluster, tess: Client) -> None:
    """One that ends for another reason is terminating."""
    row = rows.decision(demo, TRAINING)
    rows.victim(row, QUEUE, uid="u1", name="embed-1", state=Victim.State.EVICTED, gone_at=None)
    pending(demo, "embed-2", "u2", 5)
    sees(demo, own("embed-1", "u1", terminating=True), own("embed-2", "u2", terminating=True))
    assert [word for _name, word, _why in listed(tess)] == ["being evicted", "terminating"]


def test_a_pod_that_came_back_under_its_name_is_told_from_the_one_that_went(demo: Cluster, tess: Client) -> None:
    """As a StatefulSet's do, on any node."""
    row = rows.decision(demo, TRAINING)
    rows.victim(row, QUEUE, uid="old", name="embed-0", controller="StatefulSet/embed")
    sees(demo)
    assert listed(tess) == [("embed-0", "preempted", "no candidates")]
    sees(demo, own("embed-0", "new", "gpu-05"))
    assert listed(tess) == [("embed-0", "running again", "was preempted: no candidates")]


def test_a_stranger_of_the_same_name_is_not_seen(demo: Cluster) -> None:
    """That another tenant has a pod of this name tells nothing about this one."""
    pending(demo, "embed-1", "u1")
    user = rows.tenant_user("tess", QUEUE, ("search",))
    sees(demo, msgspec.structs.replace(own("embed-1", "u1"), namespace="vision"))
    assert listed(client_of(user)) == [("embed-1", "gone", "was pending: no candidates")]


def test_a_pending_pod_says_how_long_it_usually_takes(demo: Cluster, tess: Client) -> None:
    """And how long it has waited by now; one that runs, how long it did."""
    at = timezone.now()
    for uid in ("u1", "u2"):
        pending(demo, f"embed-{uid}", uid)
        past = {"namespace": "search", "queue": QUEUE, "priority": 0, "since": at - timedelta(minutes=4)}
        Wait.objects.create(cluster=demo, uid=uid, half_ms=10_000, known=32, **past)
    Wait.objects.filter(uid="u2").update(until=at - timedelta(minutes=1), ending=Wait.Ending.BOUND)
    sees(demo, own("embed-u1", "u1", None), own("embed-u2", "u2", "gpu-05"))
    html = re.sub(r"\s+", " ", tess.get("/pods/").content.decode())
    assert "usually 10.0 s" in html
    assert sorted(listed(tess))[1] == ("embed-u2", "running", "was pending for 3 min")


def test_what_waits_now_is_found_however_long_it_has_waited(demo: Cluster, tess: Client) -> None:
    """Among hundreds of newer decisions; what has got room by now is not."""
    at = timezone.now()
    ClusterStatus.objects.update(pass_at=at)
    pending(demo, "old", "u0", 5000, last_seen=at)
    for number in range(60):
        pending(demo, f"new-{number}", f"n{number}", 1 + number / 100)
    assert listed(tess, show="pending") == [("old", "pending", "no candidates")]


def test_no_page_shows_a_pod_again(demo: Cluster, tess: Client) -> None:
    """Whose newest decision an earlier page has shown; none is left out."""
    for number in range(70):
        for again in (0, 1):
            pending(demo, f"embed-{number}", f"u{number}", 10 + number + 200 * again)
    seen: list[str] = []
    before = ""
    while True:
        page = tess.get("/pods/", {"before": before} if before else {})
        seen += [row.event.name for row in page.context["rows"]]
        before = page.context["older"]
        if not before:
            break
    assert sorted(seen) == sorted(f"embed-{number}" for number in range(70))


def test_where_passes_store_no_pods_decisions_tell_the_state(tess: Client) -> None:
    """As right after an upgrade."""
    made = rows.cluster("demo")
    rows.status(made)
    pending(made, "embed-1", "u1", last_seen=timezone.now())
    pending(made, "embed-2", "u2", 5)
    assert listed(tess) == [("embed-1", "pending", "no candidates"), ("embed-2", "was pending", "no candidates")]
