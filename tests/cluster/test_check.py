"""What a check of a cluster says, line by line."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from engine.cluster.acting.lease import ClusterLease
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
from engine.cluster.connecting.identity import cluster_uid
from engine.cluster.inspection.check import SUBJECTS, CheckLevel, Expected, Report, check
from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from tests.cluster.certificates import jwt
from tests.cluster.doubles import Answer, Asked, ManualClock, scripted
from tests.controlplane.anycluster import AnyCluster
from tests.waiting import PATIENCE_S

NOW = datetime.fromtimestamp(ManualClock().wall_ms() / 1000, UTC)


def of(cluster: AnyCluster, **expected: Any) -> Report:
    return check(cluster.entrance.settings(), Expected(**{"mode": "observe", **expected}))


def said(report: Report, subject: str) -> list[tuple[str, str]]:
    """Level and sentence of each line about a subject."""
    return [(line.level, str(line)) for line in report.lines if line.subject == subject]


def test_a_cluster_that_is_as_it_should_be(cluster: AnyCluster, connection: Connection):
    """What works is told, too; nothing is written."""
    uid = cluster_uid(connection)
    report = of(cluster, uid=uid)
    assert report.well
    assert {line.level for line in report.lines} == {CheckLevel.OK}
    assert {line.subject for line in report.lines} < set(SUBJECTS)
    assert [line.subject for line in report.lines] == [
        "server", "clock", "identity", "credentials", "rights", "priority classes", "tree", "consumers", "schedulers",
        "two brains", "taints",
    ]  # fmt: skip
    assert "responded in" in said(report, "server")[0][1]
    assert said(report, "identity") == [("ok", f"The UID of kube-system is {uid}.")]
    written = {record.verb for record in cluster.audit if record.resource and "review" not in record.resource}
    assert written <= {"get", "list", "watch"}


def test_another_cluster_than_the_one_that_was_connected_is_told(cluster: AnyCluster):
    report = of(cluster, uid="another")
    assert not report.well
    assert said(report, "identity")[0][0] == "error"


def test_two_brains_are_an_error_only_where_we_would_act(cluster: AnyCluster):
    """The classes are named; with the policy that works beside a scheduler that preempts it is none."""
    cluster.add_pod("ask")
    for expected, level in (({"mode": "observe"}, "ok"), ({"mode": "enforce"}, "error"),
                            ({"mode": "enforce", "single": False}, "ok")):  # fmt: skip
        assert [level_ for level_, _text in said(of(cluster, **expected), "two brains")] == [level]
    assert "(none)" in said(of(cluster), "two brains")[0][1]


def test_pods_that_never_preempt_are_no_second_brain(cluster: AnyCluster):
    cluster.create("priorityclasses.scheduling.k8s.io", {
        "metadata": {"name": "calm"}, "value": 10, "preemptionPolicy": "Never",
    })  # fmt: skip
    cluster.add_pod("ask", priorityClassName="calm")
    assert said(of(cluster, mode="enforce"), "two brains") == [
        ("ok", "The cluster’s own scheduler does not preempt for any pod in the queue tree.")
    ]


def test_pods_that_run_are_no_second_brain_once_their_class_never_preempts(cluster: AnyCluster):
    """They keep the policy of the class that was there before."""
    resource = "priorityclasses.scheduling.k8s.io"
    cluster.create(resource, {"metadata": {"name": "calm"}, "value": 10})
    cluster.add_pod("runs", node="n1", priorityClassName="calm")
    assert said(of(cluster, mode="enforce"), "two brains")[0][0] == "error"
    cluster.delete(resource, "calm")
    cluster.create(resource, {"metadata": {"name": "calm"}, "value": 10, "preemptionPolicy": "Never"})
    assert said(of(cluster, mode="enforce"), "two brains")[0][0] == "ok"


def test_the_lease_of_another_installation_is_named(cluster: AnyCluster, connection: Connection):
    """Not that of a worker of ours."""
    assert said(of(cluster, mode="enforce"), "lease") == [("ok", "No other installation manages this cluster.")]
    assert ClusterLease(connection, identity="theirs/1").renew()
    ((level, text),) = said(of(cluster, mode="enforce"), "lease")
    assert (level, "theirs/1 holds the Lease" in text) == ("error", True)
    assert said(of(cluster, mode="enforce", owners=frozenset({"theirs/1"})), "lease")[0][0] == "ok"


def test_a_taint_that_no_open_decision_owns_is_named(cluster: AnyCluster):
    for name, ask in (("n1", "open"), ("n2", "gone")):
        cluster.add_node(name, taints=[{"key": RESERVED_TAINT_KEY, "value": ask, "effect": "NoSchedule"}])
    (line,) = said(of(cluster, open_pods=frozenset({"open"})), "taints")
    assert line == ("warning", "These nodes have a reservation taint that belongs to no open decision: n2.")


# What no real server does on demand


def serving(date: datetime | None = None, forbidden: Callable[[dict[str, str]], bool] = lambda _asked: False) -> Any:
    """An empty cluster whose clock stands still, and that allows all but what is forbidden."""

    def script(asked: Asked, answer: Answer) -> None:
        if asked.path == "/version":
            date_of = {"Date": format_datetime(date, usegmt=True)} if date else {}
            data = json.dumps({"gitVersion": "v1"}).encode()
            head = "".join(f"{name}: {value}\r\n" for name, value in date_of.items())
            answer.close_with(
                f"HTTP/1.1 200 OK\r\n{head}Connection: close\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data
            )
        elif asked.method == "POST":
            allowed = not forbidden(asked.body["spec"]["resourceAttributes"])
            answer.json(201, {**asked.body, "status": {"allowed": allowed}})
        elif "sendInitialEvents" in asked.query:
            answer.status(422, "Invalid", "sendInitialEvents is forbidden for watch")
        elif "watch" in asked.query:
            answer.begin()
        else:
            answer.json(200, {"metadata": {}, "items": []})

    return script


def look(script: Any, clock: ManualClock | None = None, token: str = "t", **expected: Any) -> Report:
    with scripted(script) as server:
        settings = ConnectionSettings(address=server.address, token=token)
        return check(
            settings, Expected(**{"mode": "observe", **expected}), clock=clock or ManualClock(), limit_s=PATIENCE_S
        )


@pytest.mark.parametrize(
    ("ahead_s", "level", "told"),
    [(0, "ok", "-0.5"), (3, "ok", "-3.5"), (4, "warning", "-4.5"), (-3, "ok", "+2.5"), (-4, "ok", "+3.5"),
     (-5, "warning", "+4.5"), (7200, "warning", "-7200.5")],
)  # fmt: skip
def test_the_clocks_are_compared_as_finely_as_a_second_allows(ahead_s: int, level: str, told: str):
    """The Date of an answer has no parts of a second: half of one more, or less, is never warned of."""
    report = look(serving(NOW + timedelta(seconds=ahead_s)))
    assert said(report, "clock") == [(level, f"Clock offset from the API server: {told} s (± 0.5 s).")]
    assert report.well


def test_a_server_without_a_clock_is_told():
    assert said(look(serving()), "clock") == [("warning", "The API server did not report its time.")]


def test_what_can_be_done_without_is_a_warning_with_what_is_missing():
    report = look(serving(NOW, lambda asked: asked["resource"] == "events"))
    assert [(level, text.split(".")[0]) for level, text in said(report, "rights")[1:]] == [
        ("warning", "Missing permission: list events"), ("warning", "Missing permission: watch events"),
    ]  # fmt: skip
    assert report.well


@pytest.mark.parametrize("resource", ["namespaces", "persistentvolumeclaims", "persistentvolumes"])
def test_what_placement_rules_are_about_can_be_done_without(resource: str):
    """As under the role of before; what follows, and what grants it, is said."""
    report = look(serving(NOW, lambda asked: asked["resource"] == resource))
    lines = said(report, "rights")[1:]
    assert {level for level, _ in lines} == {"warning"}
    missing = {f"Missing permission: {verb} {resource}" for verb in ("list", "watch")}
    assert {text.split(". ")[0] for _, text in lines} == missing
    assert all("are skipped" in text and "Apply deploy/observe.yaml to grant it." in text for _, text in lines)
    assert report.well


def test_what_can_not_be_done_without_is_an_error():
    """And the cluster is not read, as it can't be."""
    report = look(serving(NOW, lambda asked: asked["resource"] == "pods" and asked["verb"] == "watch"))
    assert said(report, "rights")[1] == (
        "error", "Missing permission: watch pods, which observe mode requires. Apply deploy/observe.yaml to grant it.",
    )  # fmt: skip
    assert not report.well
    assert said(report, "schedulers") == []


