"""Pods of wild cases: what they ask for, how much they matter, where they are in their life."""

from dataclasses import dataclass

from tests.fidelity.lives import bound, pending
from tests.fidelity.placement import place, ports
from tests.fidelity.volumes import add_volumes
from tests.fidelity.world import NAMESPACES, Manifest, World

MIB = 2**20
UNITS = {"Gi": 1024, "Mi": 1}
IMAGE = "registry.example/app:1"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A priority class as a pod gets it, None for pods of no class."""

    name: str | None
    value: int
    policy: str


def add_classes(world: World) -> list[Kind]:
    """The case's priority classes, the least first."""
    values = {0, *world.rng.sample([5, 10, 20, 50, 100, 1000], world.rng.randint(1, 3))}
    if world.has("negative"):
        values |= {-10, -1000}
    kinds = [Kind(name=None, value=0, policy="PreemptLowerPriority")]
    for value in sorted(values - {0}):
        policy = "Never" if world.has("victim-never", 0.4) else "PreemptLowerPriority"
        kinds.append(_class(world, f"p{value}".replace("-", "minus-"), value, policy))
    if world.has("system-critical"):
        kinds.append(_class(world, "system-cluster-critical", 2_000_000_000, "PreemptLowerPriority"))
        kinds.append(_class(world, "system-node-critical", 2_000_001_000, "PreemptLowerPriority"))
    return sorted(kinds, key=lambda kind: kind.value)


def _class(world: World, name: str, value: int, policy: str) -> Kind:
    world.add(
        "PriorityClass",
        "scheduling.k8s.io/v1",
        world.metadata(name),
        value=value,
        globalDefault=False,
        preemptionPolicy=policy,
    )
    return Kind(name=name, value=value, policy=policy)


def fill(world: World, node: Manifest, kinds: list[Kind], most: int) -> None:
    """Put pods on the node until its cpu is nearly used, or there are ``most``."""
    room = node["status"]["allocatable"]
    cpu = int(room["cpu"]) * 1000
    level = (world.rng.uniform(0.2, 0.6) if world.roomy else world.rng.uniform(0.75, 1.0)) * cpu
    taken: list[tuple[str, str, int]] = []
    used = 0
    for _ in range(min(most, int(room["pods"]))):
        if used >= level:
            break
        asked = min(_size(world, cpu), cpu - used)
        if asked <= 0:
            break
        name = f"p{len(world.pods) + 1}"
        pod = _pod(world, name, _weak(world, kinds), asked, node)
        if world.has("host-ports", 0.5):
            _host_ports(world, pod, taken)
        place(world, pod, asks=False)
        bound(world, pod, node["metadata"]["name"])
        if pod["status"]["phase"] == "Running":
            used += asked
        world.pods.append(pod)


