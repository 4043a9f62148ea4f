"""Clusters and queues."""

from datetime import timedelta

from rest_framework.test import APIClient

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards.pauses import pause
from scheduler_admin.queues.models import Hierarchy, Queue
from scheduler_admin.queues.services.hierarchies import Terms, publish
from tests.api.builders import NOW, RED
from tests.builders import queue, tree

PROD = "/api/v1/clusters/prod"
UNDIVIDED = {"requested": None, "deserved": None, "deserved_status": None, "lent": "0"}
"""Under any policy but ``deserved``."""


def test_a_cluster_says_how_it_is(olga: APIClient, cluster: Cluster) -> None:
    """A cluster's mode, last pass, age and capacity are told, amounts as people type them, times in UTC."""
    body = olga.get(PROD).json()
    assert body["mode"] == "observe"
    assert body["active_safeguards"] == []
    assert body["error"] is None
    assert body["last_pass"] == {"started_at": "2026-01-05T11:59:00Z", "duration_seconds": 0.0015, "revision": 1}
    assert body["age_seconds"] == 60
    assert body["capacity"] == {"cpu": "12", "memory": "32Gi"}
    assert body["hierarchy"] == "prod-tree"
    assert body["revision"]["number"] == 1


def test_a_cluster_says_how_its_groups_of_pods_are_scheduled(olga: APIClient, cluster: Cluster) -> None:
    """With what shows it; null where no pass has looked for it."""
    assert olga.get(PROD).json()["group_scheduling"] is None
    for found, told in (
        ({"on": True, "evidence": "metrics"}, {"enabled": True, "evidence": "metrics"}),
        ({"on": None, "evidence": ""}, {"enabled": None, "evidence": None}),
    ):
        ClusterStatus.objects.update(group_scheduling=found)
        assert olga.get(PROD).json()["group_scheduling"] == told


def test_a_cluster_that_was_never_read_says_so(olga: APIClient, db: None) -> None:
    """Before the first pass nothing is known, and no number stands for it."""
    Cluster.objects.create(name="new")
    body = olga.get("/api/v1/clusters/new").json()
    unknown = ("revision", "last_pass", "error", "read_at", "age_seconds", "nodes", "pods", "capacity", "hierarchy")
    assert {name: body[name] for name in unknown} == dict.fromkeys(unknown)
    assert olga.get("/api/v1/clusters/new/queues").json()["results"] == []


def test_pause_and_error_are_told_with_their_reasons(olga: APIClient, cluster: Cluster) -> None:
    """Who sees everything reads why a cluster is paused, and why it can't be read."""
    pause(cluster=cluster, actor=None, reason="upgrade")
    cluster.status.refresh_from_db()
    cluster.status.error, cluster.status.error_since = "no route", NOW
    cluster.status.save()
    body = olga.get(PROD).json()
    (hold,) = body["active_safeguards"]
    assert hold["safeguard"] == "paused"
    assert (hold["since"], hold["created_by"], hold["reason"]) == ("2026-01-05T12:00:00Z", "command line", "upgrade")
    assert body["error"] == {"since": "2026-01-05T12:00:00Z", "message": "no route"}


def test_queues_stand_below_at_or_above_their_guarantee(olga: APIClient, cluster: Cluster) -> None:
    """Each resource of a queue has its standing and the difference, exact to the unit."""
    found = {row["path"]: row for row in olga.get(f"{PROD}/queues").json()["results"]}
    assert list(found) == ["root", "root.blue", "root.red", RED]
    assert found[RED]["resources"] == {
        "cpu": {
            "used": "5500m",
            "guaranteed": "4",
            "max": "10",
            "guarantee_status": "above",
            "difference": "1500m",
            **UNDIVIDED,
        },
        "memory": {
            "used": "8Gi",
            "guaranteed": "8Gi",
            "max": None,
            "guarantee_status": "at",
            "difference": "0",
            **UNDIVIDED,
        },
    }
    assert found["root.blue"]["resources"]["cpu"]["guarantee_status"] == "below"
    assert found["root.blue"]["resources"]["cpu"]["difference"] == "-1"
    assert found["root"]["resources"]["cpu"]["guarantee_status"] == "above"


