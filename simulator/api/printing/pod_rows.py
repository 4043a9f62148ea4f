"""Formats a pod's row in a table: how many containers are ready, and its status in one word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulator.objects import Object


def pod_cells(pod: Object, age: str) -> list[Any]:
    """Return the cells of a pod's row."""
    spec, status = pod["spec"], pod.get("status") or {}
    statuses = status.get("containerStatuses") or []
    ready = sum(1 for item in statuses if item.get("ready"))
    return [
        pod["metadata"]["name"],
        f"{ready}/{len(spec['containers'])}",
        pod_status(pod),
        str(sum(item.get("restartCount", 0) for item in statuses)),
        age,
        status.get("podIP") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        _gates(pod),
    ]


def pod_status(pod: Object) -> str:
    """Return the word that kubectl shows for a pod: its phase, or a more specific reason."""
    status = pod.get("status") or {}
    word: str = status.get("reason") or status.get("phase") or "Unknown"
    conditions = {item["type"]: item for item in status.get("conditions") or ()}
    if conditions.get("PodScheduled", {}).get("reason") == "SchedulingGated":
        word = "SchedulingGated"
    states = [item.get("state") or {} for item in status.get("containerStatuses") or ()]
    for state in reversed(states):
        word = _state_word(state) or word
    running = any(state.get("running") for state in states)
    if word == "Completed" and running:
        word = "Running" if conditions.get("Ready", {}).get("status") == "True" else "NotReady"
    if "deletionTimestamp" in pod["metadata"]:
        if status.get("reason") == "NodeLost":
            return "Unknown"
        if status.get("phase") not in ("Succeeded", "Failed"):
            return "Terminating"
    return word


def _state_word(state: Object) -> str | None:
    if (state.get("waiting") or {}).get("reason"):
        return str(state["waiting"]["reason"])
    ended = state.get("terminated")
    if not ended:
        return None
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _gates(pod: Object) -> str:
    gates = pod["spec"].get("readinessGates") or []
    if not gates:
        return "<none>"
    conditions = (pod.get("status") or {}).get("conditions") or ()
    true = {item["type"] for item in conditions if item.get("status") == "True"}
    return f"{sum(gate['conditionType'] in true for gate in gates)}/{len(gates)}"
