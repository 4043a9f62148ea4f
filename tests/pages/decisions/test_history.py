"""The history: what it counts, filters, pages and exports, and who may read it."""

import csv
import io
import json
from datetime import datetime, timedelta
from urllib.parse import parse_qsl

import pytest
from django.db import connection
from django.utils import timezone

from scheduler_admin.accounts.models import User
from scheduler_admin.core.paging import Cursor
from scheduler_admin.counts.selectors import filtered
from scheduler_admin.counts.selectors.filtered import count
from scheduler_admin.counts.selectors.timeline import timeline
from scheduler_admin.decisions.exports import as_csv, as_json
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.pages.timeline_chart import chart
from scheduler_admin.decisions.selectors import decisions
from scheduler_admin.decisions.selectors.decisions import page
from scheduler_admin.decisions.selectors.history_filters import Filters, width_of
from tests.pages import rows

pytestmark = pytest.mark.django_db
URL = "/clusters/demo/history/"
TRAINING, QUEUE_B, QUEUE_2 = "root.tenant-1.training", "root.tenant-1.queue-b", "root.tenant-2.queue-2"


@pytest.fixture
def cluster():
    """A cluster with decisions of every kind."""
    made = rows.cluster("demo")
    rows.status(made)
    rows.decision(made, TRAINING, minutes=4, victims=(QUEUE_B, QUEUE_B), ask_priority_class="batch-high")
    rows.decision(made, "root.system", minutes=50, victims=(QUEUE_2,), source="kube-scheduler", ask_namespace="ops")
    rows.decision(made, TRAINING, minutes=600, victims=(QUEUE_B,), node="gpu-06")
    rows.decision(made, QUEUE_B, minutes=2, reason="at-guarantee", outcome="not-eligible")
    return made


@pytest.fixture
def reader(client):
    """A browser of somebody who sees everything."""
    client.force_login(rows.user("ada", User.Role.AUDITOR))
    return client


def shown(response) -> list[int]:
    """The decisions of a page, by their ids."""
    return [line.row.pk for line in response.context["rows"]]


def test_it_shows_preemptions_of_a_day_newest_first(cluster, reader):
    """Decisions without preemption are left out until they are asked for."""
    response = reader.get(URL)
    times = [line.row.first_seen for line in response.context["rows"]]
    assert len(times) == 3
    assert times == sorted(times, reverse=True)
    assert response.context["timeline"].lost == 4
    assert len(shown(reader.get(URL, {"outcome": "all"}))) == 4


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ({"range": "15m"}, 1),
        ({"range": "1h"}, 2),
        ({"queue": "root.tenant-1"}, 2),
        ({"queue": "root.tenant-2"}, 1),
        ({"queue": "root.tenant"}, 0),
        ({"namespace": "ops"}, 1),
        ({"namespace": "search"}, 3),
        ({"application": "embed-batch-7f9c"}, 3),
        ({"application": "nobody"}, 0),
        ({"priority_class": "batch-high"}, 1),
        ({"node": "gpu-06"}, 1),
        ({"source": "kube-scheduler"}, 1),
        ({"outcome": "bound"}, 3),
        ({"outcome": "rejected"}, 0),
        ({"outcome": "not-eligible"}, 1),
        ({"outcome": "nonsense", "range": "nonsense"}, 3),
    ],
)
def test_every_filter_is_in_the_address(cluster, reader, query, number):
    """And an unknown value shows what no filter shows."""
    assert len(shown(reader.get(URL, query))) == number


def test_a_time_of_ones_own(cluster, reader):
    """From and to; without an offset they are UTC."""
    now = timezone.now()
    query = {
        "range": "between",
        "from": f"{now - timedelta(hours=11):%Y-%m-%dT%H:%M}",
        "to": f"{now - timedelta(hours=9):%Y-%m-%dT%H:%M}",
    }
    assert len(shown(reader.get(URL, query))) == 1


def test_an_address_gives_the_same_filters_again():
    """So that a link can be pasted into a chat."""
    now = timezone.now().replace(microsecond=0)
    given = {"queue": "root.a", "outcome": "on-hold", "stack": "reason", "range": "7d", "node": "n 1&x"}
    filters = Filters.of(given, now)
    assert Filters.of(dict(parse_qsl(filters.address())), now) == filters
    assert Filters.of({}, now).address() == ""


