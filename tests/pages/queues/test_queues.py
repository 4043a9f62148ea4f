"""The page of the tree: who uses what, against what was promised."""

import re
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.safeguards.pauses import pause
from scheduler_admin.queues.models import Queue
from scheduler_admin.queues.selectors.queues import Figure, TreeRow
from scheduler_admin.queues.selectors.tree_filters import EVERY_LEVEL, STANDINGS, Sift
from scheduler_admin.site.bars import bar
from tests.pages import rows

pytestmark = pytest.mark.django_db
PAGE = "/clusters/demo/queues/"
REFRESH = {"HX-Request": "true"}


def paths(html: str) -> list[str]:
    """The queues of a page in the order shown."""
    return re.findall(r'data-path="([^"]+)"', html)


def row(html: str, path: str) -> str:
    """One row of the table."""
    return html.split(f'data-path="{path}"')[1].split("</tr>", maxsplit=1)[0]


def test_the_tree_is_shown_in_its_order(ada: Client, demo: Cluster) -> None:
    """Parents before children, as published."""
    assert paths(ada.get(PAGE).content.decode()) == [path for path, _ in rows.TREE]


def test_a_cluster_that_is_removed_while_its_page_is_made_is_not_found(ada: Client, demo: Cluster) -> None:
    """Its figures are read in a query of their own."""
    removing = iter([demo])

    def removed_before(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if '"clusters_clusterstatus"."queues"' in sql:
            for cluster in removing:
                Cluster.objects.filter(pk=cluster.pk).delete()
        return execute(sql, *rest)

    with connection.execute_wrapper(removed_before):
        assert ada.get(PAGE).status_code == HTTPStatus.NOT_FOUND
    assert not Cluster.objects.exists()


def test_standings_are_words_with_amounts(ada: Client, demo: Cluster) -> None:
    """Colour and shape are never alone. Where there is room for one word only, it stands for the sentence."""
    html = ada.get(PAGE).content.decode()
    above, below = row(html, "root.tenant-1.queue-b"), row(html, "root.system")
    assert 'class="st above"><i aria-hidden="true">above</i><span>76 above guarantee<' in above
    assert 'class="st below"><i aria-hidden="true">below</i><span>27.5 below guarantee<' in below
    assert "no guarantee" in below


def test_a_word_of_state_does_not_stand_beside_long_amounts(ada: Client, demo: Cluster) -> None:
    """It has a line of its own then, and is a sentence at every width."""
    demo.status.queues["root.system"]["used"]["cpu"] = 1_234_567_500
    demo.status.save()
    html = ada.get(PAGE).content.decode()
    assert 'class="st above">1234471.5 above guarantee<' in row(html, "root.system")
    assert 'class="st above"><i aria-hidden="true">above</i><span>344Gi above' in row(html, "root.tenant-1.queue-b")


def test_what_is_lent_is_told_with_what_is_not_used(ada: Client, demo: Cluster) -> None:
    """In the same unit."""
    demo.status.queues["root.system"]["lent"] = {"cpu": 12_000}
    demo.status.save()
    assert "<span>27.5 below guarantee (12 lent)<" in row(ada.get(PAGE).content.decode(), "root.system")


def test_where_nothing_is_guaranteed_nobody_is_said_to_have_what_was_promised(ada: Client, demo: Cluster) -> None:
    """As in a cluster that was just connected."""
    bare = [(path, {**settings, "guaranteed": ()}) for path, settings in rows.TREE]
    rows.revision("demo", bare, number=2)
    html = ada.get(PAGE).content.decode()
    assert "None of their queues has a guarantee." in html
    assert "All of their queues already have their full guarantees." not in html


def test_a_tenant_sees_its_own_subtree(tess: Client, demo: Cluster) -> None:
    """Other tenants' queues, their numbers and the total are not in the page."""
    html = tess.get(PAGE).content.decode()
    assert paths(html) == ["root.tenant-1", "root.tenant-1.queue-b", "root.tenant-1.training"]
    assert "queue-2" not in html
    assert "1216" not in re.sub(r'datetime="[^"]*"', "", html)  # any moment may hold the digits


@pytest.mark.parametrize(
    ("query", "want"),
    [
        ("q=TENANT-2", ["root", "root.tenant-2", "root.tenant-2.queue-1", "root.tenant-2.queue-2"]),
        ("asks=waiting&q=queue-a", ["root", "root.queue-a"]),
        ("sort=wait&asks=waiting&state=below", ["root.queue-a", "root.tenant-2.queue-1", "root.tenant-1.training"]),
        ("state=nonsense&q=queue-a", ["root", "root.queue-a"]),
        ("q=no-such", []),
    ],
)
def test_filters_and_order_are_in_the_address(ada: Client, demo: Cluster, query: str, want: list[str]) -> None:
    """Queues above a match stay in tree order; another order makes a flat list of leaves."""
    assert paths(ada.get(f"{PAGE}?{query}").content.decode()) == want


def test_furthest_below_comes_first(ada: Client, demo: Cluster) -> None:
    """Measured as a share of the guarantee: system misses 27.5 of 96 cores and 116 of 384Gi."""
    assert paths(ada.get(f"{PAGE}?sort=below").content.decode())[0] == "root.system"
    assert paths(ada.get(f"{PAGE}?sort=above").content.decode())[0] == "root.tenant-1.queue-b"


def test_folds_are_in_the_address(ada: Client, demo: Cluster) -> None:
    """Folded rows are there, hidden, so that unfolding needs no round trip; links keep the other folds."""
    html = ada.get(f"{PAGE}?folded=root.tenant-1&folded=root.tenant-2").content.decode()
    hidden = re.findall(r'data-path="([^"]+)" hidden', html)
    assert hidden == [path for path in paths(html) if path.startswith(("root.tenant-1.", "root.tenant-2."))]
    assert 'href="?folded=root.tenant-2" aria-expanded="false"' in row(html, "root.tenant-1")


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("name", "root.queue-a"),
        ("-name", "root.tenant-2.queue-2"),
        ("used:memory", "root.tenant-1.training"),
        ("-used:memory", "root.system"),
        ("guaranteed:cpu", "root.tenant-1.training"),
        ("asks", "root.tenant-1.queue-b"),
        ("out", "root.tenant-1.queue-b"),
    ],
)
def test_every_column_sorts_either_way(ada: Client, demo: Cluster, sort: str, first: str) -> None:
    """The most first, names from A; what a queue has nothing of comes last."""
    assert paths(ada.get(f"{PAGE}?sort={sort}").content.decode())[0] == first


