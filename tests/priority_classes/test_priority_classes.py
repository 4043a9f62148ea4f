"""Priority classes: what passes store of them, and what is written to a cluster, checked, audited and shown at once."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from engine.model.objects import ClassQuota, ClassRule, PriorityClass
from engine.model.snapshot import ClusterState
from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.status.priority_classes import (
    KEPT,
    class_quotas,
    class_use,
    keep_classes,
    listed,
    unlisted,
)
from scheduler_admin.priority_classes.selectors import covers, picture
from scheduler_admin.priority_classes.services import (
    ClashError,
    OvertakenError,
    create_class,
    delete_class,
    merge_class,
)
from simulator.kubeconfig import kubeconfig
from tests.builders import ask, pod
from tests.cluster.doubles import Answer, Asked, Simulated, scripted, simulate
from tests.pages import rows
from tests.priority_classes.builders import SYSTEM, edit, hear, put, reach, shown, there

pytestmark = pytest.mark.django_db


@pytest.fixture
def theirs() -> Iterator[Simulated]:
    with simulate() as simulated:
        yield simulated


@pytest.fixture
def cluster(theirs: Simulated, tmp_path: Path) -> Cluster:
    made = rows.cluster()
    rows.status(made)
    reach(made, theirs, tmp_path)
    made.refresh_from_db()
    return made


@pytest.fixture
def ada() -> User:
    return rows.user()


def but(one: PriorityClass, **fields: object) -> PriorityClass:
    return msgspec.structs.replace(one, **fields)


HIGH = PriorityClass(name="high", value=1000)


# What passes store


def test_pods_are_counted_by_class_and_place() -> None:
    """Those that run apart from those that wait; the largest places first."""
    running, none = {"node": "n1", "priority_class": "high"}, {"node": "n1"}
    given = [
        *((pod(f"a-{n}", namespace="a", **running), "root.a") for n in range(3)),
        (pod("b", namespace="b", **running), "root.b"),
        (ask("c", queue="b", namespace="b", priority_class="high"), "root.b"),
        (pod("d", namespace="d", **none), None),
    ]
    pods = [msgspec.structs.replace(one, queue=queue) for one, queue in given]
    found = class_use(pods)
    assert found["high"] == {
        "running": 4,
        "waiting": 1,
        "places": [
            {"namespace": "a", "queue": "root.a", "running": 3, "waiting": 0},
            {"namespace": "b", "queue": "root.b", "running": 1, "waiting": 1},
        ],
        "more": 0,
    }
    assert found[""]["places"] == [{"namespace": "d", "queue": None, "running": 1, "waiting": 0}]


def test_of_very_many_places_only_the_largest_are_kept() -> None:
    """All pods are counted."""
    pods = [pod(f"p-{n}", namespace=f"ns-{n:02}", node="n1", priority_class="high") for n in range(60)]
    found = class_use(pods)["high"]
    assert (found["running"], len(found["places"]), found["more"]) == (60, 50, 10)


def test_classes_are_stored_the_highest_first_and_read_back() -> None:
    ours = [but(HIGH, labels={"a": "b"}, description="x"), PriorityClass(name="b", value=-1), but(HIGH, name="aa")]
    assert [one.name for one in unlisted(listed(ours))] == ["aa", "high", "b"]
    assert unlisted(listed(ours))[1] == ours[0]


def test_what_no_database_takes_is_stored_without_it() -> None:
    """PostgreSQL knows no NUL; whoever may write classes must not stop passes by it."""
    assert unlisted(listed([but(HIGH, description="a\0b", annotations={"k": "\0"})]))[0].description == "a\ufffdb"


def test_only_quotas_by_class_are_stored() -> None:
    state = ClusterState()
    by_class = ClassQuota(namespace="a", name="q", rules=(ClassRule("In", ("high",)),), hard={"pods": "1"})
    state.quotas = {("a", "q"): by_class, ("a", "all"): ClassQuota(namespace="a", name="all")}
    assert msgspec.convert(class_quotas(state), list[ClassQuota]) == [by_class]


@pytest.mark.parametrize(
    ("operator", "covered"),
    [("In", {"high"}), ("NotIn", {"low", ""}), ("Exists", {"high", "low"}), ("DoesNotExist", {""}), ("Odd", set())],
)
def test_which_classes_a_quota_is_for(operator: str, covered: set[str]) -> None:
    named = ("high",) if operator in ("In", "NotIn") else ()
    quota = ClassQuota(namespace="a", name="q", rules=(ClassRule(operator, named),))
    assert {name for name in ("high", "low", "") if covers(quota, name)} == covered


def test_names_that_pods_have_and_no_class_any_more_are_told(cluster: Cluster) -> None:
    use = {"running": 1, "waiting": 0, "places": [], "more": 0}
    ClusterStatus.objects.update(class_use={"gone": use, "": use, SYSTEM[0]: use}, rivals=["", SYSTEM[0]])
    cluster.refresh_from_db()
    found = picture(cluster)
    assert found is not None
    assert list(found.gone) == ["gone"]
    assert (found.unnamed.running, found.unnamed_rival, found.rivals) == (1, True, [SYSTEM[0]])


# What is written


def test_a_class_that_is_made_is_listed_at_once_and_audited(cluster: Cluster, theirs: Simulated, ada: User) -> None:
    """By what the API server answered, with its version."""
    made = create_class(cluster=cluster, wanted=HIGH, actor=ada, reason="for web")
    assert made == there(theirs, "high")
    assert shown(cluster) == ["high"]
    event = AuditEvent.objects.get(verb="class.create")
    assert (event.actor_name, event.target, event.reason) == ("ada", cluster.name, "for web")
    assert event.details == {"name": "high", "value": 1000}


def test_a_pass_that_had_not_seen_it_yet_does_not_take_it_off_the_list(cluster: Cluster, ada: User) -> None:
    """It stands until passes must have seen it; then they are right again."""
    create_class(cluster=cluster, wanted=HIGH, actor=ada, reason="why")
    now = timezone.now()
    for later, names in ((timedelta(seconds=1), ["high"]), (KEPT + timedelta(seconds=1), [])):
        keep_classes(status=ClusterStatus.objects.get(), read=[], now=now + later)
        assert shown(cluster) == names


def test_once_a_pass_has_seen_it_the_next_one_is_right_again(cluster: Cluster, theirs: Simulated, ada: User) -> None:
    """Others' changes are shown as soon as ever."""
    create_class(cluster=cluster, wanted=HIGH, actor=ada, reason="why")
    seen, now = ClusterStatus.objects.get().classes, timezone.now()
    assert not keep_classes(status=ClusterStatus.objects.get(), read=seen, now=now)
    assert keep_classes(status=ClusterStatus.objects.get(), read=[], now=now + timedelta(seconds=1))
    assert shown(cluster) == []