@pytest.mark.parametrize(
    ("age", "length"),
    [
        (None, timedelta(hours=24)),
        (timedelta(minutes=3), timedelta(minutes=15)),
        (timedelta(minutes=20), timedelta(hours=1)),
        (timedelta(days=40), timedelta(hours=24)),
    ],
)
def test_a_young_history_fills_its_timeline(age, length):
    """Without a choice it shows the smallest range that holds everything; a choice stays in the address."""
    now = timezone.now()
    oldest = now - age if age else None
    fitted = Filters.of({}, now, oldest)
    assert (now - fitted.start, fitted.address(), fitted.is_set) == (length, "", frozenset())
    assert Filters.of({"range": "15m"}, now, oldest).address() == "range=15m"


def test_pages_stay_put_while_rows_come_in(cluster, reader):
    """A cursor is a place between rows, not a number of rows."""
    ada = User.objects.get(username="ada")
    for minutes in range(100, 110):
        rows.decision(cluster, TRAINING, minutes=minutes, victims=(QUEUE_B,))
    everything = Filters.of({}, timezone.now()).query.rows(ada, cluster)
    first = page(everything, None, None, size=5)
    assert first.newer is None
    rows.decision(cluster, TRAINING, minutes=1, victims=(QUEUE_B,))
    everything = Filters.of({}, timezone.now()).query.rows(ada, cluster)
    second = page(everything, first.older, None, size=5)
    assert second.rows[0].first_seen < first.rows[-1].first_seen
    assert not {row.pk for row in first.rows} & {row.pk for row in second.rows}
    back = page(everything, None, second.newer, size=5)
    assert [row.pk for row in back.rows] == [row.pk for row in first.rows]


def test_rows_of_the_same_moment_are_all_paged(cluster, reader):
    """One pass stores many decisions with one time."""
    at = timezone.now() - timedelta(minutes=30)
    same = {rows.decision(cluster, TRAINING, victims=(QUEUE_B,), first_seen=at).pk for _ in range(7)}
    everything = Filters.of({}, timezone.now()).query.rows(User.objects.get(username="ada"), cluster)
    seen, cursor = [], None
    while True:
        part = page(everything, cursor, None, size=3)
        seen += [row.pk for row in part.rows]
        cursor = part.older
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 10
    assert same <= set(seen)


@pytest.mark.parametrize("text", ["", "x", "2026-01-01_5", "2026-01-01T00:00:00+00:00_x", "_"])
def test_a_broken_cursor_shows_the_first_page(text):
    """An address that was cut in a chat still works."""
    assert Cursor.of(text) is None


def test_the_timeline_counts_every_pod_once(cluster, reader):
    """Each in the bucket of its decision, by the queue that lost it."""
    found_timeline = reader.get(URL).context["chart"]
    assert sum(key.pods for key in found_timeline.keys) == 4
    assert [(key.name, key.pods) for key in found_timeline.keys] == [("queue-b", 3), ("queue-2", 1)]


@pytest.mark.parametrize(
    ("stack", "names"), [("reason", ["below guarantee"]), ("source", ["engine", "kube-scheduler"])]
)
def test_the_timeline_is_stacked_by_reason_or_source_too(cluster, reader, stack, names):
    """The same pods, told apart by something else."""
    assert [key.name for key in reader.get(URL, {"stack": stack}).context["chart"].keys] == names


def test_a_decision_that_was_held_counts_only_while_passes_still_find_it(cluster, reader):
    """Once its ask was decided anew, or has gone, its pods may no longer go for it."""
    row = rows.decision(cluster, TRAINING, minutes=1, victims=(QUEUE_B,), state="on-hold")
    row.victims.update(state=Victim.State.CHOSEN)
    cluster.status.refresh_from_db()
    filters = Filters.of({"range": "24h"}, timezone.now())

    def pending() -> int:
        return count(User.objects.get(username="ada"), cluster, filters, cluster.status.pass_at).shown

    Decision.objects.filter(pk=row.pk).update(last_seen=cluster.status.pass_at)
    before = pending()
    Decision.objects.filter(pk=row.pk).update(last_seen=cluster.status.pass_at - timedelta(seconds=1))
    assert pending() == before - 1


@pytest.mark.parametrize(
    ("chosen", "width", "least", "most"),
    [("15m", 1, 15, 16), ("1h", 5, 12, 13), ("24h", 60, 24, 25), ("7d", 360, 28, 29)],
)
def test_buckets_have_round_times(cluster, reader, chosen, width, least, most):
    """Whatever the range, a dozen or two of them."""
    now = timezone.now()
    filters = Filters.of({"range": chosen}, now)
    made = timeline(count(User.objects.get(username="ada"), cluster, filters, None), filters)
    assert made.width == timedelta(minutes=width) == width_of(filters.until - filters.start)
    assert least <= len(made.buckets) <= most
    assert made.buckets[0].start <= filters.start < now <= made.end