def test_queues_are_found_by_what_they_say_of_preemption(ada: Client, demo: Cluster) -> None:
    """A fence, or none."""
    assert paths(ada.get(f"{PAGE}?policy=fence&sort=name").content.decode()) == ["root.queue-a"]
    assert paths(ada.get(f"{PAGE}?policy=disabled").content.decode()) == []


def test_levels_fold_the_tree_and_all_below_a_queue_is_opened_at_once(ada: Client, demo: Cluster) -> None:
    """What the address says of single queues counts for more."""

    def shown(query: str) -> set[str]:
        html = ada.get(f"{PAGE}?{query}").content.decode()
        return set(paths(html)) - set(re.findall(r'data-path="([^"]+)" hidden', html))

    assert shown("levels=1") == {"root"}
    assert max(path.count(".") for path in shown("levels=2")) == 1
    assert shown("levels=2&open=root.tenant-1") - shown("levels=2") == {
        "root.tenant-1.queue-b",
        "root.tenant-1.training",
    }
    assert shown("levels=1&below=root") == {path for path, _ in rows.TREE}
    assert shown("levels=all&folded=root.tenant-2") == {
        path for path, _ in rows.TREE if not path.startswith("root.tenant-2.")
    }
    assert 'href="?levels=1&amp;below=root"' in ada.get(f"{PAGE}?levels=1").content.decode()