def _size(world: World, cpu: int) -> int:
    """Of a node's cpu; with ties in their start pods are mostly alike in size too."""
    if world.has("start-ties", 0.8):
        return 500
    return world.rng.randint(1, max(2, cpu // 300)) * 100 + world.pick([0, 0, 1, 50])


def _weak(world: World, kinds: list[Kind]) -> Kind:
    """Mostly one of the lesser classes."""
    return min(world.pick(kinds), world.pick(kinds), key=lambda kind: kind.value)


def add_asker(world: World, kinds: list[Kind]) -> Manifest:
    """The ask: mostly of a high class, and about as large as some node's half."""
    kind = max((world.pick(kinds) for _ in range(5)), key=lambda kind: kind.value)
    node = world.pick(world.nodes)
    cpu = int(node["status"]["allocatable"]["cpu"]) * 1000
    pod = _pod(
        world,
        "asker",
        kind,
        world.rng.randint(*((1, 3) if world.roomy else (3, 8))) * cpu // 10,
        node,
        "default" if world.chance(0.7) else None,
    )
    if world.has("asker-never"):
        pod["spec"]["preemptionPolicy"] = "Never"
    if world.has("host-ports", 0.85):
        _host_ports(world, pod, [])
    place(world, pod, asks=True)
    if world.has("volumes", 0.9):
        add_volumes(world, pod)
    pending(world, pod)
    world.pods.append(pod)
    if world.has("asker-nominated", 0.9):
        pod["status"]["nominatedNodeName"] = _nomination(world)
    return pod


def add_waiting(world: World, kinds: list[Kind], asker: Manifest) -> None:
    """Pods that wait like the asker, nominated to nodes, of less, the same and more priority."""
    for _ in range(world.rng.randint(1, 4)):
        kind = world.pick([*kinds, _kind_of(asker)])
        cpu = world.rng.randint(1, 20) * 100
        pod = _pod(world, f"p{len(world.pods) + 1}", kind, cpu, world.pick(world.nodes))
        if world.has("host-ports", 0.5):
            _host_ports(world, pod, [])
        place(world, pod, asks=False)
        pending(world, pod)
        pod["status"]["nominatedNodeName"] = _nomination(world)
        if world.has("other-scheduler", 0.5):
            pod["spec"]["schedulerName"] = "other-scheduler"
        elif world.has("gated", 0.5):
            pod["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
        world.pods.append(pod)


def _nomination(world: World) -> str:
    return "gone" if world.chance(0.08) else str(world.pick(world.nodes)["metadata"]["name"])


def _kind_of(pod: Manifest) -> Kind:
    spec = pod["spec"]
    return Kind(name=spec.get("priorityClassName"), value=spec["priority"], policy="PreemptLowerPriority")


def _pod(world: World, name: str, kind: Kind, cpu: int, node: Manifest, namespace: str | None = None) -> Manifest:
    """A pod that asks for so many thousandths of cpu, and for other things of which the node has some."""
    where = namespace or world.pick(["default", "default", *NAMESPACES])
    labels = world.labels()
    pod = world.add("Pod", "v1", world.metadata(name, where, **({"labels": labels} if labels else {})))
    memory = world.rng.randint(1, max(2, amount(node["status"]["allocatable"]["memory"]) // MIB // 256)) * 64
    best_effort = world.has("best-effort", 0.3)
    asked = {} if best_effort else {"cpu": f"{cpu}m", "memory": f"{memory}Mi"} | _more(world, node)
    pod["spec"] = {
        "containers": _containers(world, asked),
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
        "preemptionPolicy": kind.policy,
        "priority": kind.value,
    }
    if kind.name:
        pod["spec"]["priorityClassName"] = kind.name
    if not best_effort:
        _extend(world, pod, cpu, memory)
    return pod


def _more(world: World, node: Manifest) -> dict[str, str]:
    """Requests of scarce things, which must have a limit as large."""
    room, asked = node["status"]["allocatable"], {}
    if world.has("ephemeral-storage", 0.5):
        asked["ephemeral-storage"] = f"{world.rng.randint(1, 8)}Gi"
    if "nvidia.com/gpu" in room and world.has("extended-resource", 0.4):
        asked["nvidia.com/gpu"] = str(world.rng.randint(1, 2))
    if "hugepages-2Mi" in room and world.has("hugepages", 0.4):
        asked["hugepages-2Mi"] = f"{world.pick([16, 32, 64])}Mi"
    return asked


def _containers(world: World, asked: dict[str, str]) -> list[Manifest]:
    """One container with all of it, or several that share cpu and memory."""
    if not asked or "hugepages-2Mi" in asked or not world.has("several-containers", 0.5):
        return [container("main", asked)]
    count = world.rng.randint(2, 3)
    shares = [
        {name: _share(quantity, count) for name, quantity in asked.items() if name in ("cpu", "memory")}
        for _ in range(count)
    ]
    shares[0] |= {name: quantity for name, quantity in asked.items() if name not in ("cpu", "memory")}
    if world.chance(0.2):
        shares[-1] = {}
    return [container(f"c{i}", share) for i, share in enumerate(shares)]


def _share(quantity: str, count: int) -> str:
    digits = quantity.rstrip("mMi")
    return str(int(digits) // count) + quantity[len(digits) :]


def container(name: str, asked: dict[str, str]) -> Manifest:
    """A container that requests so much; what can't be overcommitted has its limit too."""
    limits = {
        resource: quantity
        for resource, quantity in asked.items()
        if "/" in resource or resource.startswith("hugepages")
    }
    resources: Manifest = {}
    if asked:
        resources["requests"] = asked
    if limits:
        resources["limits"] = limits
    return {"name": name, "image": IMAGE, "resources": resources}


def _extend(world: World, pod: Manifest, cpu: int, memory: int) -> None:
    spec = pod["spec"]
    first: list[Manifest] = []
    if world.has("sidecars", 0.4):
        asked = {"cpu": f"{world.rng.randint(1, 4) * 50}m", "memory": "64Mi"}
        first.append(container("sidecar", asked) | {"restartPolicy": "Always"})
    if world.has("init-containers", 0.4):
        more = {"cpu": f"{cpu * world.rng.randint(2, 8) // 4}m", "memory": f"{memory * world.rng.randint(2, 8) // 4}Mi"}
        first.insert(world.rng.randint(0, len(first)), container("init", more))
    if first:
        spec["initContainers"] = first
    if world.has("overhead", 0.4):
        spec["overhead"] = {"cpu": "150m", "memory": "120Mi"}
        spec["runtimeClassName"] = "sandboxed"
    if world.has("pod-level-resources", 0.4) and not any(
        "hugepages-2Mi" in c["resources"].get("requests", {}) for c in spec["containers"]
    ):
        _pod_level(world, spec)


def _pod_level(world: World, spec: Manifest) -> None:
    """The pod's own requests, at least what its containers ask for together, as the API server demands."""
    requests: Manifest = {}
    for resource, unit, step in (("cpu", "m", 250), ("memory", "Mi", 128)):
        together = sum(amount(c["resources"].get("requests", {}).get(resource, "0")) for c in spec["containers"])
        beside = [amount(c["resources"]["requests"][resource]) for c in spec.get("initContainers", [])]
        least = together + sum(beside)
        least = least if resource == "cpu" else least // MIB
        if world.chance(0.75) or not requests:
            requests[resource] = f"{least + world.rng.randint(0, 3) * step}{unit}"
    spec["resources"] = {"requests": requests}


def amount(quantity: str) -> int:
    """Thousandths of cpu (``m``), bytes (``Mi``, ``Gi``), or a count."""
    for unit, factor in UNITS.items():
        if quantity.endswith(unit):
            return int(quantity.removesuffix(unit)) * factor * MIB
    return int(quantity.removesuffix("m"))


def _host_ports(world: World, pod: Manifest, taken: list[tuple[str, str, int]]) -> None:
    if not (made := ports(world, taken)):
        return
    spec = pod["spec"]
    sidecars = [c for c in spec.get("initContainers", []) if c.get("restartPolicy") == "Always"]
    world.pick([spec["containers"][0], *sidecars])["ports"] = made
    if world.chance(0.15) and not any("hostIP" in port for port in made):
        spec["hostNetwork"] = True
