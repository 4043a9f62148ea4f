"""What pods say alike is made once: it saves memory and time, and nobody can tell."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats.kubernetes import convert, interning, pod_json, pod_requests
from engine.formats.kubernetes.decode import POD_READER, DecodeError, decode_pod

SIZES = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), st.sampled_from(["1", "500m", "2", 2, 2.0, "1Gi", "much"])
)
CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"resources": st.fixed_dictionaries({}, optional={"requests": SIZES, "limits": SIZES})},
        optional={
            "restartPolicy": st.sampled_from(["Always", "Never"]),
            "ports": st.lists(st.sampled_from([{"containerPort": 80}, {"containerPort": 80, "hostPort": 81}])),
        },
    ),
    max_size=2,
)
TERMS = st.lists(
    st.just({})
    | st.sampled_from(["In", "Exists"]).map(lambda op: {"matchExpressions": [{"key": "k", "operator": op}]}),
    max_size=2,
)
RULE = "requiredDuringSchedulingIgnoredDuringExecution"
SPEC_PARTS = {
    "containers": CONTAINERS,
    "initContainers": CONTAINERS,
    "overhead": SIZES,
    "resources": st.fixed_dictionaries({"requests": SIZES}),
    "hostNetwork": st.booleans(),
    "tolerations": st.lists(st.sampled_from([{"key": "a"}, {"operator": "Exists"}, {}])),
    "nodeSelector": st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy")),
    "affinity": TERMS.map(lambda terms: {"nodeAffinity": {RULE: {"nodeSelectorTerms": terms}}}),
    "volumes": st.lists(st.sampled_from([{"ephemeral": {}}, {"emptyDir": {}}])),
}
SPECS = st.fixed_dictionaries({}, optional=SPEC_PARTS)
MEMORIES = [one for module in (interning, convert, pod_json, pod_requests) for one in vars(module).values()]


def forget() -> None:
    """Begin with nothing remembered."""
    for one in MEMORIES:
        if hasattr(one, "cache_clear"):
            one.cache_clear()


def read(spec: Any) -> Any:
    """The pod, or why it can't be read."""
    try:
        return decode_pod({"metadata": {"name": "p", "labels": {"app": "a"}}, "spec": spec})
    except DecodeError as error:
        return error.sentence


@given(st.lists(SPECS, min_size=1, max_size=6))
def test_what_was_read_before_changes_nothing(specs: list[Any]) -> None:
    """A pod is read alike as the first of its kind and after any others."""
    want = []
    for spec in specs:
        forget()
        want.append(read(spec))
    assert [read(spec) for spec in specs] == want


def _pod(name: str, **more: Any) -> bytes:
    spec = {
        "containers": [{"resources": {"requests": {"cpu": "1"}}}],
        "tolerations": [{"operator": "Exists"}],
        "nodeSelector": {"disk": "ssd"},
        **more,
    }
    return json.dumps({"metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec}).encode()


@pytest.mark.parametrize("part", ["requests", "labels", "tolerations", "node_selector"])
def test_pods_of_one_workload_share_what_they_have_in_common(part: str) -> None:
    """A hundred thousand pods hold a few hundred mappings."""
    one, other = POD_READER.from_bytes(_pod("web-1")), POD_READER.from_bytes(_pod("web-2"))
    assert getattr(one, part) is getattr(other, part)
