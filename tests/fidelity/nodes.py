"""Nodes of wild cases: their room, labels, taints and conditions."""

from typing import Any

from tests.fidelity.world import HOSTNAME, ZONE, ZONES, Manifest, World, before

TAINTS = [("dedicated", "batch"), ("dedicated", "web"), ("gpu", "true"), ("maintenance", "")]
EFFECTS = ["NoSchedule", "NoExecute", "PreferNoSchedule"]


def add_nodes(world: World, count: int) -> None:
    for number in range(1, count + 1):
        world.nodes.append(_node(world, f"n{number}"))


def _node(world: World, name: str) -> Manifest:
    allocatable = _room(world)
    labels = _labels(world, name)
    metadata = world.metadata(name, labels=labels)
    spec, ready = _spec_and_readiness(world)
    condition = {"type": "Ready", "status": ready, "reason": "KubeletReady", "lastTransitionTime": before(3000)}
    capacity = allocatable | {"cpu": str(int(allocatable["cpu"]) + 1)}
    status = {"capacity": capacity, "allocatable": allocatable, "conditions": [condition]}
    return world.add("Node", "v1", metadata, spec=spec, status=status)


def _room(world: World) -> dict[str, str]:
    cpu = world.pick([2, 2, 3, 4, 4, 6, 8])
    pods = world.rng.randint(3, 9) if world.has("pod-limit", 0.7) else 110
    room = {"cpu": str(cpu), "memory": f"{cpu * world.pick([1, 2, 4])}Gi", "pods": str(pods)}
    if world.has("ephemeral-storage", 0.9):
        room["ephemeral-storage"] = f"{world.pick([10, 20, 40])}Gi"
    if world.has("extended-resource", 0.8):
        room["nvidia.com/gpu"] = str(world.pick([1, 2, 4, 8]))
    if world.has("hugepages", 0.8):
        room["hugepages-2Mi"] = f"{world.pick([64, 128, 256])}Mi"
    return room


def _labels(world: World, name: str) -> dict[str, str]:
    labels = {"kubernetes.io/os": "linux", "kubernetes.io/arch": world.pick(["amd64", "amd64", "arm64"])}
    if not world.has("missing-keys", 0.15):
        labels[HOSTNAME] = name
    if not world.has("missing-keys", 0.25):
        labels[ZONE] = world.pick(ZONES)
    if world.chance(0.8):
        labels["disk"] = world.pick(["ssd", "hdd"])
    if world.chance(0.8):
        labels["generation"] = world.pick(["3", "7", "12", "0", "new"])
    return labels


def _spec_and_readiness(world: World) -> tuple[Manifest, str]:
    """The spec, and the status of condition Ready, with the taints that the node controllers would have put."""
    spec: Manifest = {}
    taints: list[Manifest] = []
    ready = "True"
    if world.has("taints", 0.4):
        chosen = {(key, world.pick(EFFECTS)): value for key, value in world.some(TAINTS)[: world.rng.randint(1, 3)]}
        taints += [_taint(key, value, effect) for (key, effect), value in chosen.items()]
    if world.has("unschedulable", 0.3):
        spec["unschedulable"] = True
        if world.chance(0.8):  # the node controller hasn't come round yet otherwise
            taints.append(_taint("node.kubernetes.io/unschedulable", "", "NoSchedule"))
    if world.has("not-ready", 0.35):
        ready = world.pick(["False", "Unknown"])
        key = "node.kubernetes.io/" + ("not-ready" if ready == "False" else "unreachable")
        taints += [_taint(key, "", effect) for effect in world.pick([(), ("NoSchedule",), ("NoSchedule", "NoExecute")])]
    elif world.has("not-ready", 0.15):
        taints.append(_taint("node.kubernetes.io/memory-pressure", "", "NoSchedule"))
    if taints:
        spec["taints"] = taints
    return spec, ready


def _taint(key: str, value: str, effect: str) -> Manifest:
    made: dict[str, Any] = {"key": key, "effect": effect}
    if value:
        made["value"] = value
    if effect == "NoExecute":
        made["timeAdded"] = before(1800)
    return made