def test_a_pass_does_not_overwrite_what_was_written_while_it_stored(cluster: Cluster, ada: User) -> None:
    status = ClusterStatus.objects.get()
    create_class(cluster=cluster, wanted=HIGH, actor=ada, reason="why")
    assert not keep_classes(status=status, read=[], now=timezone.now())
    assert shown(cluster) == ["high"]


def test_what_would_be_refused_is_refused_here(cluster: Cluster, theirs: Simulated, ada: User) -> None:
    """By field, before anything is sent, and nothing is audited."""
    put(theirs, "usual", globalDefault=True)
    hear(cluster, theirs)
    theirs.audit.clear()
    wrong = PriorityClass(name="system-x", value=2**31, global_default=True, labels={"-": ""})
    with pytest.raises(ValidationError) as told:
        create_class(cluster=cluster, wanted=wrong, actor=ada, reason=" ")
    assert set(told.value.message_dict) == {"name", "value", "global_default", "labels", "reason"}
    assert not theirs.audit
    assert not AuditEvent.objects.exists()


def test_a_change_is_audited_with_what_it_was(cluster: Cluster, theirs: Simulated, ada: User) -> None:
    seen = put(theirs, "high", description="old")
    hear(cluster, theirs)
    wanted = but(seen, description="new", labels={"a": "b"})
    merge_class(cluster=cluster, seen=seen, wanted=wanted, actor=ada, reason="why")
    changes = {"description": ["old", "new"], "labels": [{}, {"a": "b"}]}
    assert AuditEvent.objects.get(verb="class.change").details == {"name": "high", "changes": changes}


def test_a_change_of_nothing_sends_nothing(cluster: Cluster, theirs: Simulated, ada: User) -> None:
    seen = put(theirs, "high")
    hear(cluster, theirs)
    theirs.audit.clear()
    assert merge_class(cluster=cluster, seen=seen, wanted=seen, actor=ada, reason="why") == seen
    assert not theirs.audit
    assert not AuditEvent.objects.exists()