def test_queues_tell_asks_fence_and_delay(olga: APIClient, cluster: Cluster) -> None:
    """A leaf has its asks, the fence that bounds it and its delay; the default delay where it gives none."""
    found = {row["path"]: row for row in olga.get(f"{PROD}/queues").json()["results"]}
    batch = found[RED]
    assert (batch["pending_pods"], batch["oldest_pending_at"]) == (2, "2026-01-05T11:57:00Z")
    assert (batch["fence"], batch["delay_seconds"], batch["parent"]) == ("root.red", 5, "root.red")
    assert (found["root.blue"]["fence"], found["root.blue"]["delay_seconds"]) == (None, 30)
    assert found["root.red"]["delay_seconds"] is None


def test_under_yunikorns_rules_a_leaf_has_the_delay_of_a_queue_above(olga: APIClient, cluster: Cluster) -> None:
    """A leaf that says nothing of its own."""
    delayed = tree({"red": queue(delay_ms=7000, quota_delay_ms=9000), "red.batch": queue(), "blue": queue()})
    theirs = Terms(policy="fence", dialect="yunikorn")
    publish(hierarchy=Hierarchy.objects.get(), tree=delayed, author=None, reason="theirs", terms=theirs)
    found = {row["path"]: row["delay_seconds"] for row in olga.get(f"{PROD}/queues").json()["results"]}
    assert found == {"root": None, "root.red": None, RED: 7, "root.blue": 30}
    lowered = {row["path"]: row["quota_delay_seconds"] for row in olga.get(f"{PROD}/queues").json()["results"]}
    assert lowered == {"root": None, "root.red": 9, RED: 9, "root.blue": None}


def test_a_queue_that_no_pass_has_read_is_unknown(olga: APIClient, cluster: Cluster) -> None:
    """Usage that nobody read is null, not nothing."""
    cluster.status.queues = {}
    cluster.status.save()
    row = olga.get(f"{PROD}/queues/{RED}").json()["queue"]
    assert row["resources"]["cpu"]["guarantee_status"] == "unknown"
    assert row["resources"]["cpu"]["used"] is None
    assert row["pending_pods"] is None


def test_one_queue_has_its_applications(olga: APIClient, cluster: Cluster) -> None:
    """A leaf lists the largest applications that run in it, and the namespaces it claims."""
    body = olga.get(f"{PROD}/queues/{RED}").json()
    assert body["namespaces"] == ["red"]
    assert body["applications"][0] == {"namespace": "red", "name": "etl", "pods": 2, "requests": {"cpu": "5500m"}}


def test_only_the_current_revision_is_shown(olga: APIClient, cluster: Cluster) -> None:
    """A queue of an older revision is not there."""
    assert cluster.hierarchy is not None
    assert cluster.hierarchy.current is not None
    older = cluster.hierarchy.revisions.create(number=0, document="{}", author_name="x", reason="x")
    Queue.objects.create(revision=older, path="root.gone", position=1, leaf=True)
    assert olga.get(f"{PROD}/queues/root.gone").status_code == 404


def test_an_unchanged_answer_is_not_sent_again(olga: APIClient, cluster: Cluster) -> None:
    """A client that sends the ETag back gets 304 without a body, until something changes."""
    for url in (PROD, f"{PROD}/queues", f"{PROD}/queues/{RED}"):
        first = olga.get(url)
        again = olga.get(url, HTTP_IF_NONE_MATCH=first["ETag"])
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    cluster.status.read_at = NOW - timedelta(seconds=1)
    cluster.status.save()
    for url in (PROD, f"{PROD}/queues", f"{PROD}/queues/{RED}"):
        assert olga.get(url, HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 200


def test_an_etag_is_one_users(olga: APIClient, alice: APIClient, cluster: Cluster) -> None:
    """Users who see different things have different ETags."""
    assert alice.get(f"{PROD}/queues")["ETag"] != olga.get(f"{PROD}/queues")["ETag"]
