"""Kubernetes objects as the API server sends them, in few words, and whatever else may come in their place."""

from typing import Any

from hypothesis import strategies as st

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod(spec: Any = None, status: Any = None, **meta: Any) -> dict[str, Any]:
    """Pod ``p`` of namespace ``a``; ``meta`` goes into its metadata."""
    return {"kind": "Pod", "metadata": {"name": "p", "namespace": "a", **meta}, "spec": spec, "status": status}


def container(requests: Any = None, limits: Any = None, **more: Any) -> dict[str, Any]:
    """Container ``c``."""
    return {"name": "c", "resources": {"requests": requests, "limits": limits}, **more}


def budget(selector: Any) -> dict[str, Any]:
    """A disruption budget that allows for two."""
    status = {"disruptionsAllowed": 2}
    return {"metadata": {"name": "b", "namespace": "a"}, "spec": {"selector": selector}, "status": status}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["1", "5m", "In"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = (
    "metadata spec status name containers resources requests cpu initContainers overhead affinity nodeAffinity "
    f"{REQUIRED} nodeSelectorTerms matchExpressions tolerations conditions creationTimestamp taints allocatable "
    "selector matchLabels ownerReferences value priority"
).split()
OBJECTS = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6)
)
