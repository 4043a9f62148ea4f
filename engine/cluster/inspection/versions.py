"""Finds the versions of the schedulers in a cluster: from their pods' images and from the API server's version."""

from collections.abc import Mapping
from urllib.parse import quote

import msgspec

from engine.cluster.connecting.connection import Connection
from engine.cluster.errors import ApiFailure, ConnectionFailure
from engine.formats.undecodable import UNDECODABLE
from engine.formats.untrusted_text import kept_text
from engine.model.objects import Pod
from engine.observation.discovery import KUBE_SCHEDULER

LONGEST = 100
"""How many characters of a version are kept."""
_PREFIX = "scheduler-"
"""The prefix in the tags of YuniKorn's images: ``apache/yunikorn:scheduler-1.7.0``."""


class SchedulerContainer(msgspec.Struct, frozen=True):
    """A container of a scheduler's pod, as far as it shows how the scheduler runs."""

    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()


class _Spec(msgspec.Struct, frozen=True):
    containers: tuple[SchedulerContainer, ...] = ()


class _Pod(msgspec.Struct, frozen=True):
    spec: _Spec = _Spec()


class _Pods(msgspec.Struct):
    items: list[_Pod] = []


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


def scheduler_versions(connection: Connection, scheduler_pods: Mapping[str, Pod]) -> dict[str, str]:
    """Return the version of each scheduler, as far as it is known; ``scheduler_pods``: a pod of each scheduler.

    A kube-scheduler without a visible pod, as in a managed cluster, has the API server's version. Never raises for the
    cluster.
    """
    versions = {name: version for name, pod in scheduler_pods.items() if (version := _of_pod(connection, pod))}
    if KUBE_SCHEDULER not in versions and (version := _of_server(connection)):
        versions[KUBE_SCHEDULER] = version
    return versions


def version_of_image(image: str) -> str:
    """Return the version that an image is tagged with; empty where it has none."""
    _name, _colon, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    return kept_text(tag.removeprefix(_PREFIX), LONGEST)


def _of_pod(connection: Connection, pod: Pod) -> str:
    tags = (version_of_image(container.image) for container in containers_of(connection, pod))
    return next(filter(None, tags), "")


def containers_of(connection: Connection, pod: Pod) -> list[SchedulerContainer]:
    """Return the containers of a scheduler's pod; none where they can't be read. Never raises for the cluster.

    The pod is read as a list of one: the right to list pods is needed anyway.
    """
    path = f"/api/v1/namespaces/{quote(pod.namespace, safe='')}/pods"
    try:
        answer = connection.request("GET", path, query={"fieldSelector": f"metadata.name={pod.name}"})
        listed = msgspec.json.decode(answer.body, type=_Pods).items
    except (ApiFailure, ConnectionFailure, *UNDECODABLE):
        return []
    return [container for listed_pod in listed for container in listed_pod.spec.containers]


def _of_server(connection: Connection) -> str:
    try:
        version = msgspec.json.decode(connection.request("GET", "/version").body, type=_Version).git_version
    except (ApiFailure, ConnectionFailure, *UNDECODABLE):
        return ""
    return kept_text(version, LONGEST)
