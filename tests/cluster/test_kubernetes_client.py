"""The official Kubernetes client sends its requests over our connections, with what these promise."""

from datetime import UTC, datetime

import pytest
from kubernetes.client import CoordinationV1Api, CoreV1Api, V1Lease, V1LeaseSpec, V1ObjectMeta

from engine.cluster.connecting.connection import MERGE_PATCH
from engine.cluster.connecting.kubernetes_client import KubernetesClient
from engine.cluster.errors import ApiFailure, ConnectionFailure
from tests.cluster.doubles import Answer, Asked, scripted


def lease(renewed: datetime | None = None) -> V1Lease:
    """A lease as it is written."""
    return V1Lease(metadata=V1ObjectMeta(name="a"), spec=V1LeaseSpec(renew_time=renewed))


def echo(asked: Asked, answer: Answer) -> None:
    """Answer with what was sent, as an API server does."""
    answer.json(200, asked.body)


def test_paths_queries_and_media_types_are_the_clients():
    """A patch goes where the client says, with the type that was asked for."""
    with scripted(echo) as server:
        api = CoreV1Api(KubernetesClient(server.connection(token="t")))
        api.patch_node("n/1", {"spec": {}}, field_manager="us", _content_type=MERGE_PATCH, _preload_content=False)
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.query) == ("PATCH", "/api/v1/nodes/n%2F1", {"fieldManager": "us"})
    assert (asked.headers["Content-Type"], asked.headers["Authorization"]) == (MERGE_PATCH, "Bearer t")
    assert asked.headers["User-Agent"] == "scheduler-admin"


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_write_is_never_sent_twice(code: int):
    """A lease that is renewed again after its hold would be held by two."""
    with scripted(lambda _asked, answer: answer.status(code, "", "no")) as server:
        api = CoordinationV1Api(KubernetesClient(server.connection()))
        with pytest.raises(ApiFailure, match="no"):
            api.replace_namespaced_lease("a", "b", lease())
    assert len(server.asked) == 1


def test_a_write_whose_answer_is_cut_off_is_never_sent_twice():
    """Whether it took effect is unknown, and that is what is said."""
    with scripted(lambda _asked, answer: answer.cut()) as server:
        api = CoordinationV1Api(KubernetesClient(server.connection()))
        with pytest.raises(ConnectionFailure):
            api.replace_namespaced_lease("a", "b", lease())
    assert len(server.asked) == 1


def test_the_deadline_is_for_the_whole_answer():
    """An answer that never comes ends the wait."""
    with scripted(lambda _asked, answer: answer.hang()) as server:
        api = CoreV1Api(KubernetesClient(server.connection()))
        with pytest.raises(ConnectionFailure) as error:
            api.read_node("a", _request_timeout=0.2)
    assert error.value.timed_out


@pytest.mark.parametrize("body", [[1], "text", {"spec": []}, {"spec": {"leaseTransitions": "many"}}, {"metadata": 1}])
def test_an_answer_that_is_not_the_object_is_no_answer(body: object):
    """As from a proxy, or something that is no API server."""
    with scripted(lambda _asked, answer: answer.json(200, body)) as server:
        api = CoordinationV1Api(KubernetesClient(server.connection()))
        with pytest.raises(ConnectionFailure, match="can't be read"):
            api.read_namespaced_lease("a", "b")


def test_times_always_have_six_digits_after_the_second():
    """The API server refuses a MicroTime without them, which one of a million times has not."""
    with scripted(echo) as server:
        api = CoordinationV1Api(KubernetesClient(server.connection()))
        api.create_namespaced_lease("b", lease(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)))
    assert server.asked[0].body["spec"]["renewTime"] == "2026-01-02T03:04:05.000000Z"


def test_a_lease_is_written_back_as_it_was_read():
    """Also the fields that nobody needs here."""
    stored = {
        "metadata": {"name": "a", "labels": {"b": "c"}, "ownerReferences": [], "finalizers": ["d"]},
        "spec": {"strategy": "OldestEmulationVersion", "renewTime": "2026-01-02T03:04:05.000007Z"},
    }
    with scripted(lambda asked, answer: answer.json(200, asked.body or stored)) as server:
        api = CoordinationV1Api(KubernetesClient(server.connection()))
        api.replace_namespaced_lease("a", "b", api.read_namespaced_lease("a", "b"))
    assert server.asked[1].body == stored
