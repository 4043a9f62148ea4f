"""The page of a cluster's settings: who changes what, with which reason, and what becomes of two who do so at once."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.accounts.verb_words import FIELDS, VALUES
from scheduler_admin.clusters.forms.limit_hints import HINTS
from scheduler_admin.clusters.forms.settings import text_of
from scheduler_admin.clusters.models import Cluster, ClusterStatus, Pause, Window
from scheduler_admin.clusters.safeguards.limits import LIMITS, limits_of
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.selectors import tree_filters
from tests.builders import rewrite
from tests.pages.accounts.people import shown
from tests.pages.markup import squeezed

pytestmark = pytest.mark.django_db
PAGE = "/clusters/demo/settings/"


def seen(cluster: Cluster, **typed: str) -> dict[str, str]:
    """The form of limits as a browser sends it: what was seen, and what was ``typed`` over it."""
    texts = {name: text_of(value) for name, value in limits_of(cluster).items()}
    was = {f"was:{name}": text for name, text in texts.items()}
    return {"act": "limits", "reason": "a quiet week", **was, **texts, **typed}


WINDOW: dict[str, Any] = {
    "act": "window",
    "where": "",
    "kind": "deny",
    "weekdays": ["mon", "fri"],
    "begins": "09:00",
    "ends": "17:00",
    "zone": "Europe/Berlin",
    "reason": "office hours",
}


def test_an_admin_changes_a_limit_with_a_reason(ada: Client, demo: Cluster) -> None:
    """It is audited with before and after, and told on the page."""
    ada.post(PAGE, seen(demo, evictions_per_minute="7", min_run_s="60"))
    demo.refresh_from_db()
    assert (demo.evictions_per_minute, demo.min_run_s, demo.evictions_per_pass) == (7, 60, 20)
    event = AuditEvent.objects.get(verb="cluster.limits")
    assert (event.actor_name, event.reason) == ("ada", "a quiet week")
    assert event.details == {"evictions_per_minute": [30, 7], "min_run_s": [10, 60]}
    assert "Limits changed Evictions per minute: 30 → 7 Minimum run time: 10 → 60 a quiet week" in shown(ada, PAGE)


def test_the_audit_log_has_the_names_of_all_limits_and_modes() -> None:
    """Where the form has a label, the audit log says the same."""
    assert set(HINTS) == set(LIMITS) <= set(FIELDS)
    assert VALUES["mode"] == {mode.value: mode.label for mode in Cluster.Mode}


def test_two_who_change_the_same_limit_see_both_values(ada: Client, demo: Cluster) -> None:
    """Nothing is lost and nothing is overwritten: 409, with what was typed still in the form."""
    form = seen(demo, evictions_per_minute="7", evictions_per_node="1")
    Cluster.objects.update(evictions_per_minute=9)
    answer = ada.post(PAGE, form)
    demo.refresh_from_db()
    assert answer.status_code == 409
    assert "It is now 9; you entered 7." in answer.content.decode()
    assert (demo.evictions_per_minute, demo.evictions_per_node) == (9, 20)
    assert 'name="evictions_per_node" value="1"' in answer.content.decode()


def test_two_who_change_different_limits_both_succeed(ada: Client, demo: Cluster) -> None:
    """Only what was typed anew is written."""
    form = seen(demo, evictions_per_minute="7")
    Cluster.objects.update(evictions_per_node=2)
    assert ada.post(PAGE, form).status_code == 302
    demo.refresh_from_db()
    assert (demo.evictions_per_minute, demo.evictions_per_node) == (7, 2)


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"evictions_per_minute": "many"}, "evictions_per_minute"),
        ({"evictions_per_minute": ""}, "evictions_per_minute"),
        ({"evictions_per_node": "-1"}, "evictions_per_node"),
        ({"evictions_per_node": "9" * 30}, "evictions_per_node"),
        ({"bind_margin_s": str(2**31)}, "bind_margin_s"),
        ({"room_kept_by": "by magic"}, "room_kept_by"),
        ({"protected_namespaces": "ok not/ok"}, "protected_namespaces"),
        ({"evictions_per_node": "1", "reason": " "}, ""),
    ],
)
def test_what_can_not_be_is_refused_at_its_field(ada: Client, demo: Cluster, typed: dict[str, str], field: str) -> None:
    """422, nothing changed, and the text is still there."""
    before = limits_of(demo)
    answer = ada.post(PAGE, seen(demo, **typed))
    assert answer.status_code == 422
    assert f'id="e-{field}"' in answer.content.decode() or not field
    demo.refresh_from_db()
    assert limits_of(demo) == before
    assert not AuditEvent.objects.filter(verb="cluster.limits").exists()


def test_kube_system_stays_protected(ada: Client, demo: Cluster) -> None:
    """Whatever the list says."""
    ada.post(PAGE, seen(demo, protected_namespaces="monitoring, billing"))
    demo.refresh_from_db()
    assert demo.protected_namespaces == ["billing", "kube-system", "monitoring"]


@pytest.mark.parametrize(("where", "place"), [("", "demo"), ("*", "*"), ("root.tenant-1", "demo root.tenant-1")])
def test_an_operator_pauses_and_resumes_each_place_by_itself(
    otto: Client, demo: Cluster, where: str, place: str
) -> None:
    """A cluster, all, or a queue; every page of the cluster says so at once."""
    otto.post(PAGE, {"act": "pause", "where": where, "reason": "storage migration", "length": "30"})
    pause = Pause.objects.get()
    assert (str(pause), pause.by) == (place, "otto")
    assert pause.until is not None
    assert "storage migration" in otto.get("/clusters/demo/queues/").content.decode()
    otto.post(PAGE, {"act": "resume", "where": where})
    assert not Pause.objects.exists()
    assert "storage migration" not in otto.get("/clusters/demo/queues/").content.decode()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"reason": "  "}, "reason"),
        ({"reason": "x" * 301}, "reason"),
        ({"where": "root.nowhere"}, "where"),
        ({"length": "31"}, "length"),
        ({"length": "until"}, "until"),
        ({"length": "until", "until": "soon"}, "until"),
        ({"length": "until", "until": "2020-01-01T00:00Z"}, "until"),
    ],
)
def test_a_pause_that_could_not_be_is_refused(otto: Client, demo: Cluster, wrong: dict[str, str], field: str) -> None:
    """Nobody believes that something stands still which does not."""
    form = {"act": "pause", "where": "", "reason": "because", **wrong}
    answer = otto.post(PAGE, form)
    assert answer.status_code == 422
    assert not Pause.objects.exists()
    assert f'id="e-pause-{field}"' in answer.content.decode()


def test_in_a_large_tree_the_place_is_typed(otto: Client, demo: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queues near the root are suggested; others are taken as well, and none that is not there."""
    monkeypatch.setattr(tree_filters, "MOST", 3)
    page = otto.get(PAGE).content.decode()
    field = re.search(r'<input[^>]* name="where"[^>]*>\s*<datalist id="([^"]+)">(.*?)</datalist>', page, re.DOTALL)
    assert field
    assert f'list="{field[1]}"' in field[0]
    assert 'placeholder="whole cluster demo"' in field[0]
    assert re.findall(r'<option value="([^"]*)">', field[2]) == ["*", "root"]
    otto.post(PAGE, {"act": "pause", "where": "root.tenant-1.queue-b", "reason": "because", "length": ""})
    assert Pause.objects.get().queue == "root.tenant-1.queue-b"
    refused = otto.post(PAGE, {"act": "pause", "where": "root.nowhere", "reason": "because", "length": ""})
    assert 'id="e-pause-where"' in refused.content.decode()


