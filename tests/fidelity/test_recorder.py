"""The recorder says of every recorded case what was recorded, so that what it says of new ones can be believed."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.fidelity.recorded import recorded_cases
from tests.fidelity.recorder import RecorderError, refused

Manifest = dict[str, Any]
Record = Callable[..., list[Manifest]]

pytestmark = pytest.mark.controlplane


@pytest.fixture(scope="module")
def cases() -> list[Manifest]:
    return recorded_cases()


def differing(cases: list[Manifest], answers: list[Manifest]) -> Iterator[Manifest]:
    for case, answer in zip(cases, answers, strict=True):
        expected = {field: value for field, value in case["expect"].items() if field != "runs"}
        if {field: answer.get(field) for field in expected} != expected or answer.get("open"):
            yield case


def nominates(case: Manifest) -> bool:
    """Whether a pod beside the asker is nominated to a node."""
    pods = (one for one in case["objects"] if one["kind"] == "Pod" and "nodeName" not in one["spec"])
    waiting = (pod for pod in pods if pod["status"].get("nominatedNodeName"))
    return any(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" != case["asker"] for pod in waiting)


def test_every_recorded_answer_is_given_again(cases: list[Manifest], record: Record) -> None:
    """Outcome, choices, what would go on each node with all its alternatives, where it fits, and the message."""
    assert [case["name"] for case in differing(cases, record(cases, unqueued=True))] == []
    assert len(cases) == 688


def test_the_recordings_know_no_requests_of_nominated_pods(cases: list[Manifest], record: Record) -> None:
    """Which in a real scheduler wait in its queue: where they do, just the cases with some differ, and few of them."""
    changed = list(differing(cases, record(cases)))

    assert changed
    assert all(nominates(case) for case in changed)


def test_a_case_without_its_asker_is_refused(cases: list[Manifest], record: Record) -> None:
    with pytest.raises(RecorderError, match="no pending pod"):
        record([cases[0] | {"asker": "default/nobody"}])


def test_an_object_that_cannot_be_read_is_named(cases: list[Manifest], record: Record) -> None:
    with pytest.raises(RecorderError, match="object 0"):
        record([cases[0] | {"objects": [{"kind": "Pod"}]}])


def test_what_an_api_server_would_refuse_is_said(cases: list[Manifest], record: object) -> None:
    nameless = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "Not a name"}}
    (wrong,) = refused([cases[0] | {"objects": [nameless]}])

    assert "Node: metadata.name" in wrong[0]