@pytest.mark.parametrize(("days", "width", "least", "most"), [(30, 1, 30, 31), (120, 1, 120, 121), (730, 7, 104, 106)])
def test_a_long_time_is_told_by_days_or_by_weeks_from_monday(cluster, reader, days, width, least, most):
    """Two years of days would be bars of a pixel; what is lost is the same."""
    now = timezone.now()
    between = {"from": (now - timedelta(days=days)).isoformat(), "to": now.isoformat()}
    filters = Filters.of({"range": "between", **between}, now)
    made = timeline(count(User.objects.get(username="ada"), cluster, filters, None), filters)
    assert made.width == timedelta(days=width)
    assert least <= len(made.buckets) <= most
    assert made.buckets[0].start <= filters.start < now <= made.end
    assert (made.lost, sum(bucket.total for bucket in made.buckets)) == (4, 4)
    assert {bucket.start.weekday() for bucket in made.buckets} == (set(range(7)) if width == 1 else {0})
    labels = chart(made, [], "queue", running=False).labels
    assert f"{datetime.fromisoformat(labels[0].at):{'%d %b' if width == 1 else '%b %Y'}}" == labels[0].text


@pytest.mark.parametrize(("most", "whole"), [(3, False), (4, True)])
def test_of_more_decisions_than_can_be_counted_the_newest_are(cluster, reader, monkeypatch, most, whole):
    """It says back to when, and the timeline covers just that time; what is exact is told as such."""
    monkeypatch.setattr(filtered, "COUNTED", most)
    first = Decision.objects.order_by("first_seen").first()
    response = reader.get(URL)
    counts, over_time = response.context["counts"], response.context["timeline"]
    assert (counts.decisions, over_time.lost) == (3, 4)
    assert counts.since == (None if whole else first.first_seen)
    assert over_time.start <= first.first_seen
    assert (b"or more decisions; the counts include the newest" in response.content) is not whole
    monkeypatch.setattr(filtered, "COUNTED", 2)
    response = reader.get(URL)
    assert response.context["timeline"].lost == 3
    assert response.context["timeline"].width == timedelta(minutes=5)
    assert len(shown(response)) == 3


def test_more_queues_than_fills_are_put_together(cluster, reader):
    """The smallest share the last fill."""
    for number in range(6):
        rows.decision(cluster, TRAINING, minutes=5, victims=(f"root.q{number}",))
    keys = reader.get(URL).context["chart"].keys
    assert len(keys) == 4
    assert keys[-1].name == "other"
    assert sum(key.pods for key in keys) == 10


def test_refused_pods_are_not_counted_as_preempted(cluster, reader):
    """A law kept them; the row says which."""
    row = rows.decision(
        cluster, TRAINING, victims=(), outcome="preempt", state="closed", ending="rejected", reason="below-guarantee"
    )
    Decision.objects.filter(pk=row.pk).update(laws=[{"law": "guarantee", "holds": False, "sums": []}])
    rows.victim(row, QUEUE_B, state=Victim.State.CHOSEN, evicted_at=None, gone_at=None)
    response = reader.get(URL)
    assert response.context["timeline"].lost == 4
    assert response.context["counts"].refused == 1
    line = next(line for line in response.context["rows"] if line.row.pk == row.pk)
    assert (line.why, line.kind, line.word) == ("a queue drops below its guarantee", "stop", "rejected")


def test_a_queue_that_the_tree_does_not_have_is_named(cluster, reader):
    """It may be misspelt, or have been removed since; its decisions are shown if there are any."""
    assert "The current tree has no queue root.nowhere," in reader.get(URL, {"queue": "root.nowhere"}).content.decode()
    assert "The current tree has no queue" not in reader.get(URL, {"queue": TRAINING}).content.decode()


def test_csv_holds_the_filtered_rows(cluster, reader):
    """The same filter as the page, all pages of it."""
    response = reader.get("/clusters/demo/history.csv", {"queue": "root.tenant-1"})
    lines = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert len(lines) == 2
    assert lines[0]["victim_count"] == "2"
    assert lines[0]["requests"] == "cpu=9 memory=48Gi nvidia.com/gpu=2"


def test_an_export_is_read_a_piece_at_a_time(cluster, reader, monkeypatch):
    """Nothing is missed or told twice, also of rows of one moment, and what comes in meanwhile moves nothing."""
    monkeypatch.setattr(decisions, "PIECE", 2)
    at = timezone.now() - timedelta(minutes=30)
    for _ in range(5):
        rows.decision(cluster, TRAINING, victims=(QUEUE_B,), first_seen=at)
    wanted = list(
        Decision.objects.filter(outcome="preempt").order_by("-first_seen", "-pk").values_list("pk", flat=True)
    )
    response = reader.get("/clusters/demo/history.csv")
    lines = iter(response.streaming_content)
    told = [next(lines), next(lines)]
    rows.decision(cluster, TRAINING, minutes=1, victims=(QUEUE_B,))
    text = b"".join([*told, *lines]).decode()
    assert [int(line["id"]) for line in csv.DictReader(io.StringIO(text))] == wanted