def test_a_pause_lasts_as_long_as_was_chosen(otto: Client, demo: Cluster) -> None:
    """So many minutes, until a time, or until somebody resumes."""

    def lasts(**chosen: str) -> timedelta | None:
        otto.post(PAGE, {"act": "pause", "where": "", "reason": "because", **chosen})
        pause = Pause.objects.get()
        otto.post(PAGE, {"act": "resume", "where": ""})
        return pause.until and pause.until - pause.at

    minute = timedelta(minutes=1)
    tomorrow = timezone.now() + timedelta(days=1)
    assert lasts(length="") is None
    assert (lasts(length="120") or minute) == pytest.approx(120 * minute, abs=minute)
    assert (lasts(length="until", until=f"{tomorrow:%Y-%m-%dT%H:%M}Z") or minute) == pytest.approx(
        1440 * minute, abs=minute
    )


def test_an_admin_adds_and_removes_a_window(ada: Client, demo: Cluster) -> None:
    """Both with a reason."""
    assert ada.post(PAGE, WINDOW).status_code == 302
    window = Window.objects.get()
    assert str(window) == "demo deny mon,fri 09:00-17:00 Europe/Berlin"
    assert "office hours" in ada.get(PAGE).content.decode()
    assert ada.post(PAGE, {"act": "remove", "window": window.pk, "reason": ""}).status_code == 422
    assert ada.post(PAGE, {"act": "remove", "window": window.pk, "reason": "moved"}).status_code == 302
    assert not Window.objects.exists()
    assert list(AuditEvent.objects.filter(verb__startswith="window.").values_list("reason", flat=True)) == [
        "moved",
        "office hours",
    ]


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({"weekdays": []}, "weekdays", "This field"),
        ({"begins": "soon"}, "begins", "Enter a valid time"),
        ({"zone": "Mars/Olympus"}, "zone", "Mars/Olympus is not a known time zone."),
        ({"first_day": "2026-02-30"}, "first_day", "Enter a valid date"),
        ({"first_day": "2026-02-03", "last_day": "2026-02-01"}, "last_day", "The last day is before the first day."),
        ({"reason": ""}, "reason", "Enter a reason."),
        ({"reason": "x" * 301}, "reason", "Ensure this value has at most 300"),
        ({"where": "root.nowhere"}, "where", "This queue does not exist."),
    ],
)
def test_a_window_that_could_not_be_is_refused(
    ada: Client, demo: Cluster, wrong: dict[str, Any], field: str, said: str
) -> None:
    """The sentence stands at its field, which refers to it, and what was typed stays."""
    answer = ada.post(PAGE, {**WINDOW, **wrong})
    assert answer.status_code == 422
    assert f'id="e-window-{field}" role="alert">{said}' in answer.content.decode()
    assert f'aria-describedby="e-window-{field}"' in answer.content.decode()
    assert 'name="zone" value="' in answer.content.decode()
    assert not Window.objects.exists()


