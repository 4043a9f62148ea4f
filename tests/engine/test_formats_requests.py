"""What a pod asks for, of all that its containers do."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.formats.kubernetes.decode import decode_pod
from tests.engine.kubernetes_objects import container, pod


def requests(**spec: Any) -> dict[str, int]:
    found = decode_pod(pod(spec)).requests
    assert found["pods"] == 1
    return {resource: amount for resource, amount in found.items() if resource != "pods"}


def test_containers_are_summed_and_the_largest_init_container_counts():
    """Init containers run one after the other, before the others."""
    got = requests(
        containers=[container({"cpu": "500m", "memory": "1Gi"}), container({"cpu": "250m"})],
        initContainers=[container({"cpu": "1"}), container({"memory": "2Gi", "nvidia.com/gpu": "1"})],
        overhead={"cpu": "10m"},
    )
    assert got == {"cpu": 1010, "memory": 2 * 2**30, "nvidia.com/gpu": 1}


def test_sidecars_count_with_the_containers_and_with_init_containers_after_them():
    """A sidecar goes on running: beside the containers, and beside each init container that starts after it."""
    sidecar = container({"cpu": "2"}, restartPolicy="Always")
    assert requests(containers=[container({"cpu": "1"})], initContainers=[sidecar]) == {"cpu": 3000}
    before = requests(containers=[container({"cpu": "1"})], initContainers=[container({"cpu": "3"}), sidecar])
    after = requests(containers=[container({"cpu": "1"})], initContainers=[sidecar, container({"cpu": "3"})])
    assert (before, after) == ({"cpu": 3000}, {"cpu": 5000})


def test_the_pods_own_requests_replace_the_sum_resource_by_resource():
    """Pod-level resources override what they name, and only cpu, memory and hugepages; overhead still comes on top."""
    got = requests(
        containers=[container({"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"})],
        resources={
            "requests": {"cpu": "4", "nvidia.com/gpu": "9"},
            "limits": {"memory": "8Gi", "hugepages-2Mi": "4Mi"},
        },
        overhead={"cpu": "1"},
    )
    assert got == {"cpu": 5000, "memory": 2**30, "nvidia.com/gpu": 1, "hugepages-2Mi": 4 * 2**20}


def test_a_limit_without_a_request_is_the_request():
    """As the API server fills in."""
    assert requests(containers=[container({"cpu": "1"}, {"cpu": "2", "memory": "1Ki"})]) == {
        "cpu": 1000,
        "memory": 1024,
    }


def test_nothing_asks_for_less_than_nothing():
    """An API server refuses negative amounts; in a file of manifests they would free what others hold."""
    assert requests(containers=[container({"cpu": "-1"})], overhead={"cpu": "-1", "gpu": "-2"}) == {"cpu": 0, "gpu": 0}


CPU = st.integers(0, 9).map(lambda cores: {"cpu": f"{cores}"})


@given(containers=st.lists(CPU, max_size=4), inits=st.lists(st.tuples(CPU, st.booleans()), max_size=5), overhead=CPU)
def test_a_pod_asks_for_the_most_it_ever_needs_at_once(containers, inits, overhead):
    """The sum equals the highest moment of the pod's life, played through step by step."""
    cores = lambda amounts: int(amounts["cpu"])  # noqa: E731 - short for this test
    moments, sidecars = [0], 0
    for amounts, sidecar in inits:
        moments.append(sidecars + cores(amounts))
        sidecars += cores(amounts) if sidecar else 0
    moments.append(sidecars + sum(map(cores, containers)))
    spec = {
        "containers": [container(one) for one in containers],
        "initContainers": [container(one, restartPolicy="Always" if sidecar else None) for one, sidecar in inits],
        "overhead": overhead,
    }
    assert requests(**spec).get("cpu", 0) == 1000 * (max(moments) + cores(overhead))