def test_of_many_queues_those_are_sent_that_there_is_room_for(ada: Client, demo: Cluster) -> None:
    """Deeper ones wait to be unfolded, and a long list is cut with a link to the rest."""
    many = [("root", {}), *((f"root.t{n // 30}", {}) for n in range(0, 300, 30))]
    many += [(f"root.t{n // 30}.q{n:03}", {"guaranteed": ("1",)}) for n in range(300)]
    made = rows.cluster("many", rows.revision("many", sorted(many)))
    rows.status(made, queues={}, capacity={"cpu": 400_000})
    page = "/clusters/many/queues/"
    assert paths(ada.get(page).content.decode()) == ["root", *(f"root.t{n}" for n in range(10))]
    assert len(paths(ada.get(f"{page}?open=root.t3").content.decode())) == 41
    cut = ada.get(f"{page}?sort=name").content.decode()
    assert len(paths(cut)) == 200
    assert "100 more queues are not shown." in cut
    assert len(paths(ada.get(f"{page}?sort=name&rows=all").content.decode())) == 300


def test_a_folded_tree_is_one_to_look_over(ada: Client, demo: Cluster) -> None:
    """A level of 120 stays folded where all of it is too much, though it would fit alone."""
    many = [("root", {}), *((f"root.t{n:02}", {}) for n in range(12))]
    many += [(f"root.t{n // 10:02}.g{n:03}", {}) for n in range(120)]
    made = rows.cluster("many", rows.revision("many", sorted(many)))
    rows.status(made, queues={}, capacity={"cpu": 400_000})
    assert len(paths(ada.get("/clusters/many/queues/").content.decode())) == 133
    many += [(f"root.t{n // 10:02}.g{n:03}.q", {"guaranteed": ("1",)}) for n in range(120)]
    more = rows.cluster("more", rows.revision("more", sorted(many)))
    rows.status(more, queues={}, capacity={"cpu": 400_000})
    page = "/clusters/more/queues/"
    assert len(paths(ada.get(page).content.decode())) == 13
    assert len(paths(ada.get(f"{page}?open=root.t03").content.decode())) == 23


def test_a_fence_ends_at_the_last_row_that_is_shown(ada: Client, demo: Cluster) -> None:
    """Also when it is folded: the line does not run on into the next queue."""

    def ends(query: str) -> list[str]:
        found = re.findall(r'<tr class="([^"]+)" data-path="([^"]+)"', ada.get(PAGE + query).content.decode())
        return [path for kind, path in found if "outer-end" in kind]

    assert ends("") == ["root.queue-a", "root.tenant-1.training", "root.tenant-2.queue-2"]
    assert ends("?folded=root.tenant-1") == ["root.queue-a", "root.tenant-1", "root.tenant-2.queue-2"]


def test_the_lead_names_the_queue_that_is_short_and_waits_longest(ada: Client, demo: Cluster) -> None:
    """The sentence says what matters now, before any number."""
    html = ada.get(PAGE).content.decode()
    assert "<strong>queue-a is below its guarantee in memory</strong>" in html
    ClusterStatus.objects.update(
        queues={path: each | {"asks": 0, "oldest_ask_ms": None} for path, each in demo.status.queues.items()}
    )
    assert "<strong>No pods are pending.</strong>" in ada.get(PAGE).content.decode()


def test_last_preemptions_name_the_other_side(ada: Client, demo: Cluster) -> None:
    """A parent shows the latest below it."""
    html = ada.get(PAGE).content.decode()
    assert "2 pods from queue-b" in row(html, "root.tenant-1.training")
    assert "2 pods to training" in row(html, "root.tenant-1")
    assert "1 pod to system" not in row(html, "root.queue-a")


