"""What a pod holds while it is resized in place."""

from typing import Any

import pytest

from engine.formats.kubernetes.decode import decode_pod
from tests.engine.kubernetes_objects import container, pod

PENDING = {"type": "PodResizePending", "status": "True"}


def holds(
    asks: Any, has: Any = None, set_aside: Any = None, *, node: str | None = "n1", conditions: Any = (), **spec: Any
) -> dict[str, int]:
    """Of a pod of one container, its resources as asked for, as the kubelet has made them and as it set them aside."""
    status = {"name": "c", "resources": {"requests": has} if has is not None else None, "allocatedResources": set_aside}
    one = pod(
        {"nodeName": node, "containers": [container(asks)], **spec},
        {"containerStatuses": [status], "conditions": list(conditions)},
    )
    return {name: amount for name, amount in decode_pod(one).requests.items() if name != "pods"}


@pytest.mark.parametrize(
    ("asks", "has", "set_aside", "want"),
    [
        ("2", "1", "1", 2000),
        ("1", "2", "2", 2000),
        ("1", "1", "3", 3000),
        ("1", "2", None, 2000),
        ("4", None, "9", 4000),
    ],
)
def test_it_holds_the_most_of_what_it_asks_for_has_and_was_set_aside(
    asks: str, has: str | None, set_aside: str | None, want: int
) -> None:
    """Growing, shrinking, and where the kubelet tells nothing of it."""
    given = [{"cpu": amount} if amount else None for amount in (asks, has, set_aside)]
    assert holds(*given) == {"cpu": want}


def test_each_resource_is_looked_at_by_itself() -> None:
    """One may grow while another shrinks."""
    assert holds({"cpu": "1", "memory": "4Gi"}, {"cpu": "2", "memory": "1Gi"}) == {"cpu": 2000, "memory": 4 * 2**30}


def test_what_its_node_will_never_have_room_for_is_not_held() -> None:
    """Infeasible; what only waits for room is held."""
    size = ({"cpu": "9"}, {"cpu": "1"}, {"cpu": "2"})
    assert holds(*size, conditions=[{**PENDING, "reason": "Infeasible"}]) == {"cpu": 2000}
    assert holds(*size, conditions=[{**PENDING, "reason": "Deferred"}]) == {"cpu": 9000}


def test_a_pod_without_a_node_holds_nothing_yet() -> None:
    """It asks for what it says."""
    assert holds({"cpu": "1"}, {"cpu": "2"}, node=None) == {"cpu": 1000}


def test_a_sidecar_may_be_resized_and_an_init_container_not() -> None:
    """What ran before the others is over."""
    statuses = [{"name": name, "resources": {"requests": {"cpu": "3"}}} for name in ("side", "first")]
    inits = [
        {**container({"cpu": "1"}), "name": "side", "restartPolicy": "Always"},
        {**container({"cpu": "1"}), "name": "first"},
    ]
    one = pod({"nodeName": "n1", "initContainers": inits}, {"initContainerStatuses": statuses})
    assert decode_pod(one).requests["cpu"] == 4000


def test_a_pods_own_requests_may_be_resized() -> None:
    """Those that it states; they still stand for all of its containers."""
    own = {"resources": {"requests": {"cpu": "4"}}}
    has = {"resources": {"requests": {"cpu": "6"}}, "allocatedResources": {"cpu": "5"}}
    asked = {"nodeName": "n1", "containers": [container({"cpu": "1", "memory": "1Gi"})], **own}
    one = {"name": "c", "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}
    found = decode_pod(pod(asked, {"containerStatuses": [one], **has})).requests
    assert (found["cpu"], found["memory"]) == (6000, 2 * 2**30)
    infeasible = {"conditions": [{**PENDING, "reason": "Infeasible"}], "resources": {"requests": {"cpu": "2"}}}
    assert decode_pod(pod(asked, {"containerStatuses": [one], **infeasible})).requests["cpu"] == 2000
