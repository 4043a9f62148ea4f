"""The page of one queue: how did it come to this?"""

import importlib
import json
import re
from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone

from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy, Queue, QueueTree
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.decisions.models import Decision
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.pages.tree import inherited
from scheduler_admin.queues.pages.tree.settings_in_effect import settings_in_effect
from scheduler_admin.usage.models import Usage, UsageSample
from scheduler_admin.usage.runs import Now
from tests.builders import rewrite
from tests.pages import rows
from tests.pages.markup import squeezed

pytestmark = pytest.mark.django_db
PAGE = "/clusters/demo/queues/root.tenant-1.queue-b/"


def test_the_page_holds_the_queue_in_numbers_and_words(ada: Client, demo: Cluster) -> None:
    """Figures, applications, asks with why, both sides of preemption, settings, revisions."""
    html = ada.get(PAGE).content.decode()
    for shown in (
        ">76 above guarantee<",
        "embed-batch-7f9c",
        "search/vision-train-0042-worker-5",
        "Pods in <b>training</b>: both below the fence of tenant-1.",
        "Not queue-a, system, queue-1 and queue-2: the fence of tenant-1 lets nothing out.",
        "Pending pods in <b>system</b>: the requesting queue has no fence, and the fence of tenant-1 lets it in.",
        "Pending pods in <b>training</b>: both below the fence of tenant-1.",
        "/clusters/demo/fences/?queue=root.tenant-1.queue-b",
        "Not queue-a: a leaf queue with its own fence can preempt nothing.",
        "first tree",
        "Show as table",
    ):
        assert shown in html
    assert '<th scope="row"></th>' not in html  # of lending and taking it says nothing


def test_an_unknown_queue_is_not_found(ada: Client, demo: Cluster) -> None:
    """Also one that an older revision had."""
    assert ada.get("/clusters/demo/queues/root.gone/").status_code == 404


def test_revisions_are_those_that_changed_the_queue(ada: Client, demo: Cluster) -> None:
    """A revision that leaves it alone is not listed."""
    changed = [(p, s | {"guaranteed": ("200", "1024Gi", "8")} if p.endswith("queue-b") else s) for p, s in rows.TREE]
    rows.revision("demo", changed, number=2, reason="more for search")
    rows.revision("demo", changed, number=3, reason="nothing for search")
    html = ada.get(PAGE).content.decode()
    assert "more for search" in html
    assert "nothing for search" not in html


def test_an_ask_that_is_bound_waits_no_more(ada: Client, demo: Cluster) -> None:
    """Only the decision that considered an ask last counts."""
    waiting = Decision.objects.get(ask_queue="root.tenant-1.queue-b", state=Decision.State.RECORDED)
    rows.decision(
        demo,
        "root.tenant-1.queue-b",
        minutes=0,
        ask_uid=waiting.ask_uid,
        ask_name=waiting.ask_name,
        state=Decision.State.CLOSED,
        ending=Decision.Ending.BOUND,
    )
    assert f"ask-{waiting.pk}" not in ada.get(PAGE).content.decode()


def test_an_ask_that_the_last_pass_did_not_consider_waits_no_more(ada: Client, demo: Cluster) -> None:
    """It was bound without a preemption, or has gone: as many rows as the heading counts."""
    waiting = Decision.objects.get(ask_queue="root.tenant-1.queue-b", state=Decision.State.RECORDED)
    assert f"ask-{waiting.pk}" in ada.get(PAGE).content.decode()
    Decision.objects.filter(pk=waiting.pk).update(last_seen=F("last_seen") - timedelta(minutes=1))
    assert f"ask-{waiting.pk}" not in ada.get(PAGE).content.decode()


def test_pods_that_wait_for_the_same_reason_share_it(ada: Client, demo: Cluster) -> None:
    """It is said once, beside all of them and with their number; what waits for another has its own."""
    waiting = Decision.objects.get(ask_queue="root.tenant-1.queue-b", state=Decision.State.RECORDED)
    for _ in range(2):
        rows.decision(demo, "root.tenant-1.queue-b", minutes=2, outcome=waiting.outcome, reason=waiting.reason)
    rows.decision(demo, "root.tenant-1.queue-b", minutes=3, outcome="not-eligible", reason="not-tried")
    Decision.objects.filter(ask_queue="root.tenant-1.queue-b").update(last_seen=waiting.last_seen)
    html = ada.get(PAGE).content.decode()
    table = html.partition('class="asks-table"')[2].partition("</table>")[0]
    assert table.count('<th scope="row"') == 4
    assert re.findall(r'class="why-cell" rowspan="(\d)"', table) == ["3", "1"]
    assert "3 pods wait for this reason:" in table