def test_no_news_is_answered_without_a_page(
    ada: Client, demo: Cluster, django_assert_num_queries: Callable[[int], Any]
) -> None:
    """The refresh costs three queries and no body, and still tells when the cluster was read."""
    first = ada.get(PAGE, headers=REFRESH)
    with django_assert_num_queries(3):
        second = ada.get(PAGE, headers=REFRESH | {"If-None-Match": first["ETag"]})
    assert (first.status_code, second.status_code, second.content) == (200, 304, b"")
    assert second["X-Read-At"] == ClusterStatus.objects.get().read_at.isoformat()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "change",
    [
        lambda demo: ClusterStatus.objects.update(news=F("news") + 1),
        lambda demo: ClusterStatus.objects.update(read_at=timezone.now() - timedelta(seconds=30)),
        lambda demo: ClusterStatus.objects.update(error="gone"),
        lambda demo: pause(cluster=demo, actor=None, reason="a look"),
        lambda demo: Cluster.objects.update(mode="observe"),
        lambda demo: rows.revision("demo", number=2),
    ],
)
def test_news_is_answered_with_the_part_that_changes(
    ada: Client, demo: Cluster, change: Callable[[Cluster], Any]
) -> None:
    """A fragment, never a whole page: news, staleness, an error, a pause, a mode, a new revision."""
    tag = ada.get(PAGE, headers=REFRESH)["ETag"]
    change(demo)
    answer = ada.get(PAGE, headers=REFRESH | {"If-None-Match": tag})
    assert answer.status_code == 200
    assert "<html" not in answer.content.decode()
    assert answer["ETag"] != tag


def test_two_people_never_share_an_answer(ada: Client, tess: Client, demo: Cluster) -> None:
    """The tag holds who asks, and caches are told so."""
    mine, theirs = ada.get(PAGE, headers=REFRESH), tess.get(PAGE, headers=REFRESH)
    assert mine["ETag"] != theirs["ETag"]
    assert "Cookie" in mine["Vary"]
    assert "private" in mine["Cache-Control"]


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        ({"error": "401 Unauthorized"}, "401 Unauthorized"),
        ({"read_at": timedelta(seconds=11)}, "No data has arrived from the cluster"),
        ({"read_at": None}, "Waiting for the first pass."),
    ],
)
def test_every_state_says_what_to_do_next(ada: Client, demo: Cluster, changes: dict[str, Any], want: str) -> None:
    """Failing, stale, not yet read: the page stays readable and names the next step."""
    given = {k: timezone.now() - v if isinstance(v, timedelta) else v for k, v in changes.items()}
    ClusterStatus.objects.update(**given)
    html = ada.get(PAGE).content.decode()
    assert want in html
    assert len(paths(html)) == len(rows.TREE)


def test_a_cluster_without_a_tree_says_how_to_get_one(ada: Client) -> None:
    """The empty state of a new cluster."""
    Cluster.objects.create(name="bare")
    assert "There is no queue tree yet." in ada.get("/clusters/bare/queues/").content.decode()


def test_pods_are_a_column_only_where_they_are_granted(ada: Client, db: None) -> None:
    """Every cluster has pods; few trees promise them."""
    tree = [("root", {}), ("root.a", {"guaranteed": ("1",)})]
    made = rows.cluster("small", rows.revision("small", tree))
    rows.status(made, queues={}, capacity={"cpu": 4000, "pods": 110, "hugepages-2Mi": 0})
    html = ada.get("/clusters/small/queues/").content.decode()
    assert re.findall(r'<span class="by">([^<]+)</span>', html) == ["cpu"]


@pytest.mark.parametrize(
    ("used", "guaranteed", "limit", "kinds"),
    [
        (2, 4, 8, ["track", "use", "gap", "mx", "g"]),
        (6, 4, 8, ["track", "use", "over", "mx", "g"]),
        (4, 4, 8, ["track", "use", "mx", "g"]),
        (3, None, 8, ["track", "over", "mx"]),
        (3, 4, 20, ["track", "use", "gap", "more", "g"]),
        (3, 4, None, ["track", "use", "gap", "g"]),
    ],
)
def test_bars_draw_what_the_numbers_say(used: int, guaranteed: int | None, limit: int | None, kinds: list[str]) -> None:
    """Short is hatched, over is solid, a max beyond twice the guarantee is an arrow head, none is none."""
    assert re.findall(r'class="(\w+)"', bar(used, guaranteed, limit))[1:] == kinds


def test_the_guarantee_is_always_in_the_middle() -> None:
    """One line down the column."""
    for used, guaranteed in ((1, 7), (14, 7), (99, 7)):
        assert '<line class="g" x1="50%" x2="50%"' in bar(used, guaranteed, None)


