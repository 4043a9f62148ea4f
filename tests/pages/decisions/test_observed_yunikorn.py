"""What YuniKorn preempted, on the pages: its word, our reckoning by its rules, and the laws that it broke."""

from datetime import UTC, datetime

import msgspec
import pytest
from django.test import Client

from engine.model.objects import Preempted
from engine.observation.evictions import decode, encode
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision
from scheduler_admin.worker.passes import run_pass
from tests.builders import ask, node, pod, queue, tree
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.worker.conftest import add_cluster
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db
TREE = tree({"tenant-1": queue(fence=True), "tenant-1.a": queue("4"), "tenant-2.b": queue("2")})


@pytest.fixture
def cluster(db: None) -> Cluster:
    """For web of tenant-1 YuniKorn has taken a pod of tenant-2, which is left with one core of two."""
    at_ms = int(datetime.now(UTC).timestamp() * 1000) - 5_000
    running = [
        pod(f"batch-{n}", queue="tenant-2.b", namespace="two", node="n1", cpu=2 - n, created_ms=at_ms - n * 60_000)
        for n in range(2)
    ]
    web = ask("secret-web", queue="tenant-1.a", namespace="one", cpu=2, created_ms=at_ms - 600_000)
    made, watch = add_cluster(TREE, mode="observe"), Watch(node("n1", 3), running, web)
    watch.put(msgspec.structs.replace(running[0], terminating=True))
    told = {"ask_uid": web.uid, "ask_application": "secret-app", "ask_queue": "root.tenant-1.a", "at_ms": at_ms}
    event = Preempted(uid=running[0].uid, namespace="two", name="batch-0", **told)
    watch.state.yunikorn["event"] = event
    run_pass(cluster=made, watch=watch)
    return made


@pytest.fixture
def row(cluster: Cluster) -> Decision:
    return Decision.objects.get(source="yunikorn")


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def test_the_decision_tells_its_word_and_our_reckoning(ada: Client, row: Decision) -> None:
    """Who took what for whom, in what it went against the tree, and what YuniKorn's own rules say."""
    html = text(ada, f"/clusters/east/decisions/{row.pk}/")
    for said in (
        "YuniKorn preempted <code>batch-0</code> on <code>n1</code> for <code>secret-web</code>.",
        "YuniKorn preempted 1 pod across the fence of tenant-1.",
        "YuniKorn left b 1 cpu below its guarantee of 2",
        "A replay with YuniKorn’s own rules",
        "Evicted by: YuniKorn.",
    ):
        assert said in html, said
    assert "priority 0 is below" not in html


def test_the_laws_that_it_broke_stand_with_their_arithmetic(ada: Client, row: Decision) -> None:
    """Of what another did nobody says that it was checked, or that none could stay."""
    html = text(ada, f"/clusters/east/decisions/{row.pk}/")
    assert "other schedulers do not guarantee these checks" in html
    assert "checked before acting" not in html
    assert "each one is needed" not in html
    assert "b cpu 3 − 2 = 1 ≱ 2" in html


def test_where_yunikorn_departs_from_its_design_is_told_beside_it(ada: Client, row: Decision) -> None:
    """Or that in a cluster so large it was not worked out."""
    seen = decode(row.document)
    assert seen.hindsight is not None
    html = text(ada, f"/clusters/east/decisions/{row.pk}/")
    assert ("Where YuniKorn deviates from its own design" in html) is bool(seen.hindsight.quirks)
    untold = msgspec.structs.replace(seen, hindsight=msgspec.structs.replace(seen.hindsight, quirks=None))
    Decision.objects.update(document=encode(untold).decode())
    html = text(ada, f"/clusters/east/decisions/{row.pk}/")
    assert "Which of them changed the result is not calculated" in html


def test_the_history_names_the_laws_and_finds_by_them(ada: Client, row: Decision) -> None:
    """Among all that others did, what went against the laws."""
    assert row.detail == "fence guarantee"
    html = text(ada, "/clusters/east/history/?outcome=failed-checks")
    assert (
        "for a guarantee · a victim is outside the fence of the pending pod’s queue · a queue drops below its guarantee"
        in html
    )
    Decision.objects.update(against_laws=False)
    assert "for a guarantee" not in text(ada, "/clusters/east/history/?outcome=failed-checks")
    assert "for a guarantee" in text(ada, "/clusters/east/history/")


def test_the_victims_tenant_reads_it_as_of_any_scheduler(row: Decision) -> None:
    """The asker's queue, its own numbers, and nothing else of others."""
    tina = client_of(rows.tenant_user("tina", "root.tenant-2", ("two",)))
    html = text(tina, f"/pods/east/two/batch-0/?decision={row.pk}")
    assert "YuniKorn preempted <code>batch-0</code> on <code>n1</code> to make room for a pod of a." in html
    assert "YuniKorn preempted 1 pod across the fence of tenant-1." in html
    assert "YuniKorn left b 1 cpu below its guarantee of 2" in html
    assert "secret" not in html


def test_a_lowered_max_reads_as_such(ada: Client, cluster: Cluster) -> None:
    """There is no ask, and no node that all were on."""
    watch = Watch(node("n1", 2), node("n2", 2), pod("x", queue="tenant-2.b", namespace="two", node="n1"))
    watch.put(pod("y", queue="tenant-2.b", namespace="two", node="n2"))
    at_ms = int(datetime.now(UTC).timestamp() * 1000) - 5_000
    for name in ("x", "y"):
        said = Preempted(uid=f"uid-{name}", namespace="two", name=name, at_ms=at_ms, over_max="root.tenant-2")
        watch.state.yunikorn[name] = said
    run_pass(cluster=cluster, watch=watch)
    made = Decision.objects.get(reason="lowered-max")
    html = text(ada, f"/clusters/east/decisions/{made.pk}/")
    assert "YuniKorn preempted 2 pods to bring tenant-2 down to its max." in html
    assert "2 victims, on several nodes" in html
    assert "max lowered" in text(ada, "/clusters/east/history/")