def test_an_export_that_fails_is_cut_off(cluster, reader, monkeypatch):
    """Never ended as if it were whole: the server closes the connection on what is raised."""
    monkeypatch.setattr(decisions, "PIECE", 2)
    lines = iter(reader.get("/clusters/demo/history.json").streaming_content)
    begun = [next(lines) for _ in range(3)]
    monkeypatch.setattr(Cursor, "older", lambda _self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(lines)
    with pytest.raises(json.JSONDecodeError):
        json.loads(b"".join(begun))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_csv_never_starts_a_formula(cluster, text):
    """A pod's name is chosen by whoever makes the pod; a spreadsheet must not run it."""
    row = rows.decision(cluster, TRAINING, victims=(QUEUE_B,), ask_application=text, node=text)
    cells = next(csv.reader(io.StringIO(list(as_csv(decisions.with_victims([row])))[1])))
    assert text not in cells
    assert cells.count(f"'{text}") == 2


def test_json_holds_the_filtered_rows(cluster, reader):
    """One list, also when it is empty."""
    response = reader.get("/clusters/demo/history.json", {"source": "kube-scheduler"})
    (row,) = json.loads(b"".join(response.streaming_content))
    assert row["victim_queues"] == [QUEUE_2]
    assert row["evicted_pods"] == 1
    empty = reader.get("/clusters/demo/history.json", {"node": "nowhere"})
    assert json.loads(b"".join(empty.streaming_content)) == []


def test_exports_tell_the_work_that_was_thrown_away(cluster):
    """Exactly; nothing where not all of it is known."""
    row = rows.decision(cluster, "root.tenant-1.training", victims=("root.tenant-1.queue-b",) * 2)
    first, second = row.victims.all()
    for victim, seconds in ((first, 60), (second, 30)):
        victim.started_at = victim.evicted_at - timedelta(seconds=seconds)
        victim.save()
    (exported,) = json.loads("".join(as_json(decisions.with_victims(Decision.objects.filter(pk=row.pk)))))
    assert exported["lost_work"] == {"cpu": "405", "memory": str(24 * 2**30 * 90), rows.GPU: "90"}
    Victim.objects.filter(pk=second.pk).update(started_at=None)
    (exported,) = json.loads("".join(as_json(decisions.with_victims(Decision.objects.filter(pk=row.pk)))))
    assert exported["lost_work"] is None


def test_an_unknown_cluster_is_not_found(reader):
    """Whoever asks."""
    assert reader.get("/clusters/nowhere/history/").status_code == 404


def test_an_empty_history_says_what_to_do(reader):
    """Before the first preemption, and behind a filter that matches nothing."""
    rows.status(rows.cluster("demo"))
    assert b"No pods were preempted in the last 24 hours." in reader.get(URL).content
    assert b"No decisions match these filters." in reader.get(URL, {"node": "x"}).content


def test_without_news_it_answers_304(cluster, reader):
    """And with news, the part that changes."""
    first = reader.get(URL, headers={"HX-Request": "true"})
    assert reader.get(URL, headers={"HX-Request": "true", "If-None-Match": first["ETag"]}).status_code == 304
    cluster.status.news += 1  # of usage alone
    cluster.status.save()
    assert reader.get(URL, headers={"HX-Request": "true", "If-None-Match": first["ETag"]}).status_code == 304
    cluster.status.decided += 1
    cluster.status.save()
    again = reader.get(URL, headers={"HX-Request": "true", "If-None-Match": first["ETag"]})
    assert again.status_code == 200
    assert b"<html" not in again.content
    assert b'hx-swap-oob="true"' in again.content


def test_the_newest_page_is_read_through_an_index(cluster, reader):
    """With a hundred thousand rows it still is a look at fifty."""
    everything = Filters.of({}, timezone.now()).query.rows(User.objects.get(username="ada"), cluster)
    plan = everything.order_by("-first_seen", "-pk")[:50].explain()
    read, sorted_first = _STEPS[connection.vendor]
    assert read in plan
    assert sorted_first not in plan


_STEPS = {"sqlite": ("SEARCH history_decision USING INDEX", "TEMP B-TREE"), "postgresql": ("Index Scan", "Sort")}
"""Of plans: that an index is read, and that what was read is sorted."""