@pytest.mark.parametrize(
    ("used", "guaranteed", "want"),
    [(1, 2, "below"), (2, 2, "at"), (3, 2, "above"), (1, None, "above"), (0, None, "none")],
)
def test_standings(used: int, guaranteed: int | None, want: str) -> None:
    """What is used without any guarantee is above it: it may be preempted."""
    assert Figure("cpu", used, guaranteed, None).standing == want


@pytest.mark.parametrize(
    ("used", "want", "found_by"),
    [
        ((10, 10), "at", {"at"}),
        ((50, 10), "above", {"above"}),
        ((10, 0), "below", {"below"}),
        ((50, 0), "above", {"above", "below"}),
    ],
)
def test_a_queue_above_its_guarantee_in_any_resource_is_not_at_it(
    used: tuple[int, int], want: str, found_by: set[str]
) -> None:
    """A mixed queue is found both among those above and among those below."""
    row = a_row(dict(zip(("cpu", "memory"), used, strict=True)), {"cpu": 10, "memory": 10})
    assert row.standing == want
    assert {each for each in STANDINGS if row.stands(each)} == found_by


def test_a_queue_that_is_guaranteed_nothing_is_not_at_its_guarantee() -> None:
    """Nor does usage of a resource that is not guaranteed count against the others."""
    idle = a_row({"cpu": 0}, {})
    assert (idle.standing, idle.stands("at")) == ("none", False)
    assert a_row({"cpu": 4, "gpu": 9}, {"cpu": 4}).standing == "at"


def a_row(used: dict[str, int], granted: dict[str, int]) -> TreeRow:
    """A leaf that uses so much of what it is guaranteed."""
    queue, names = Queue(path="root.a"), tuple(used)
    return TreeRow(queue, depth=0, leaves=1, asks=0, oldest_ask_ms=None, names=names, used=used, granted=granted)


@pytest.mark.parametrize(
    ("said", "levels"), [("3", 3), ("10", 10), ("all", EVERY_LEVEL), ("21x", None), ("0", None), ("", None)]
)
def test_levels_are_read_as_numbers(said: str, levels: int | None) -> None:
    """What is none counts as not said."""
    assert Sift.read(QueryDict(f"levels={said}")).levels == levels


def test_pods_that_are_in_no_queue_have_a_row_of_their_own(ada: Client, demo: Cluster) -> None:
    """With what they use and their namespaces; tenants are told of none, as they may be others'."""
    assert "Not in any queue" not in ada.get(PAGE).content.decode()
    lost = {"running": 33, "waiting": 11, "used": {"cpu": 60_000}, "namespaces": [["vision", 40], ["ads", 4]]}
    ClusterStatus.objects.update(unplaced=lost)
    page = ada.get(PAGE).content.decode()
    row = page.partition('id="unplaced"')[2].partition("</tfoot>")[0]
    for told in ("33 pods running", "cpu 60", "11 pending", "vision (40), ads (4)"):
        assert told in row
    assert "44 without a queue" in ada.get("/clusters/").content.decode()
    ada.force_login(rows.tenant_user("tom", "root.tenant-1", ("vision",)))
    assert "Not in any queue" not in ada.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("to", "heading", "sentence"),
    [
        ("yunikorn", "Other schedulers", "do not count toward any YuniKorn queue."),
        ("kueue", "Outside Kueue", "do not count toward any Kueue quota."),
    ],
)
def test_pods_that_are_foreign_to_the_scheduler_are_told_apart(
    ada: Client, demo: Cluster, to: str, heading: str, sentence: str
) -> None:
    """They have lost no queue."""
    ClusterStatus.objects.update(unplaced={"foreign": 7, "foreign_used": {"cpu": 3_000}, "foreign_to": to})
    page = ada.get(PAGE).content.decode()
    row = page.partition('id="foreign"')[2].partition("</tfoot>")[0]
    assert all(told in row for told in (heading, sentence, "7 pods running", "cpu 3"))
    assert "without a queue" not in ada.get("/clusters/").content.decode()
