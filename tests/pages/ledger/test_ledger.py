"""The ledger's page and its exports: everyone's own lines, and of the other side what the site tells."""

import csv
import io
import json
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from scheduler_admin.accounts.models import Site, Tenant, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.ledger.services import book
from tests.pages import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
URL = "/ledger/"
TRAINING, QUEUE_B, QUEUE_2 = "root.tenant-1.training", "root.tenant-1.queue-b", "root.tenant-2.queue-2"
CANARY = "root.canary-team.canary-leaf"


@pytest.fixture
def noon():
    """A moment that lasts."""
    with time_machine.travel("2026-01-31T12:00:00Z", tick=False):
        yield


def went(cluster: Cluster, queue: str, *victims: str, hours: float = 1, namespace: str = "search", **fields: object):
    """Pods of a namespace, of one core each, which had run so long, went for an ask of a queue; booked."""
    row = rows.decision(cluster, queue, victims=victims, **fields)
    started = row.first_seen - timedelta(hours=hours)
    row.victims.update(started_at=started, requests=rows.amounts(("1",)), namespace=namespace)
    book(cluster=cluster)


@pytest.fixture
def cluster():
    """Training took two pods of queue-b; a stranger took one, and lost one to queue-b; the kubelet ended one."""
    made = rows.cluster("demo")
    rows.status(made)
    went(made, TRAINING, QUEUE_B, QUEUE_B)
    went(made, CANARY, QUEUE_B, hours=3, ask_namespace="canary-ns", ask_name="canary-ask")
    went(made, QUEUE_B, CANARY, namespace="canary-ns", ask_namespace="search")
    nobody = {"ask_uid": "", "ask_namespace": "", "ask_name": "", "ask_queue": ""}
    went(made, "", QUEUE_B, source=Decision.Source.KUBELET, **nobody)
    return made


@pytest.fixture
def reader(client):
    """A browser of somebody who sees everything."""
    client.force_login(rows.user("ada", User.Role.AUDITOR))
    return client


@pytest.fixture
def search(client):
    """A browser of queue-b's tenant."""
    client.force_login(rows.tenant_user("tess", QUEUE_B, ("search",)))
    return client


def shown(client, **query: str):
    """What the page was made of."""
    return client.get(URL, query).context["page_of"]


def queues(client, **query: str) -> dict[str, tuple[int, str, int, str]]:
    """By queue: pods given with the core hours that were thrown away, pods got with those."""
    lines = shown(client, **query).queues
    return {line.name: tuple(part for each in line.sides for part in (each.pods, each.hours[0])) for line in lines}


def pairs(client, **query: str) -> list[tuple[str, str, str, int]]:
    """Who lost how many pods for whom, by whom."""
    return sorted((one.lost, one.gained, one.source, one.given.pods) for one in shown(client, **query).lines)


def exported(client, **query: str) -> list[dict]:
    """The JSON export."""
    return json.loads(b"".join(client.get("/ledger.json", query).streaming_content))


def test_each_queue_gave_and_got(cluster, reader):
    """With the work that was thrown away, of theirs and for theirs."""
    assert queues(reader) == {
        "canary-leaf": (1, "1.0", 1, "3.0"),
        "queue-b": (4, "6.0", 1, "1.0"),
        "training": (0, "", 2, "2.0"),
    }
    page = shown(reader)
    assert (page.gave, page.lost, page.got) == (5, "7.0 core-hours", 4)
    assert page.queues[1].sides[0].requests == {"cpu": 4000}
    assert "Lost work: 7.0 core-hours." in reader.get(URL).content.decode()


def test_who_took_from_whom(cluster, reader):
    """Nobody gains where a kubelet ends a pod."""
    assert pairs(reader) == [
        ("canary-leaf", "queue-b", "engine", 1),
        ("queue-b", "canary-leaf", "engine", 1),
        ("queue-b", "none", "kubelet", 1),
        ("queue-b", "training", "engine", 2),
    ]


@pytest.mark.parametrize(
    ("query", "pods"),
    [
        ({}, 5),
        ({"month": "2026-01"}, 5),
        ({"month": "2025-12"}, 0),
        ({"month": "2026-13"}, 5),
        ({"month": "9999-12"}, 5),
        ({"cluster": "demo"}, 5),
        ({"cluster": "other"}, 0),
        ({"queue": "root.tenant-1"}, 4),
        ({"queue": "root.tenant-1.queue"}, 0),
        ({"tenant": "canaries"}, 1),
        ({"tenant": "nobody's"}, 0),
    ],
)
def test_every_filter_is_in_the_address(cluster, reader, query, pods):
    """Pods that those gave who are asked for; of a name that is unknown there is nothing."""
    Tenant.objects.create(name="canaries", namespaces=["canary-ns"])
    assert shown(reader, **query).gave == pods
    assert sum(line["evicted_pods"] for line in exported(reader, **query)) >= pods


def test_months_lead_to_each_other(cluster, reader):
    """Not beyond the one that is running; the filters stay."""
    asked = reader.get(URL, {"queue": TRAINING}).context["asked"]
    assert (asked.earlier, asked.later) == (f"month=2025-12&queue={TRAINING}", None)
    asked = reader.get(URL, {"month": "2025-11"}).context["asked"]
    assert (asked.earlier, asked.later) == ("month=2025-10", "month=2025-12")


