"""Finds out whether kube-scheduler schedules PodGroups as a whole, by its feature gate GenericWorkload.

Source: component-base of Kubernetes 1.37 (featuregate, metrics/prometheus/feature) and pkg/features/kube_features.go.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote

import msgspec

from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.cluster.inspection.versions import SchedulerContainer, containers_of, version_of_image
from engine.formats.kubernetes.pod_groups import API_GROUP
from engine.formats.undecodable import UNDECODABLE
from engine.model.objects import GroupEvidence, GroupScheduling, Pod

GATE = "GenericWorkload"
_SERVING = frozenset({"v1beta1", "v1alpha2"})
"""The versions of scheduling.k8s.io with the PodGroups that are read here; neither is served by default."""
_METRIC = re.compile(rb'^kubernetes_feature_enabled\{name="(\w+)",stage="\w*"\} ([01])$', re.MULTILINE)
_PORT = 10259
"""The port of a kube-scheduler whose command line names none."""
_ALPHA, _BETA = ((1, 35), (1, 36)), ((1, 37),)
"""The releases with the gate at each stage. It is off there by default; of later ones that is not known."""


class _ServedVersion(msgspec.Struct, frozen=True):
    version: str = ""


class _ApiGroup(msgspec.Struct, frozen=True):
    versions: tuple[_ServedVersion, ...] = ()


def groups_served(connection: Connection) -> bool | None:
    """Return whether the API server serves PodGroups, also to an account that may not read them; None if unknown.

    Never raises for the cluster.
    """
    try:
        answer = connection.request("GET", f"/apis/{API_GROUP}")
        versions = msgspec.json.decode(answer.body, type=_ApiGroup).versions
    except (ApiFailure, ConnectionFailure, *UNDECODABLE):
        return None
    return any(one.version in _SERVING for one in versions)


def scheduler_gate(connection: Connection, pod: Pod | None) -> GroupScheduling:
    """Return what the pod of kube-scheduler shows of the gate: by its metrics, else by its command line.

    ``pod``: None where the scheduler runs in no visible pod, as in a managed cluster: then the gate is unknown. Never
    raises for the cluster.
    """
    if pod is None:
        return GroupScheduling()
    containers = containers_of(connection, pod)
    by_metrics = _by_metrics(connection, pod, _flag(containers, "secure-port") or str(_PORT))
    if by_metrics is not None:
        return GroupScheduling(on=by_metrics, evidence=GroupEvidence.METRICS)
    by_flags = gate_by_flags(containers)
    return GroupScheduling() if by_flags is None else GroupScheduling(on=by_flags, evidence=GroupEvidence.FLAGS)


def _by_metrics(connection: Connection, pod: Pod, port: str) -> bool | None:
    name = quote(f"https:{pod.name}:{port}", safe=":")
    path = f"/api/v1/namespaces/{quote(pod.namespace, safe='')}/pods/{name}/proxy/metrics"
    try:
        return gate_by_metrics(connection.request("GET", path).body)
    except (ApiFailure, ConnectionFailure):
        return None


def gate_by_metrics(metrics: bytes) -> bool | None:
    """Return whether a scheduler's metrics list the gate as on; None where they list no feature gates."""
    gates = {name.decode(): value == b"1" for name, value in _METRIC.findall(metrics)}
    return gates.get(GATE, False) if gates else None


def gate_by_flags(containers: Iterable[SchedulerContainer]) -> bool | None:
    """Return whether a scheduler with these containers has the gate on; None where that is unknown.

    A gate that is named counts more than all of its stage, which counts more than the default.
    """
    containers = list(containers)
    gates = dict(_gates(_flag(containers, "feature-gates")))
    if GATE in gates:
        return gates[GATE]
    releases = {_release(version_of_image(container.image)) for container in containers}
    if releases & set(_BETA):
        return gates.get("AllBeta", False)
    if releases & set(_ALPHA):
        return gates.get("AllAlpha", False)
    return False if any(release and release < min(_ALPHA) for release in releases) else None


def _flag(containers: Iterable[SchedulerContainer], name: str) -> str:
    """Return the values of a flag, joined by commas; empty if it is not set."""
    values = list[str]()
    for container in containers:
        words = [*container.command, *container.args]
        for word, following in zip(words, [*words[1:], ""], strict=True):
            flag, has_value, value = word.lstrip("-").partition("=")
            if word.startswith("--") and flag == name:
                values.append(value if has_value else following)
    return ",".join(values)


def _gates(values: str) -> Iterable[tuple[str, bool]]:
    """Yield the gates of a flag such as ``A=true,kube:B=false``."""
    for one in values.split(","):
        gate, _, value = one.strip().partition("=")
        yield gate.removeprefix("kube:"), value.lower() in ("true", "t", "1")


def _release(version: str) -> tuple[int, int] | None:
    found = re.match(r"v(\d+)\.(\d+)\.", version)
    return (int(found[1]), int(found[2])) if found else None