def test_two_who_change_different_things_both_succeed(cluster: Cluster, theirs: Simulated, ada: User) -> None:
    """Labels and annotations key by key."""
    seen = put(theirs, "high", labels={"a": "1", "b": "1"})
    hear(cluster, theirs)
    edit(theirs, "high", description="theirs")
    theirs.change(
        "priorityclasses.scheduling.k8s.io", None, "high", lambda obj: obj["metadata"]["labels"].update(c="1")
    )
    wanted = but(seen, global_default=True, labels={"a": "2"})
    made = merge_class(cluster=cluster, seen=seen, wanted=wanted, actor=ada, reason="why")
    assert (made.description, made.global_default, made.labels) == ("theirs", True, {"a": "2", "c": "1"})
    assert made == there(theirs, "high")


def test_two_who_change_the_same_clash(cluster: Cluster, theirs: Simulated, ada: User) -> None:
    """Nothing is written; what is there now is known, with what was wanted over it."""
    seen = put(theirs, "high", description="old", labels={"a": "1"})
    hear(cluster, theirs)
    edit(theirs, "high", description="theirs", globalDefault=True)
    wanted = but(seen, description="ours", labels={"a": "2"})
    with pytest.raises(ClashError) as told:
        merge_class(cluster=cluster, seen=seen, wanted=wanted, actor=ada, reason="why")
    now = there(theirs, "high")
    assert (told.value.fields, told.value.now) == (("description",), now)
    assert told.value.wanted == but(now, description="ours", labels={"a": "2"})
    assert not AuditEvent.objects.exists()
    assert unlisted(ClusterStatus.objects.get().classes)[-1] == now


def test_what_was_deleted_or_made_anew_is_not_changed(cluster: Cluster, theirs: Simulated, ada: User) -> None:
    seen = put(theirs, "high")
    hear(cluster, theirs)
    theirs.call(theirs.store.delete, "priorityclasses.scheduling.k8s.io", None, "high")
    wanted = but(seen, description="ours")
    with pytest.raises(OvertakenError) as told:
        merge_class(cluster=cluster, seen=seen, wanted=wanted, actor=ada, reason="why")
    assert told.value.now is None
    assert shown(cluster) == []
    anew = put(theirs, "high", value=5)
    with pytest.raises(OvertakenError) as told:
        merge_class(cluster=cluster, seen=seen, wanted=wanted, actor=ada, reason="why")
    assert told.value.now == anew
    assert shown(cluster) == ["high"]


def test_a_class_that_is_deleted_is_off_the_list_at_once(cluster: Cluster, theirs: Simulated, ada: User) -> None:
    seen = put(theirs, "high")
    hear(cluster, theirs)
    delete_class(cluster=cluster, before=seen, actor=ada, reason="why")
    assert (shown(cluster), there(theirs, "high")) == ([], None)
    assert AuditEvent.objects.get(verb="class.delete").details == {"name": "high", "value": 1000}


def test_a_class_that_changed_is_not_deleted(cluster: Cluster, theirs: Simulated, ada: User) -> None:
    seen = put(theirs, "high")
    edit(theirs, "high", description="theirs")
    with pytest.raises(OvertakenError):
        delete_class(cluster=cluster, before=seen, actor=ada, reason="why")
    assert there(theirs, "high") is not None


def test_a_cluster_that_was_never_read_gets_nothing(ada: User) -> None:
    """Nobody knows what is there: the rules can't be held."""
    blank = rows.cluster("blank")
    with pytest.raises(ValidationError, match="has not been read yet"):
        create_class(cluster=blank, wanted=HIGH, actor=ada, reason="why")


def lead_to(address: str, folder: Path) -> None:
    """From now on the cluster is reached there."""
    (folder / "kubeconfig").write_text(kubeconfig(address))


def test_a_cluster_that_does_not_answer_is_a_sentence(cluster: Cluster, ada: User, tmp_path: Path) -> None:
    lead_to("http://127.0.0.1:9", tmp_path)
    with pytest.raises(ValidationError, match=r"cannot be reached: no server responds"):
        create_class(cluster=cluster, wanted=HIGH, actor=ada, reason="why")
    assert not AuditEvent.objects.exists()


def test_what_may_have_been_done_is_audited_as_such(cluster: Cluster, ada: User, tmp_path: Path) -> None:
    """The connection broke after the request was sent."""

    def half(asked: Asked, answer: Answer) -> None:
        if asked.method == "GET":
            answer.json(200, {"items": []})
        else:
            answer.reset()

    with scripted(half) as server:
        lead_to(server.address, tmp_path)
        with pytest.raises(ValidationError, match="It is unknown whether the change was made"):
            create_class(cluster=cluster, wanted=HIGH, actor=ada, reason="why")
    assert "unknown" in AuditEvent.objects.get(verb="class.create").details["outcome"]
