"""Which versions of schedulers run in a cluster: what their own pods run, and what the API server says."""

from typing import Any

import msgspec
import pytest

from engine.cluster.connecting.connection import Response
from engine.cluster.errors import ApiFailure
from engine.cluster.inspection.versions import scheduler_versions, version_of_image
from engine.observation.discovery import scheduler_pods
from tests.builders import pod


class Server:
    """Answers what it was given, else that there is no such thing."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers

    def request(self, _method: str, path: str, query: dict[str, str] | None = None) -> Response:
        """Of pods by their name, and of its own version."""
        key = (query or {}).get("fieldSelector", path).rpartition("=")[2].strip("/")
        if key not in self.answers:
            raise ApiFailure(404, "NotFound", "no such thing")
        return Response(200, {}, msgspec.json.encode(self.answers[key]))


def pods_of(image: str) -> dict[str, Any]:
    return {"items": [{"spec": {"containers": [{"name": "main", "image": image}]}}]}


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("registry.k8s.io/kueue/kueue:v0.19.2", "v0.19.2"),
        ("registry.k8s.io/kueue/kueue:v0.19.2@sha256:0123", "v0.19.2"),
        ("apache/yunikorn:scheduler-1.7.0", "1.7.0"),
        ("localhost:5000/volcanosh/vc-scheduler", ""),
        ("localhost:5000/vc-scheduler:v1.14.0", "v1.14.0"),
        ("kueue@sha256:0123", ""),
        ("", ""),
    ],
)
def test_a_version_is_the_tag_of_an_image(image: str, version: str) -> None:
    """Wherever it comes from, and with or without a digest."""
    assert version_of_image(image) == version


def test_each_scheduler_is_asked_for_by_a_pod_of_its_own_and_the_server_for_itself() -> None:
    """The first by name, where it has several."""
    everybody = [
        pod("kueue-controller-manager-b"),
        pod("kueue-controller-manager-a"),
        pod("yunikorn-scheduler-0"),
        pod("web"),
    ]
    own = scheduler_pods(everybody)
    assert {name: one.name for name, one in own.items()} == {
        "Kueue": "kueue-controller-manager-a",
        "YuniKorn": "yunikorn-scheduler-0",
    }
    server = Server(
        **{
            "kueue-controller-manager-a": pods_of("kueue:v0.19.2"),
            "yunikorn-scheduler-0": pods_of("apache/yunikorn:scheduler-1.7.0"),
            "version": {"gitVersion": "v1.36.3"},
        }
    )
    assert scheduler_versions(server, own) == {"Kueue": "v0.19.2", "YuniKorn": "1.7.0", "kube-scheduler": "v1.36.3"}  # type: ignore[arg-type]


def test_what_does_not_answer_is_not_known() -> None:
    """And nothing else suffers by it."""
    assert scheduler_versions(Server(), scheduler_pods([pod("yunikorn-scheduler-0")])) == {}  # type: ignore[arg-type]
