"""PriorityClasses are created, changed and deleted in a cluster; what we let through is what API servers take."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.connecting.identity import UnreachableError, cluster_uid
from engine.cluster.errors import ClusterError, SettingsError
from engine.cluster.inspection.priority_classes import ChangedError, PriorityClasses, write
from engine.cluster.inspection.refusals import ApiRefusedError, UnknownError
from engine.formats.kubernetes.priority_classes import LOWEST, change_faults, creation_faults, removal_faults
from engine.model.objects import HIGHEST_PRIORITY, PriorityClass
from tests.cluster.doubles import Answer, Asked, ManualClock, scripted
from tests.controlplane import anycluster
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.plane import ControlPlane
from tests.engine.test_priority_classes import KEYS, NO_KEYS

CLASSES = "priorityclasses.scheduling.k8s.io"


@pytest.fixture
def classes(connection: Connection) -> PriorityClasses:
    return PriorityClasses(connection)


@pytest.fixture
def real(plane: ControlPlane) -> Iterator[AnyCluster]:
    with anycluster.real(plane) as cluster:
        yield cluster


def wanted(name: str = "high", value: int = 1000, **fields: Any) -> PriorityClass:
    return PriorityClass(name=name, value=value, **fields)


def but(one: PriorityClass, **fields: Any) -> PriorityClass:
    return msgspec.structs.replace(one, **fields)


def test_a_class_is_made_as_it_is_wanted(classes: PriorityClasses, cluster: AnyCluster):
    """And comes back with its UID and its version, so that it can be changed."""
    notes = {"yunikorn.apache.org/allow-preemption": "false", "scheduler-admin.io/may-preempt": "true"}
    made = classes.create(
        wanted(never_preempts=True, global_default=True, description="for us", labels={"a": "b"}, annotations=notes)
    )
    assert (made.name, made.value, made.never_preempts, made.global_default) == ("high", 1000, True, True)
    assert (made.description, made.labels, made.annotations) == ("for us", {"a": "b"}, notes)
    assert (made.opted_out, made.may_preempt) == (True, True)
    found = cluster.get(CLASSES, "high")
    assert (made.uid, made.version) == (found["metadata"]["uid"], found["metadata"]["resourceVersion"])


def test_only_what_differs_is_written(classes: PriorityClasses, cluster: AnyCluster):
    """What others added meanwhile is not known, and would be a conflict; what is taken away goes."""
    made = classes.create(wanted(labels={"a": "1", "b": "2"}, annotations={"n": "1"}))
    changed = classes.change(made, but(made, description="new", global_default=True, labels={"b": "3", "c": "4"}))
    assert (changed.description, changed.global_default) == ("new", True)
    assert (changed.labels, changed.annotations) == ({"b": "3", "c": "4"}, {"n": "1"})
    assert changed.version != made.version


def test_what_somebody_changed_meanwhile_is_told_and_nothing_is_written(classes: PriorityClasses, cluster: AnyCluster):
    seen = classes.create(wanted(description="old"))
    theirs = classes.change(seen, but(seen, description="theirs"))
    for act in (lambda: classes.change(seen, but(seen, description="ours")), lambda: classes.delete(seen)):
        with pytest.raises(ChangedError) as told:
            act()
        assert told.value.now == theirs
    assert cluster.get(CLASSES, "high")["description"] == "theirs"


def test_a_class_that_is_gone_or_made_anew_is_another(classes: PriorityClasses, cluster: AnyCluster):
    seen = classes.create(wanted())
    classes.delete(seen)
    with pytest.raises(ChangedError) as told:
        classes.change(seen, but(seen, description="ours"))
    assert told.value.now is None
    anew = classes.create(wanted(value=5))
    with pytest.raises(ChangedError) as told:
        classes.delete(seen)
    assert told.value.now == anew


def test_a_class_that_is_deleted_is_gone(classes: PriorityClasses, cluster: AnyCluster):
    classes.delete(classes.create(wanted()))
    assert cluster.find(CLASSES, "high") is None


FINE = [
    wanted(value=LOWEST),
    wanted(value=HIGHEST_PRIORITY),
    wanted("a.b-c"),
    wanted("a" * 253),
    wanted(description="d" * 10_000),
]
WRONG = [
    wanted("usual"),
    wanted("system-mine"),
    wanted("High"),
    wanted("a..b"),
    wanted("a" * 254),
    wanted(value=HIGHEST_PRIORITY + 1),
    wanted(value=LOWEST - 1),
]


@pytest.mark.parametrize("one", FINE, ids=lambda one: f"{one.name[:9]} {one.value}")
def test_what_we_let_through_is_taken(classes: PriorityClasses, one: PriorityClass):
    assert creation_faults(one, ()) == ()
    assert classes.create(one).name == one.name


@pytest.mark.parametrize("one", WRONG, ids=lambda one: f"{one.name[:9]} {one.value}")
def test_what_we_refuse_would_be_refused(classes: PriorityClasses, one: PriorityClass):
    usual = classes.create(wanted("usual"))
    assert creation_faults(one, [usual])
    with pytest.raises(ApiRefusedError, match="The API server rejected the request"):
        classes.create(one)


def test_changes_that_we_refuse_would_be_refused(classes: PriorityClasses, cluster: AnyCluster):
    """Our writer sends no such thing: it is asked for by hand."""
    made = classes.create(wanted())
    for field, after in (("value", but(made, value=5)), ("preemptionPolicy", but(made, never_preempts=True))):
        assert change_faults(made, after, [made])
        changes = {field: {"value": 5, "preemptionPolicy": "Never"}[field]}
        code, _ = cluster.raw("PATCH", f"{anycluster.path_of(CLASSES)}/high", changes, "application/merge-patch+json")
        assert code == 422


def test_the_clusters_own_classes_can_not_be_deleted(classes: PriorityClasses, cluster: AnyCluster):
    found = cluster.get(CLASSES, "system-node-critical")["metadata"]
    own = wanted("system-node-critical", 2_000_001_000, uid=found["uid"], version=found["resourceVersion"])
    assert removal_faults(own.name)
    with pytest.raises(ApiRefusedError, match="cannot be deleted"):
        classes.delete(own)


@pytest.mark.controlplane
def test_keys_and_values_are_judged_as_the_api_server_does(real: AnyCluster):
    """The simulator takes any."""
    classes = PriorityClasses(real.connection())
    both = [{"labels": {key: "v"}} for key in (*KEYS, *NO_KEYS, "Example.com/a")]
    both += [{"annotations": {key: "v"}} for key in (*KEYS, *NO_KEYS, "Example.com/a")]
    both += [{"labels": {"k": value}} for value in ("", "a" * 63, "a" * 64, "a b", "a_", "-", "A.b_c-9")]
    both += [{"annotations": {"a": "ü" * (128 * 1024 - 1), key: ""}} for key in ("b", "bb")]
    for number, fields in enumerate(both):
        one = wanted(f"c-{number}", **fields)
        assert _refuses(classes, one) == bool(creation_faults(one, ())), fields


def _refuses(classes: PriorityClasses, one: PriorityClass) -> bool:
    try:
        classes.create(one)
    except ApiRefusedError:
        return True
    return False


# What else may go wrong


@pytest.mark.controlplane
def test_a_right_that_is_missing_is_named_with_what_grants_it(real: AnyCluster):
    """Each verb by itself; that admission refuses is another thing."""
    made = PriorityClasses(real.connection()).create(wanted())
    rule = {"apiGroups": ["scheduling.k8s.io"], "resources": ["priorityclasses"], "verbs": ["get"]}
    limited = PriorityClasses(Connection(real.account(rule)))
    acts: dict[str, Callable[[], Any]] = {
        "create": lambda: limited.create(wanted("other")),
        "patch": lambda: limited.change(made, but(made, description="new")),
        "delete": lambda: limited.delete(made),
    }
    for verb, act in acts.items():
        with pytest.raises(ApiRefusedError) as told:
            act()
        assert str(told.value) == (
            f"Missing permission: {verb} priorityclasses.scheduling.k8s.io. "
            "Apply deploy/priority-classes.yaml to grant it."
        )


def test_another_cluster_than_the_one_that_is_meant_is_left_alone(cluster: AnyCluster):
    with pytest.raises(SettingsError, match="not the cluster that was connected"):
        write(cluster.entrance.settings(), "another", lambda classes: classes.create(wanted()))
    assert cluster.find(CLASSES, "high") is None
    uid = cluster_uid(cluster.connection())
    assert write(cluster.entrance.settings(), uid, lambda classes: classes.create(wanted())).name == "high"


class Slow(ManualClock):
    """Every look at it finds that so much has passed."""

    def __init__(self, step_s: float) -> None:
        super().__init__()
        self.step_s = step_s

    def steady_s(self) -> float:
        self.now_s += self.step_s
        return self.now_s


def test_nothing_is_written_after_the_caller_has_given_up(cluster: AnyCluster):
    """Signing in may take as long as a program likes; what was sent after that nobody would hear of."""
    settings = cluster.entrance.settings(timeout_s=5)
    with pytest.raises(UnreachableError, match="Nothing was changed"):
        write(settings, "", lambda classes: classes.create(wanted()), limit_s=20, clock=Slow(16))
    assert cluster.find(CLASSES, "high") is None
    write(settings, "", lambda classes: classes.create(wanted()), limit_s=20, clock=Slow(14))
    assert cluster.find(CLASSES, "high") is not None


def test_an_answer_that_does_not_come_leaves_open_whether_it_was_done():
    def silent(asked: Asked, answer: Answer) -> None:
        if asked.path == "/api/v1/namespaces":
            answer.json(200, {"items": []})
        else:
            answer.reset()

    with scripted(silent) as server, pytest.raises(UnknownError, match="It is unknown whether the change was made"):
        write(ConnectionSettings(address=server.address), "", lambda classes: classes.create(wanted()))


def test_a_cluster_that_can_not_be_reached_is_told_before_anything_is_sent():
    with pytest.raises(UnreachableError, match="cannot be reached: no server responds"):
        write(ConnectionSettings(address="http://127.0.0.1:9"), "", lambda classes: classes.create(wanted()))


@pytest.mark.parametrize("body", [b"{", {"metadata": {}}, {"metadata": {"name": "high"}, "value": "much"}])
def test_an_answer_that_can_not_be_read_leaves_it_open_too(body: Any):
    with (
        scripted(lambda _asked, answer: answer.json(201, body)) as server,
        pytest.raises(ClusterError, match="unknown"),
    ):
        PriorityClasses(server.connection()).create(wanted())