@pytest.mark.parametrize(
    ("age", "query", "shown"),
    [
        (timedelta(minutes=4), "", "15m"),
        (timedelta(minutes=40), "", "1h"),
        (timedelta(hours=5), "", "6h"),
        (timedelta(days=3), "", "6h"),
        (timedelta(minutes=4), "?range=24h", "24h"),
        (timedelta(minutes=4), "?range=nonsense", "15m"),
    ],
)
def test_a_young_queue_fills_its_plot(ada: Client, demo: Cluster, age: timedelta, query: str, shown: str) -> None:
    """Without a choice it shows the smallest range that holds every sample."""
    at = timezone.now() - age
    Usage.objects.all().delete()
    UsageSample.objects.all().delete()
    rows.store(demo, "root.tenant-1.queue-b", {int(at.timestamp()): [(int(at.timestamp()) + 1, Now(0, {}))]})
    assert ada.get(f"{PAGE}{query}").context["span"].name == shown


def test_the_figure_is_one_that_plotly_knows(ada: Client, demo: Cluster) -> None:
    """plotly's own validation of every property; the page itself never imports it."""
    figure = ada.get(f"{PAGE}usage.json").json()
    graph_objects = importlib.import_module("plotly.graph_objects")
    assert len(graph_objects.Figure(figure).data) == 7


def test_the_figure_says_what_is_promised_used_and_preempted(ada: Client, demo: Cluster) -> None:
    """Lines for guarantee, max and usage; a mark per preemption that leads to its decision."""
    figure = ada.get(f"{PAGE}usage.json?resource=memory&range=24h").json()
    traces = {trace["meta"]: trace for trace in figure["data"]}
    assert set(traces["guaranteed"]["y"]) == {1024.0}
    assert set(traces["max"]["y"]) == {2048.0}
    assert all(o >= 1024 for o in traces["over"]["y"])
    assert figure["layout"]["yaxis"]["ticksuffix"] == " Gi"
    taken, given = Decision.objects.order_by("pk")[0], Decision.objects.order_by("pk")[3]
    assert traces["out"]["customdata"][0] == f"/clusters/demo/decisions/{taken.pk}/"
    assert traces["out"]["text"][0] == "Lost 2 pods to training"
    assert traces["in"]["customdata"] == [f"/clusters/demo/decisions/{given.pk}/"]


def test_the_table_beside_the_figure_is_an_answer_of_its_own(ada: Client, demo: Cluster) -> None:
    """It has hundreds of rows; the page has them where its address says so, for readers without scripts."""
    apart = ada.get(f"{PAGE}usage-table/?range=24h&resource=memory").content.decode()
    assert apart.count("<tr>") > 1
    assert ">pending pods<" in apart
    assert ">pending pods<" not in ada.get(PAGE).content.decode()
    assert ">pending pods<" in ada.get(f"{PAGE}?table=1").content.decode()


def test_the_figure_is_not_sent_again_without_news(ada: Client, demo: Cluster) -> None:
    """304 until the cluster has news."""
    first = ada.get(f"{PAGE}usage.json")
    again = {"If-None-Match": first["ETag"]}
    assert ada.get(f"{PAGE}usage.json", headers=again).status_code == 304
    ClusterStatus.objects.update(news=F("news") + 1)
    assert ada.get(f"{PAGE}usage.json", headers=again).status_code == 200


def test_without_samples_it_says_so(ada: Client, demo: Cluster) -> None:
    """No empty axes."""
    Usage.objects.all().delete()
    UsageSample.objects.all().delete()
    html = ada.get(PAGE).content.decode()
    assert "No data was recorded in this period." in html
    assert "data-plot" not in html


def _tree(**queues: Queue) -> QueueTree:
    return QueueTree([Queue(path="root"), *queues.values()])


def test_a_tenant_learns_of_others_no_more_than_their_names(tess: Client, demo: Cluster) -> None:
    """Who may preempt it, but not whether they have a fence; nothing of those who may not."""
    html = squeezed(tess.get(PAGE).content.decode())
    assert "Pending pods in <b>system</b>.<" in html
    assert "Pending pods in <b>training</b>: both below the fence of tenant-1." in html
    assert "queue-a" not in html
    assert "queue-2" not in html


