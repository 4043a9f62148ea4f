"""The pages of priority classes: who has which, what may be changed, and what becomes of two who do so at once."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.test import Client

from engine.model.objects import ClassQuota, ClassRule, PriorityClass
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.priority_classes.forms import typed_of
from tests.cluster.doubles import Simulated, simulate
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.priority_classes.builders import edit, hear, put, reach, shown, there

pytestmark = pytest.mark.django_db
PAGE = "/clusters/demo/priority-classes/"
NEW = {"name": "high", "value": "1000", "preemption_policy": "PreemptLowerPriority", "allow_preemption": "on"}
KEEP, MAY = "yunikorn.apache.org/allow-preemption", "scheduler-admin.io/may-preempt"


@pytest.fixture
def theirs() -> Iterator[Simulated]:
    with simulate() as simulated:
        yield simulated


@pytest.fixture
def demo(theirs: Simulated, tmp_path: Path) -> Cluster:
    made = rows.cluster()
    rows.status(made)
    put(theirs, "batch", 100, description="Runs when there is room.")
    reach(made, theirs, tmp_path)
    return made


def text(answer: Any, status: int = 200) -> str:
    assert answer.status_code == status, answer
    html: str = answer.content.decode()
    return html


def make(client: Client, **typed: str) -> Any:
    return client.post(PAGE, {**NEW, "reason": "for web", **typed}, follow=True)


def form_of(one: PriorityClass, **typed: str) -> dict[str, str]:
    """The form of a change as a browser sends it: as it was shown, and what was ``typed`` over it."""
    return {"act": "change", "reason": "a quiet week", **typed_of(one), **typed}


# Who has which


def test_all_classes_are_listed_with_who_has_them(audrey: Client, demo: Cluster) -> None:
    """The highest first; with links to where the pods are."""
    place = {"namespace": "vision", "queue": "root.tenant-1.training", "running": 30, "waiting": 4}
    use = {"running": 30, "waiting": 4, "places": [place], "more": 3}
    ClusterStatus.objects.update(class_use={"batch": use, "old": use, "": use})
    html = text(audrey.get(PAGE))
    assert html.index("system-node-critical") < html.index(">batch</a>")
    assert "Runs when there is room." in html
    assert "class no longer exists" in html
    assert ">no class</span>" in html
    assert "New pods that name no class have priority 0." in html
    page = text(audrey.get(f"{PAGE}batch/"))
    for shown_ in (
        "30 running, 4 pending",
        "/pods/?namespace=vision",
        "/queues/root.tenant-1.training/",
        "and 3 more rows",
    ):
        assert shown_ in page
    assert "history/?priority_class=batch" in page


def test_what_kube_scheduler_preempts_for_is_said(audrey: Client, demo: Cluster) -> None:
    ClusterStatus.objects.update(rivals=["batch"])
    assert "For pods of batch, kube-scheduler preempts on its own" in text(audrey.get(PAGE))
    assert "kube-scheduler preempts for these pods on its own" in text(audrey.get(f"{PAGE}batch/"))


def test_quotas_by_class_stand_beside_with_what_is_used(audrey: Client, demo: Cluster) -> None:
    """All of them on the list, and on the page of a class those that its pods fall under."""
    mine = ClassQuota(
        namespace="vision",
        name="some-batch",
        rules=(ClassRule("In", ("batch",)),),
        scopes=("NotBestEffort",),
        hard={"pods": "40", "requests.cpu": "8"},
        used={"pods": "34"},
    )
    other = ClassQuota(namespace="ads", name="no-batch", rules=(ClassRule("NotIn", ("batch",)),), hard={"pods": "0"})
    ClusterStatus.objects.update(class_quotas=[msgspec.to_builtins(one) for one in (mine, other)])
    html = text(audrey.get(PAGE))
    for shown_ in ("some-batch", "class batch; NotBestEffort", "<b>34</b>", "not counted yet", "class not batch"):
        assert shown_ in html
    page = text(audrey.get(f"{PAGE}batch/"))
    assert "some-batch" in page
    assert "no-batch" not in page


def test_the_highest_class_that_no_quota_limits_is_told(audrey: Client, demo: Cluster) -> None:
    """Of those that people made; not where a quota goes by it, nor where nobody may read quotas."""
    told = "No ResourceQuota limits the use of "
    highest = text(audrey.get(PAGE)).partition(told)[2].partition(",")[0]
    assert highest
    assert not highest.startswith("system-")
    limit = ClassQuota(namespace="ads", name="few", rules=(ClassRule("In", (highest,)),), hard={"pods": "0"})
    ClusterStatus.objects.update(class_quotas=[msgspec.to_builtins(limit)])
    assert told not in text(audrey.get(PAGE))
    ClusterStatus.objects.update(class_quotas=[], missing={"ResourceQuota": "resourcequotas is forbidden"})
    assert told not in text(audrey.get(PAGE))


def test_why_quotas_can_not_be_read_is_said(audrey: Client, demo: Cluster) -> None:
    ClusterStatus.objects.update(missing={"ResourceQuota": "resourcequotas is forbidden"})
    assert "Quotas can’t be read (resourcequotas is forbidden)" in text(audrey.get(PAGE))


def test_a_cluster_that_was_not_read_yet_says_so(audrey: Client) -> None:
    rows.cluster()
    assert "The priority classes have not been read yet." in text(audrey.get(PAGE))
    assert audrey.get(f"{PAGE}batch/").status_code == 404


def test_only_admins_are_offered_to_write(ada: Client, otto: Client, demo: Cluster) -> None:
    for page in (PAGE, f"{PAGE}batch/"):
        offered, shown = (text(one.get(page)).partition("<main")[2] for one in (ada, otto))  # the top bar has a pause
        assert 'name="reason"' in offered
        assert 'name="reason"' not in shown
    assert otto.post(PAGE, NEW).status_code == 403


def test_an_unchanged_page_is_not_sent_again(audrey: Client, demo: Cluster) -> None:
    """The list refreshes itself like every page."""
    first = audrey.get(PAGE, headers={"HX-Request": "true"})
    again = audrey.get(PAGE, headers={"HX-Request": "true", "If-None-Match": first["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)


# New ones


def test_a_class_is_made_and_seen_at_once(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    html = text(make(ada, description="for web", labels="team: search", global_default="on"))
    assert "Created high. New pods can now use it." in html
    made = there(theirs, "high")
    assert made is not None
    assert (made.value, made.description, made.labels, made.global_default) == (
        1000,
        "for web",
        {"team": "search"},
        True,
    )
    assert made.annotations == {}
    assert ">high</a>" in text(ada.get(PAGE))
    assert "get <strong>high</strong> (value 1000)" in text(ada.get(PAGE))
    assert AuditEvent.objects.get(verb="class.create").reason == "for web"


def test_the_switches_are_annotations(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    """Not to be preempted; to be preempted for although it says Never."""
    form = {"preemption_policy": "Never", "may_preempt": "on", "annotations": 'note: "a"\nplain: b', "reason": "why"}
    ada.post(PAGE, {"name": "own", "value": "5", **form})
    made = there(theirs, "own")
    assert made is not None
    assert made.never_preempts
    assert made.annotations == {KEEP: "false", MAY: "true", "note": "a", "plain": "b"}


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"name": "High"}, "name"),
        ({"name": "system-high"}, "name"),
        ({"name": "batch"}, "name"),
        ({"value": "1000000001"}, "value"),
        ({"value": "many"}, "value"),
        ({"value": ""}, "value"),
        ({"value": "1.5"}, "value"),
        ({"preemption_policy": "Sometimes"}, "preemption_policy"),
        ({"labels": "a: b c"}, "labels"),
        ({"labels": "nothing"}, "labels"),
        ({"annotations": "-: x"}, "annotations"),
        ({"annotations": f"{KEEP}: false"}, "annotations"),
        ({"reason": " "}, "reason"),
    ],
)
def test_what_can_not_be_is_refused_at_its_field(
    ada: Client, demo: Cluster, theirs: Simulated, typed: dict[str, str], field: str
) -> None:
    """422, nothing is sent, and what was typed is still there."""
    theirs.audit.clear()
    html = text(make(ada, description="typed before", **typed), 422)
    assert f'id="e-{field}"' in html
    assert "typed before" in html
    assert '<details class="block" id="fold-new" open>' in html
    assert not theirs.audit
    assert not AuditEvent.objects.exists()


def test_who_holds_the_default_is_named(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    put(theirs, "usual", globalDefault=True)
    hear(demo, theirs)
    html = text(make(ada, global_default="on"), 422)
    assert "usual is already the default" in html
    assert 'id="e-global_default"' in html


def test_what_the_api_server_says_is_told(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    """Somebody was quicker than the last pass."""
    put(theirs, "high")
    assert (
        "The API server rejected the request: priorityclasses.scheduling.k8s.io &quot;high&quot; already exists."
        in text(make(ada), 422)
    )


# Changes


def test_a_class_is_changed_but_for_what_is_fixed(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    seen = there(theirs, "batch")
    assert seen is not None
    form = form_of(seen, description="new", value="7", name="other", preemption_policy="Never")
    form.pop("allow_preemption")
    html = text(ada.post(f"{PAGE}batch/", form, follow=True))
    assert "Saved batch." in html
    now = there(theirs, "batch")
    assert now is not None
    assert (now.description, now.value, now.never_preempts, now.annotations) == ("new", 100, False, {KEEP: "false"})
    text(ada.post(f"{PAGE}batch/", form_of(now, allow_preemption="on"), follow=True))
    again = there(theirs, "batch")
    assert again is not None
    assert again.annotations == {}
    changes = text(ada.get("/clusters/demo/settings/")).partition('id="h-changes"')[2]
    assert changes.count("Priority class changed") == 2
    assert f"<del>{seen.description}</del> → <ins>new</ins>" in changes
    assert changes.count(KEEP) == 2  # given, and taken away again


def test_annotations_that_the_form_does_not_show_stay(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    """What kubectl keeps there, and leave to preempt where it means nothing."""
    applied = {"kubectl.kubernetes.io/last-applied-configuration": "{}", MAY: "true", "mine": "a"}
    seen = put(theirs, "applied", annotations=applied)
    hear(demo, theirs)
    html = text(ada.get(f"{PAGE}applied/"))
    assert "This class was created with kubectl apply." in html
    assert 'type="hidden" name="may_preempt" value="on"' in html
    text(ada.post(f"{PAGE}applied/", form_of(seen, annotations="mine: b"), follow=True))
    now = there(theirs, "applied")
    assert now is not None
    assert now.annotations == {**applied, "mine": "b"}


def test_two_who_change_the_same_see_what_it_says_now(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    """409, with what was typed in the form; sent again it is meant."""
    seen = there(theirs, "batch")
    assert seen is not None
    edit(theirs, "batch", description="theirs", globalDefault=True)
    html = text(ada.post(f"{PAGE}batch/", form_of(seen, description="ours")), 409)
    assert "Someone else changed this in the meantime. It is now “theirs”" in html
    assert "\nours</textarea>" in html
    now = there(theirs, "batch")
    assert now is not None
    assert now.description == "theirs"
    form = form_of(now, description="ours")
    assert json.loads(form["seen"])["version"] in html
    text(ada.post(f"{PAGE}batch/", form, follow=True))
    after = there(theirs, "batch")
    assert after is not None
    assert (after.description, after.global_default) == ("ours", True)


def test_what_was_deleted_meanwhile_is_offered_as_a_new_class(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    """Also where the list knows already that it is gone."""
    seen = there(theirs, "batch")
    assert seen is not None
    theirs.call(theirs.store.delete, "priorityclasses.scheduling.k8s.io", None, "batch")
    for _ in range(2):
        html = text(ada.post(f"{PAGE}batch/", form_of(seen, description="ours")), 409)
        assert "Someone else deleted batch in the meantime." in html
        assert 'name="value" value="100"' in html
        assert "\nours</textarea>" in html
        hear(demo, theirs)


def test_a_class_is_deleted_with_its_pods_told_before(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    use = {"running": 3, "waiting": 1, "places": [], "more": 0}
    ClusterStatus.objects.update(class_use={"batch": use})
    html = text(ada.get(f"{PAGE}batch/"))
    assert "Pods that use it: 3 running, 1 pending.</b> They are not affected and keep its priority." in html
    seen = there(theirs, "batch")
    assert seen is not None
    sent = {"act": "delete", "seen": typed_of(seen)["seen"]}
    assert "Enter a reason." in text(ada.post(f"{PAGE}batch/", sent), 422)
    html = text(ada.post(f"{PAGE}batch/", {**sent, "reason": "gone"}, follow=True))
    assert "Deleted batch. Pods that use it are not affected." in html
    assert "class no longer exists" in html
    assert (there(theirs, "batch"), shown(demo)) == (None, [])


def test_a_class_that_changed_is_shown_before_it_is_deleted(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    seen = there(theirs, "batch")
    assert seen is not None
    edit(theirs, "batch", description="theirs")
    sent = {"act": "delete", "seen": typed_of(seen)["seen"], "reason": "gone"}
    html = text(ada.post(f"{PAGE}batch/", sent), 409)
    assert "Someone else changed batch in the meantime." in html
    assert there(theirs, "batch") is not None


def test_the_clusters_own_classes_are_not_offered_for_deletion(ada: Client, demo: Cluster, theirs: Simulated) -> None:
    own = there(theirs, "system-node-critical")
    assert own is not None
    page = f"{PAGE}system-node-critical/"
    assert "Delete system-node-critical" not in text(ada.get(page))
    sent = {"act": "delete", "seen": typed_of(own)["seen"], "reason": "try"}
    assert "The cluster needs this priority class" in text(ada.post(page, sent), 422)


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"act": "wipe"},
        {"act": "change"},
        {"act": "change", "seen": "{"},
        {"act": "change", "seen": '{"name": "x"}'},
    ],
)
def test_a_form_that_is_none_of_ours_is_a_bad_request(ada: Client, demo: Cluster, sent: dict[str, str]) -> None:
    assert ada.post(f"{PAGE}batch/", sent).status_code == 400


def test_nul_is_a_bad_request(ada: Client, demo: Cluster) -> None:
    assert make(ada, description="\0").status_code == 400


# What tenants read


def test_tenants_read_what_each_class_is_for(demo: Cluster) -> None:
    """In words, the default named; of other tenants neither how many pods nor quotas."""
    ClusterStatus.objects.update(**rows.classes())
    tess = client_of(rows.tenant_user("tess", "root.tenant-1.training", ("vision",)))
    page = re.sub(r"\s+", " ", text(tess.get(PAGE)))
    assert "Answers people who wait." in page
    assert "New pods that name no class get <strong>serving</strong> (value 1000)." in page
    assert "no, unless the policy ignores its opt-out" in page
    assert "vision: pods 0 of 0, requests.cpu 0 of 0" in page
    assert not re.search(r"<b>(30|12)</b>|Running|kube-scheduler|Create a priority class", page)
    other = client_of(rows.tenant_user("sue", "root.tenant-1.queue-b", ("search",)))
    assert "requests.cpu" not in text(other.get(PAGE))


def test_tenants_neither_open_nor_make_one(demo: Cluster) -> None:
    """Who uses a class is for those who see everything."""
    tess = client_of(rows.tenant_user("tess", "root.tenant-1.training", ("vision",)))
    assert tess.get(f"{PAGE}batch/").status_code == 404
    assert tess.post(PAGE, {**NEW, "reason": "mine"}).status_code == 404


def test_strangers_find_no_classes(demo: Cluster) -> None:
    """To them the cluster does not exist."""
    assert client_of(rows.user("carl", "tenant")).get(PAGE).status_code == 404


def test_before_they_were_read_the_page_says_so(demo: Cluster) -> None:
    """To tenants as to everybody."""
    ClusterStatus.objects.update(classes=None)
    tess = client_of(rows.tenant_user("tess", "root.tenant-1.training", ("vision",)))
    assert "The priority classes have not been read yet." in text(tess.get(PAGE))
