"""Where a pod of a wild case is in its life: waiting, running, resized, leaving, finished."""

from tests.fidelity.world import DAY, Manifest, World, before

REASONS = ["PreemptionByScheduler", "PreemptionByScheduler", "EvictionByEvictionAPI", "TerminationByKubelet"]
STARTS = [3600, 7200]
"""Seconds ago that several pods started at once."""


def pending(world: World, pod: Manifest) -> None:
    """The pod waits, and a scheduler has tried it."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": before(60)}
    pod["status"] = {"phase": "Pending", "conditions": [condition], "qosClass": "Burstable"}


def bound(world: World, pod: Manifest, node: str) -> None:
    """The pod is on the node, mostly running."""
    pod["spec"]["nodeName"] = node
    at = before(world.pick(STARTS) if world.has("start-ties", 0.85) else world.rng.randint(600, DAY))
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": at} for kind in ("PodScheduled", "Ready")]
    status: Manifest = {"phase": "Running", "startTime": at, "conditions": conditions, "qosClass": "Burstable"}
    pod["status"] = status
    if world.has("not-started", 0.2):
        status |= {"phase": "Pending", "conditions": conditions[:1]}
        del status["startTime"]
    elif world.has("finished-pods", 0.2):
        status["phase"] = world.pick(["Succeeded", "Failed"])
    elif world.has("in-place-resize", 0.4):
        _resize(world, pod)
    if world.has("terminating", 0.25):
        _terminate(world, pod)
    if world.has("other-scheduler", 0.15):
        pod["spec"]["schedulerName"] = "other-scheduler"


def _terminate(world: World, pod: Manifest) -> None:
    grace = world.pick([30, 600])
    pod["metadata"]["deletionTimestamp"] = before(-grace)
    pod["metadata"]["deletionGracePeriodSeconds"] = grace
    if world.chance(0.8):
        status = "True" if world.chance(0.85) else "False"
        condition = {
            "type": "DisruptionTarget",
            "status": status,
            "reason": world.pick(REASONS),
            "lastTransitionTime": before(5),
        }
        pod["status"]["conditions"].append(condition)


def _resize(world: World, pod: Manifest) -> None:
    """The kubelet has given the containers more or less than the spec now wants, and may find that it never can."""
    statuses = [_actual(world, c) for c in pod["spec"]["containers"]]
    pod["status"]["containerStatuses"] = statuses
    sidecars = [c for c in pod["spec"].get("initContainers", []) if c.get("restartPolicy") == "Always"]
    if sidecars:
        pod["status"]["initContainerStatuses"] = [_actual(world, c) for c in sidecars]
    if "resources" in pod["spec"] and world.chance(0.5):
        level = {name: _scaled(world, quantity) for name, quantity in pod["spec"]["resources"]["requests"].items()}
        pod["status"]["resources"] = {"requests": level}
        if world.chance(0.7):
            pod["status"]["allocatedResources"] = {name: _scaled(world, quantity) for name, quantity in level.items()}
    kind, reason = world.pick(
        [("PodResizePending", "Deferred"), ("PodResizePending", "Infeasible"), ("PodResizeInProgress", ""), ("", "")]
    )
    if kind:
        condition = {"type": kind, "status": "True", "lastTransitionTime": before(30)}
        pod["status"]["conditions"].append(condition | ({"reason": reason} if reason else {}))


def _actual(world: World, container: Manifest) -> Manifest:
    status: Manifest = {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": True,
        "restartCount": 0,
    }
    requests = container["resources"].get("requests", {})
    if not requests or world.chance(0.15):
        return status
    actual = {name: _scaled(world, quantity) for name, quantity in requests.items()}
    status["resources"] = {"requests": actual}
    if world.chance(0.8):
        status["allocatedResources"] = {name: _scaled(world, quantity) for name, quantity in requests.items()}
    return status


def _scaled(world: World, quantity: str) -> str:
    """The same, half, or half as much again; things that are counted stay."""
    digits = quantity.rstrip("mMGi")
    if digits == quantity:
        return quantity
    return str(int(digits) * world.pick([2, 2, 1, 3]) // 2) + quantity[len(digits) :]