@pytest.mark.parametrize(("days", "level"), [(13, "warning"), (15, "ok")])
def test_the_end_of_credentials_is_warned_of(days: int, level: str):
    ends = NOW + timedelta(days=days)
    (line,) = said(look(serving(NOW), token=jwt(ends)), "credentials")
    assert line == (level, f"Signed in with a token that is valid until {ends:%Y-%m-%d %H:%M} UTC.")


def test_a_certificate_that_nobody_checks_is_warned_of():
    with scripted(serving(NOW)) as server:
        settings = ConnectionSettings(address=server.address, token="t", verify_tls=False)
        report = check(settings, Expected("observe"), clock=ManualClock(), limit_s=PATIENCE_S)
    assert [(level, "is not verified" in text) for level, text in said(report, "credentials")] == [("warning", True)]


@pytest.mark.parametrize(
    ("script", "want"),
    [
        (lambda asked, answer: answer.status(401, "Unauthorized", "no"), "does not accept the credentials (401)"),
        (lambda asked, answer: answer.status(500, "x", "it broke"), "it broke"),
        (lambda asked, answer: answer.json(200, b"<html>"), "not as a Kubernetes API"),
        (lambda asked, answer: answer.reset(), "cannot be reached: the connection to the API server broke"),
    ],
)
def test_what_ends_a_check_is_its_last_line(script: Any, want: str):
    report = look(script)
    assert not report.well
    assert want in str(report.lines[-1])


def test_a_server_that_hangs_is_given_up():
    with scripted(lambda asked, answer: answer.hang()) as server:
        report = check(ConnectionSettings(address=server.address), Expected("observe"), limit_s=0.2)
    assert [str(line) for line in report.lines] == ["Reading the cluster took longer than 0 s and was canceled."]