def test_a_window_of_another_cluster_is_not_found_here(ada: Client, demo: Cluster) -> None:
    """Nor one that somebody else has removed meanwhile."""
    other = Cluster.objects.create(name="other")
    window = Window.objects.create(
        cluster=other, kind="deny", weekdays=["mon"], begins="01:00", ends="02:00", reason="x", by="ada"
    )
    for number in (window.pk, 999, "x"):
        assert ada.post(PAGE, {"act": "remove", "window": number, "reason": "x"}).status_code == 404


def test_a_scheduler_that_appeared_is_told_where_it_is_confirmed(otto: Client, demo: Cluster) -> None:
    """In the form's own words: what to do so that something is evicted again."""
    assert "has appeared since" not in otto.get(PAGE).content.decode()
    ClusterStatus.objects.update(holds=[{"interlock": "other-scheduler", "reason": "Kueue"}])
    assert "Kueue has appeared since Enforce was set" in otto.get(PAGE).content.decode()


def test_enforce_beside_a_rival_takes_the_clusters_name(otto: Client, demo: Cluster) -> None:
    """As on the command line."""
    Cluster.objects.update(mode="observe")
    ClusterStatus.objects.update(rivals=["hot"], pass_at=timezone.now())
    form = {"act": "mode", "mode": "enforce", "reason": "go"}
    assert otto.post(PAGE, form).status_code == 422
    assert otto.post(PAGE, {**form, "override": "demo"}).status_code == 302
    demo.refresh_from_db()
    assert demo.mode == "enforce"
    assert otto.post(PAGE, {"act": "mode", "mode": "observe", "reason": " "}).status_code == 422


@pytest.mark.parametrize("act", ["limits", "window", "remove"])
def test_operators_change_no_limits(otto: Client, demo: Cluster, act: str) -> None:
    """They see them."""
    page = otto.get(PAGE).content.decode()
    assert 'value="limits"' not in page
    assert 'name="evictions_per_minute" value="30"' in page
    assert otto.post(PAGE, {**WINDOW, "act": act}).status_code == 403


def test_an_auditor_sees_it_all_and_changes_nothing(audrey: Client, demo: Cluster) -> None:
    """No button is there."""
    page = audrey.get(PAGE).content.decode()
    assert 'name="act"' not in page
    assert audrey.post(PAGE, {"act": "pause", "reason": "x"}).status_code == 403


def test_an_act_that_is_none_is_a_bad_request(ada: Client, demo: Cluster) -> None:
    """Not an error of the server."""
    assert ada.post(PAGE, {"act": "explode"}).status_code == 400
    assert ada.post(PAGE, {"act": "pause", "reason": "nul \0"}).status_code == 400


