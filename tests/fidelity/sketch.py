"""A case in short, with what the real kube-scheduler said of it."""

import json
from collections.abc import Iterator
from typing import Any

Manifest = dict[str, Any]
NOTED = ("nominatedNodeName", "containerStatuses", "initContainerStatuses", "resources", "allocatedResources")
TOLD = ("spec", "status", "volumeBindingMode", "allowedTopologies")
DULL = {
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "priorityClassName",
    "containers",
    "initContainers",
    "priority",
    "nodeName",
}


def sketch(case: Manifest, recorded: Manifest) -> Iterator[str]:
    """Lines: nodes with their pods, what waits, other objects, and what the scheduler does and why."""
    by_kind: dict[str, list[Manifest]] = {}
    for one in case["objects"]:
        by_kind.setdefault(one["kind"], []).append(one)
    pods = by_kind.pop("Pod", [])
    for node in sorted(by_kind.pop("Node", []), key=_name):
        spec, status = node["spec"], node["status"]
        yield f"{_name(node)} {_flat(status['allocatable'])} {_flat(node['metadata'].get('labels'))} {_flat(spec)}"
        yield from (f"    {_pod(pod)}" for pod in pods if pod["spec"].get("nodeName") == _name(node))
    yield from (f"waiting {_pod(pod)}" for pod in pods if "nodeName" not in pod["spec"])
    for kind, objects in by_kind.items():
        if kind not in ("Namespace", "PriorityClass", "RuntimeClass"):
            for one in objects:
                yield f"{kind} {_name(one)} {_flat({k: v for k, v in one.items() if k in TOLD})}"
    why = recorded.pop("why", {})
    yield f"recorded: {json.dumps(recorded)}"
    for node, refusal in sorted(why.items()):
        then = f"; without its victims {refusal['dry_run']}" if "dry_run" in refusal else ""
        yield f"  {node}: {refusal.get('plugin')} {refusal['code']} {refusal['reasons']}{then}"


def _name(one: Manifest) -> str:
    metadata = one["metadata"]
    return "/".join(metadata[part] for part in ("namespace", "name") if part in metadata)


def _pod(pod: Manifest) -> str:
    spec, status, metadata = pod["spec"], pod["status"], pod["metadata"]
    asked = [c["resources"].get("requests", {}) for c in spec["containers"]]
    first = [(c.get("restartPolicy", ""), c["resources"].get("requests", {})) for c in spec.get("initContainers", [])]
    ports = [p for c in (*spec["containers"], *spec.get("initContainers", [])) for p in c.get("ports", [])]
    rest = {k: v for k, v in spec.items() if k not in DULL and v not in ("default-scheduler", "PreemptLowerPriority")}
    notes = {k: status[k] for k in NOTED if k in status}
    conditions = [c for c in status.get("conditions", []) if c["type"] not in ("PodScheduled", "Ready")]
    if "deletionTimestamp" in metadata:
        notes["leaving"] = True
    parts = [_name(pod), str(spec["priority"]), status["phase"], str(status.get("startTime")), _flat(asked)]
    extras = {"init": first, "ports": ports, "labels": metadata.get("labels"), "conditions": conditions} | rest | notes
    return " ".join([*parts, _flat({k: v for k, v in extras.items() if v})])


def _flat(value: Any) -> str:
    return json.dumps(value, separators=(",", ":")).replace('"', "")
