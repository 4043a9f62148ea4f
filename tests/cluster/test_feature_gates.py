"""Whether kube-scheduler schedules groups of pods as a whole: read from its metrics, its flags, and what is served."""

import pytest

from engine.cluster.inspection.feature_gates import gate_by_flags, gate_by_metrics, groups_served, scheduler_gate
from engine.cluster.inspection.versions import SchedulerContainer
from engine.model.objects import GroupEvidence, GroupScheduling
from tests.builders import pod
from tests.cluster.doubles import Answer, Asked, scripted

METRICS = b"""\
# TYPE kubernetes_feature_enabled gauge
kubernetes_feature_enabled{name="CompositePodGroup",stage="ALPHA"} 0
kubernetes_feature_enabled{name="GenericWorkload",stage="BETA"} %d
kubernetes_feature_enabled{name="MatchLabelKeysInPodAffinity",stage=""} 1
scheduler_pending_pods{queue="active"} 3
"""
GROUP = {"kind": "APIGroup", "versions": [{"version": "v1"}]}
SERVING = {"kind": "APIGroup", "versions": [{"version": "v1"}, {"version": "v1beta1"}]}


@pytest.mark.parametrize(
    ("metrics", "on"),
    [
        (METRICS % 1, True),
        (METRICS % 0, False),
        (b'kubernetes_feature_enabled{name="AllAlpha",stage="ALPHA"} 0\n', False),
        (b'scheduler_pending_pods{queue="active"} 3\n', None),
        (b"not found", None),
    ],
)
def test_metrics_list_the_gate(metrics: bytes, on: bool | None) -> None:
    """A scheduler that does not know the gate has it off; without any gates nothing is known."""
    assert gate_by_metrics(metrics) is on


@pytest.mark.parametrize(
    ("version", "flags", "on"),
    [
        ("v1.37.2", ("--feature-gates=GenericWorkload=true",), True),
        ("v1.37.2", ("--feature-gates", "A=true,GenericWorkload=true"), True),
        ("v1.37.2", ("--feature-gates=A=true", "--feature-gates=kube:GenericWorkload=true"), True),
        ("v1.37.2", ("--feature-gates=AllBeta=true",), True),
        ("v1.37.2", ("--feature-gates=AllBeta=true,GenericWorkload=false",), False),
        ("v1.37.2", ("--feature-gates=AllAlpha=true",), False),
        ("v1.37.2", ("--leader-elect=true",), False),
        ("v1.36.3", ("--feature-gates=AllAlpha=true",), True),
        ("v1.36.3", (), False),
        ("v1.34.0", (), False),
        ("v1.38.0", (), None),
        ("v1.38.0", ("--feature-gates=GenericWorkload=false",), False),
        ("latest", (), None),
    ],
)
def test_flags_set_the_gate_or_leave_the_default_of_the_release(
    version: str, flags: tuple[str, ...], on: bool | None
) -> None:
    """Of releases that come later, the default is not known."""
    image = f"registry.k8s.io/kube-scheduler:{version}"
    assert gate_by_flags([SchedulerContainer(image=image, command=("kube-scheduler", *flags))]) is on
    assert gate_by_flags([SchedulerContainer(image=image, command=("kube-scheduler",), args=flags)]) is on


def test_a_scheduler_in_no_visible_pod_shows_nothing() -> None:
    """As in a managed cluster; nor does a pod that can't be read."""

    def script(_asked: Asked, answer: Answer) -> None:
        answer.status(403, "Forbidden", "not allowed")

    with scripted(script) as server:
        assert scheduler_gate(server.connection(), None) == GroupScheduling()
        assert scheduler_gate(server.connection(), pod("kube-scheduler-n1")) == GroupScheduling()


def test_metrics_are_read_at_the_port_that_the_command_line_names() -> None:
    """Through the API server, from the scheduler's own pod."""
    command = ["kube-scheduler", "--secure-port=20259"]
    containers = [{"image": "kube-scheduler:v1.37.2", "command": command}]

    def script(asked: Asked, answer: Answer) -> None:
        if asked.path == "/api/v1/namespaces/ns/pods/https:kube-scheduler-n1:20259/proxy/metrics":
            answer.json(200, METRICS % 1)
        else:
            answer.json(200, {"items": [{"spec": {"containers": containers}}]})

    with scripted(script) as server:
        found = scheduler_gate(server.connection(), pod("kube-scheduler-n1"))
    assert found == GroupScheduling(on=True, evidence=GroupEvidence.METRICS)


@pytest.mark.parametrize(("told", "served"), [(GROUP, False), (SERVING, True), (None, None)])
def test_who_may_not_read_groups_still_learns_whether_they_are_served(
    told: dict[str, object] | None, served: bool | None
) -> None:
    """From the versions of the API group, which everybody may list."""

    def script(asked: Asked, answer: Answer) -> None:
        assert asked.path == "/apis/scheduling.k8s.io"
        if told is None:
            answer.status(500, "", "etcd is away")
        else:
            answer.json(200, told)

    with scripted(script) as server:
        assert groups_served(server.connection()) is served