def test_settings_say_where_they_come_from() -> None:
    """The entitling guarantee and the tightest max, by queue; else the cluster's capacity."""
    tree = _tree(
        a=Queue(
            path="root.a", guaranteed={"cpu": 4}, max={"cpu": 8, "memory": 5}, priority_policy=PriorityPolicy.FENCE
        ),
        one=Queue(path="root.a.one", max={"cpu": 9}, delay_ms=5_000),
    )
    cpu, memory, gpu = inherited.granted(tree, "root.a.one", ["cpu", "memory", "gpu"], {"gpu": 2})
    assert (cpu.guaranteed, cpu.guaranteed_by, cpu.max, cpu.max_by) == (4, "root.a", 8, "root.a")
    assert (memory.guaranteed, memory.max_by) == (None, "root.a")
    assert (gpu.max, gpu.max_by) == (2, None)
    assert in_effect(tree, "root.a.one")["Preemption delay"] == ("5 s", "this queue")
    assert "Preemption delay" not in in_effect(tree, "root.a")
    assert in_effect(tree, "root.a.one")["Priorities"] == ("compared inside only", "a")


def in_effect(tree: QueueTree, path: str, dialect: str = "design") -> dict[str, tuple[str, str]]:
    """Name of each setting in effect -> value and where it comes from."""
    found = settings_in_effect(tree, tree[path], (), dialect=dialect, shares=False)
    return {one.name: (one.value, one.source) for one in found}


def test_a_setting_of_preemption_says_which_queue_it_comes_from() -> None:
    """A fence, or preemption that is turned off, here or above; else anywhere."""
    tree = _tree(
        a=Queue(path="root.a", preemption_policy=PreemptionPolicy.FENCE),
        one=Queue(path="root.a.one", preemption_policy=PreemptionPolicy.DISABLED),
        two=Queue(path="root.a.two"),
        b=Queue(path="root.b"),
    )
    said = {path: in_effect(tree, f"root.{path}")["Preemption"] for path in ("a", "a.one", "a.two", "b")}
    assert said == {
        "a": ("only within its fence", "this queue"),
        "a.one": ("disabled", "this queue"),
        "a.two": ("only within its fence", "a"),
        "b": ("anywhere", "default"),
    }


def test_the_page_reads_what_is_stored_only(ada: Client, demo: Cluster) -> None:
    """A trace that can't be read leaves the reason's name; nothing fails."""
    Decision.objects.update(document=json.dumps({"from": "another version"}), last_seen=timezone.now())
    assert ada.get(PAGE).status_code == 200


@pytest.mark.parametrize(
    ("dialect", "told"),
    [("design", ("30 s", "default")), ("yunikorn", ("7 s", "a")), ("arbitrator", ("7 s", "a"))],
)
def test_in_some_dialects_a_leaf_inherits_the_delay(dialect: str, told: tuple[str, str]) -> None:
    """In YuniKorn, and as a grace period; what a queue above says has no effect in the design."""
    tree = QueueTree([Queue(path="root"), Queue(path="root.a", delay_ms=7_000), Queue(path="root.a.one")])
    assert in_effect(tree, "root.a.one", dialect)["Preemption delay"] == told


def test_the_page_tells_whose_delay_it_is(ada: Client, demo: Cluster) -> None:
    """By the dialect of the revision; a queue that holds queues has none."""
    delayed = [(path, s | ({"delay_ms": 7_000} if path == "root.tenant-1" else {})) for path, s in rows.TREE]
    made = rows.revision("demo", delayed, number=2)
    assert "7 s" not in ada.get(PAGE).content.decode()
    rewrite(Revision.objects.filter(pk=made.pk), dialect="yunikorn")
    page = squeezed(ada.get(PAGE).content.decode())
    assert "<td>7 s</td><td>tenant-1</td>" in page
    assert "Preemption delay" not in ada.get("/clusters/demo/queues/root.tenant-1/").content.decode()


def test_the_page_tells_when_pods_go_for_a_lowered_max(ada: Client, demo: Cluster) -> None:
    """Where the queue, or one above it, says so."""
    assert "Delay after lowering max" not in ada.get(PAGE).content.decode()
    delayed = [(path, s | ({"quota_delay_ms": 9_000} if path == "root.tenant-1" else {})) for path, s in rows.TREE]
    rows.revision("demo", delayed, number=2)
    assert "Delay after lowering max</th><td>9 s</td><td>tenant-1</td>" in squeezed(ada.get(PAGE).content.decode())