def test_yunikorns_service_is_set_as_any_limit(ada: Client, demo: Cluster) -> None:
    """What names no service is turned away at its field: it becomes a part of an address."""
    answer = ada.post(PAGE, seen(demo, yunikorn_service="http://evil:80"))
    assert answer.status_code == 422
    assert "Use the form namespace/service:port" in answer.content.decode()
    assert 'value="http://evil:80"' in answer.content.decode()
    ada.post(PAGE, seen(demo, yunikorn_service="yunikorn/yunikorn-service:9080"))
    demo.refresh_from_db()
    assert demo.yunikorn_service == "yunikorn/yunikorn-service:9080"
    ada.post(PAGE, {**seen(demo), "yunikorn_service": ""})
    demo.refresh_from_db()
    assert demo.yunikorn_service == ""


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ({"on": True, "evidence": "metrics"}, "schedules and preempts PodGroups as a whole, as its metrics show."),
        ({"on": False, "evidence": "flags"}, "schedules each pod of a PodGroup by itself, as its command line shows."),
        ({"on": True, "evidence": "setting"}, "as a whole, according to the setting on this page."),
        (
            {"on": None, "evidence": ""},
            "The cluster does not show whether kube-scheduler schedules PodGroups as a whole.",
        ),
    ],
)
def test_how_groups_of_pods_are_scheduled_is_told_with_how_it_is_known(
    ada: Client, demo: Cluster, found: dict[str, Any], sentence: str
) -> None:
    ClusterStatus.objects.update_or_create(cluster=demo, defaults={"group_scheduling": found})
    assert sentence in shown(ada, PAGE)


def test_where_there_are_no_groups_of_pods_nothing_is_told_of_them(ada: Client, demo: Cluster) -> None:
    for found in ({}, {"on": False, "evidence": "api"}):
        ClusterStatus.objects.update_or_create(cluster=demo, defaults={"group_scheduling": found})
        assert "of a PodGroup" not in shown(ada, PAGE)


@pytest.mark.parametrize(
    ("on", "dialect", "advised"),
    [
        (True, "kube-scheduler", "kube-scheduler-1.37"),
        (False, "kube-scheduler-1.37", "kube-scheduler"),
        (True, "kube-scheduler-1.37", ""),
    ],
)
def test_a_tree_that_decides_otherwise_than_the_scheduler_is_told_the_dialect(
    ada: Client, demo: Cluster, on: bool, dialect: str, advised: str
) -> None:
    """Under policy priority, which decides as kube-scheduler does."""
    rewrite(Revision.objects.all(), policy="priority", dialect=dialect)
    found = {"on": on, "evidence": "metrics"}
    ClusterStatus.objects.update_or_create(cluster=demo, defaults={"group_scheduling": found})
    page = shown(ada, PAGE)
    assert ("To decide as this scheduler does" in page) is bool(advised)
    assert f"publish it with dialect {advised}." in page or not advised


def test_how_groups_of_pods_are_scheduled_is_set_as_any_limit(ada: Client, demo: Cluster) -> None:
    """For a cluster that does not show it."""
    ada.post(PAGE, seen(demo, group_scheduling="on"))
    demo.refresh_from_db()
    assert demo.group_scheduling == Cluster.GroupScheduling.ON
    assert ada.post(PAGE, seen(demo, group_scheduling="sometimes")).status_code == 422


def test_where_yunikorn_has_other_figures_stands_on_the_page(ada: Client, demo: Cluster) -> None:
    """Queue by queue, with both; nothing of it where it is not to be asked."""
    differs = [
        {"queue": "root.a", "aspect": "guaranteed", "resource": "cpu", "ours": "2", "theirs": "3"},
        {"queue": "root.a", "aspect": "fence", "resource": "", "ours": "true", "theirs": "false"},
        {"queue": "root.dynamic", "aspect": "unknown-here", "resource": "", "ours": "", "theirs": ""},
    ]
    ClusterStatus.objects.update_or_create(
        cluster=demo, defaults={"yunikorn_at": timezone.now(), "yunikorn_differs": differs}
    )
    assert "Comparison with YuniKorn" not in ada.get(PAGE).content.decode()
    Cluster.objects.update(yunikorn_service="yunikorn/yunikorn-service:9080")
    html = squeezed(ada.get(PAGE).content.decode())
    for what, ours, theirs in (
        ("guaranteed cpu", "2", "3"),
        ("fence", "yes", "no"),
        ("not in the tree here", "–", "–"),
    ):
        cells = f'{what}</td><td class="n" data-l="Here">{ours}</td><td class="n" data-l="YuniKorn">{theirs}<'
        assert cells in html, cells
    ClusterStatus.objects.update(yunikorn_differs=[])
    assert "YuniKorn’s queues match the queues here." in ada.get(PAGE).content.decode()
    ClusterStatus.objects.update(yunikorn_at=None)
    assert "YuniKorn has not responded yet." in ada.get(PAGE).content.decode()
    ClusterStatus.objects.update(missing={"YuniKorn": "the service does not exist"})
    assert "can’t be queried (the service does not exist)" in ada.get(PAGE).content.decode()