def test_what_is_not_known_is_said(cluster, reader):
    """Of how many pods; and for whom where nobody knows."""
    went(cluster, "", QUEUE_2, QUEUE_2, source=Decision.Source.KUBE_SCHEDULER, ask_namespace="", ask_name="")
    assert ("queue-2", "unknown", "kube-scheduler", 2) in pairs(reader)
    went(cluster, TRAINING, QUEUE_2)
    row = Decision.objects.latest("pk")
    row.victims.update(booked=False, entry=None, started_at=None, uid="again")
    book(cluster=cluster)
    assert queues(reader)["queue-2"][:2] == (4, "≥ 3.0")
    assert shown(reader).lost == "10.0 core-hours, unknown for 1 pod"
    assert "≥ marks a minimum" in reader.get(URL).content.decode()


def test_a_tenant_reads_what_their_own_gave_and_got(cluster, search):
    """And no more of the other side than the queue."""
    assert queues(search) == {"queue-b": (4, "6.0", 1, "1.0")}
    assert pairs(search) == [
        ("canary-leaf", "queue-b", "engine", 1),
        ("queue-b", "canary-leaf", "engine", 1),
        ("queue-b", "none", "kubelet", 1),
        ("queue-b", "training", "engine", 2),
    ]
    assert "canary-ns" not in search.get(URL).content.decode()


def test_a_stranger_finds_nothing(cluster, client):
    """Nor any name."""
    client.force_login(rows.tenant_user("sam", "root.nowhere", ("nowhere",)))
    assert shown(client).lines == []
    assert exported(client) == []
    assert b"No evictions in this month." in client.get(URL).content


@pytest.mark.parametrize(
    ("told", "told_queue", "told_namespace"),
    [("none", "", ""), ("queue", CANARY, ""), ("uid", CANARY, ""), ("name", CANARY, "canary-ns")],
)
def test_of_the_other_side_is_told_what_the_site_chooses(cluster, search, told, told_queue, told_namespace):
    """On the page and in exports. Who went for one's own ask is never told by namespace."""
    Site.objects.update_or_create(defaults={"preemptor": told})
    lines = exported(search)
    gained = {(one["preemptor_queue"], one["preemptor_namespace"]) for one in lines if one["victim_queue"] == QUEUE_B}
    assert (told_queue, told_namespace) in gained
    (gave,) = (one for one in lines if one["preemptor_queue"] == QUEUE_B)
    assert (gave["victim_queue"], gave["victim_namespace"]) == (told_queue, "")
    said = search.get(URL).content.decode() + b"".join(search.get("/ledger.csv").streaming_content).decode()
    assert ("canary-leaf" in said, "canary-ns" in said) == (bool(told_queue), bool(told_namespace))
    assert "canary-ask" not in said


def test_what_a_reader_can_not_tell_apart_is_one_line(cluster, search):
    """So that nobody counts the namespaces, or queues, that are not told."""
    went(cluster, CANARY, QUEUE_B, ask_namespace="canary-two")
    assert ("queue-b", "canary-leaf", "engine", 2) in pairs(search)
    Site.objects.update_or_create(defaults={"preemptor": "none"})
    assert pairs(search) == [
        ("hidden", "queue-b", "engine", 1),
        ("queue-b", "hidden", "engine", 4),
        ("queue-b", "none", "kubelet", 1),
    ]


def test_a_tenant_can_not_ask_by_what_is_not_theirs(cluster, search):
    """A queue or a tenant of others finds as much as one that there is not."""
    Tenant.objects.create(name="canaries", namespaces=["canary-ns"])
    assert shown(search, queue=CANARY).lines == []
    assert shown(search, tenant="canaries").lines == shown(search, tenant="nobody's").lines == []
    assert exported(search, tenant="canaries") == []
    assert "canaries" not in search.get(URL).content.decode()


def test_exports_hold_the_month_in_exact_amounts(cluster, reader):
    """CSV and JSON have the same lines."""
    lines = exported(reader)
    assert lines[1] == {
        "month": "2026-01",
        "cluster": "demo",
        "source": "kubelet",
        "victim_namespace": "search",
        "victim_queue": QUEUE_B,
        "preemptor_namespace": "",
        "preemptor_queue": "",
        "evicted_pods": 1,
        "pods_with_unknown_work": 0,
        "requests": {"cpu": "1"},
        "lost_work": {"cpu": "3600"},
    }
    response = reader.get("/ledger.csv")
    assert response["Content-Disposition"] == 'attachment; filename="ledger-2026-01.csv"'
    cells = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    second = cells[1]
    assert (second["victim_queue"], second["evicted_pods"], second["lost_work"]) == (QUEUE_B, "1", "cpu=3600")
    assert len(cells) == len(lines) == 4


def test_very_many_lines_are_in_the_exports(cluster, reader):
    """The page shows those with the most pods."""
    for number in range(201):
        went(cluster, TRAINING, QUEUE_2, ask_namespace=f"ns-{number}")
    page = shown(reader)
    assert (len(page.lines), page.all_lines) == (200, 205)
    assert page.lines[0].given.pods == 2
    assert len(exported(reader)) == 205


def test_several_clusters_are_told_apart(cluster, reader):
    """A queue of the same name is another there."""
    other = Cluster.objects.create(name="other")
    went(other, TRAINING, QUEUE_B)
    page = shown(reader)
    assert page.several
    assert [(one.cluster, one.name) for one in page.queues][-2:] == [
        ("other", "queue-b"),
        ("other", "training"),
    ]
    assert shown(reader, cluster="other").gave == 1


def test_it_refreshes_itself(cluster, reader):
    """Its changing part alone; the month that ran on is another page."""
    news = reader.get(URL, headers={"HX-Request": "true"})
    assert b"<html" not in news.content
    assert b"queue-b" in news.content
    with time_machine.travel(timezone.now() + timedelta(days=1), tick=False):
        assert reader.get(URL).context["asked"].month.month == 2
