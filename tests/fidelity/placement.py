"""Where a pod of a wild case may go: node affinity, tolerations, inter-pod affinity, spread, host ports."""

from typing import Any

from tests.fidelity.nodes import EFFECTS, TAINTS
from tests.fidelity.world import HOSTNAME, LABELS, NAMESPACES, ZONE, ZONES, Manifest, World

NAMESPACE_SELECTORS: list[Manifest] = [
    {},
    {"matchLabels": {"env": "prod"}},
    {"matchExpressions": [{"key": "team", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
    {"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod"]}]},
]
KEYS = [HOSTNAME, ZONE, ZONE, "disk"]


def place(world: World, pod: Manifest, *, asks: bool) -> None:
    """Give the pod constraints: an ask most of those that the case has, a bound pod few (they only matter to it)."""
    spec, often = pod["spec"], 0.7 if asks else 0.15
    if world.has("node-selector", often):
        spec["nodeSelector"] = world.pick([{"disk": "ssd"}, {"kubernetes.io/arch": "amd64"}, {ZONE: world.pick(ZONES)}])
    if world.has("node-affinity", often * 0.7):
        _affinity(spec)["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": node_selector(world)}
    if tolerations := _tolerations(world, often):
        spec["tolerations"] = tolerations
    if world.has("pod-affinity", often * 0.6):
        _pod_affinity(world, pod, "podAffinity", world.rng.randint(1, 2))
    if world.has("pod-anti-affinity" if asks else "existing-anti-affinity", 0.8 if asks else 0.35):
        _pod_affinity(world, pod, "podAntiAffinity", world.rng.randint(1, 2))
    if world.has("preferred", 0.5):
        _prefer(world, pod)
    if world.has("topology-spread", often):
        spec["topologySpreadConstraints"] = _spread(world, pod)


def _affinity(spec: Manifest) -> Manifest:
    affinity: Manifest = spec.setdefault("affinity", {})
    return affinity


def node_selector(world: World) -> Manifest:
    """Several terms, ORed; now and then an empty one, which matches nothing."""
    terms = [_node_term(world) for _ in range(world.rng.randint(1, 3))]
    if world.chance(0.05):
        terms.append({})
    return {"nodeSelectorTerms": terms}


def _node_term(world: World) -> Manifest:
    term: Manifest = {}
    if world.chance(0.85):
        term["matchExpressions"] = [_requirement(world) for _ in range(world.rng.randint(1, 2))]
    if not term or world.chance(0.15):
        names = [node["metadata"]["name"] for node in world.nodes]
        operator = world.pick(["In", "In", "NotIn"])
        term["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": [world.pick(names)]}]
    return term


def _requirement(world: World) -> Manifest:
    operator = world.pick(["In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
    if operator in ("Gt", "Lt"):
        return {"key": "generation", "operator": operator, "values": [world.pick(["0", "3", "5", "12"])]}
    key, values = world.pick([(ZONE, ZONES), ("disk", ["ssd", "hdd"]), ("generation", ["3", "7", "12"])])
    made: Manifest = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        made["values"] = world.some(values)
    return made


def _tolerations(world: World, often: float) -> list[Manifest]:
    made: list[Manifest] = []
    if world.has("taints", often):
        made += [_toleration(world) for _ in range(world.rng.randint(1, 3))]
    if world.has("unschedulable", often * 0.3):
        made.append(
            world.pick(
                [
                    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
                    {"operator": "Exists", "effect": "NoSchedule"},
                ]
            )
        )
    if world.has("default-tolerations"):
        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
            made.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    return made


def _toleration(world: World) -> Manifest:
    key, value = world.pick(TAINTS)
    effect = world.pick([*EFFECTS, "NoSchedule", ""])
    made: Manifest = world.pick(
        [
            {"key": key, "operator": "Exists"},
            {"key": key, "operator": "Equal", "value": value},
            {"key": key, "value": value},  # no operator means Equal
            {"key": key, "operator": "Equal", "value": "else"},
            {"operator": "Exists"},
        ]
    )
    if effect:
        made["effect"] = effect
    if effect == "NoExecute" and world.chance(0.5):
        made["tolerationSeconds"] = world.pick([0, 60])
    return made


def _pod_affinity(world: World, pod: Manifest, kind: str, count: int) -> None:
    terms = [_pod_term(world, pod) for _ in range(count)]
    _affinity(pod["spec"]).setdefault(kind, {})["requiredDuringSchedulingIgnoredDuringExecution"] = terms


def _pod_term(world: World, pod: Manifest) -> Manifest:
    term: Manifest = {"topologyKey": world.pick(KEYS)}
    labels = pod["metadata"].get("labels", {})
    if world.chance(0.3) and labels:  # matching itself
        key = world.pick(list(labels))
        term["labelSelector"] = {"matchLabels": {key: labels[key]}}
    elif world.chance(0.92):
        term["labelSelector"] = world.pick([world.selector(), world.selector(), {}])
    _namespaces(world, term)
    if term.get("labelSelector") and "matchExpressions" not in term["labelSelector"]:
        _label_keys(world, term, labels)
    return term


def _namespaces(world: World, term: Manifest) -> None:
    if world.chance(0.25):
        term["namespaces"] = world.some([*NAMESPACES, "gone"])
    if world.chance(0.3):
        term["namespaceSelector"] = world.pick(NAMESPACE_SELECTORS)


def _label_keys(world: World, term: Manifest, labels: dict[str, str]) -> None:
    """matchLabelKeys and mismatchLabelKeys, which the API server writes into the selector when it admits the pod."""
    free = [key for key in LABELS if key not in term["labelSelector"].get("matchLabels", {})]
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        if not free or not world.chance(0.15):
            continue
        key = free.pop(world.rng.randrange(len(free)))
        term[field] = [key]
        if key in labels:
            merged = term["labelSelector"].setdefault("matchExpressions", [])
            merged.append({"key": key, "operator": operator, "values": [labels[key]]})


def _prefer(world: World, pod: Manifest) -> None:
    """Preferences, none of which decides where a pod may run."""
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    affinity = _affinity(pod["spec"])
    affinity.setdefault("nodeAffinity", {})[preferred] = [
        {"weight": 10, "preference": {"matchExpressions": [_requirement(world)]}}
    ]
    kind = world.pick(["podAffinity", "podAntiAffinity"])
    affinity.setdefault(kind, {})[preferred] = [{"weight": 50, "podAffinityTerm": _pod_term(world, pod)}]


def _spread(world: World, pod: Manifest) -> list[Manifest]:
    made: dict[tuple[str, str], Manifest] = {}
    for _ in range(world.rng.randint(1, 3)):
        constraint = _constraint(world, pod)
        made[constraint["topologyKey"], constraint["whenUnsatisfiable"]] = constraint
    return list(made.values())


def _constraint(world: World, pod: Manifest) -> Manifest:
    hard = world.chance(0.8)
    made: dict[str, Any] = {
        "maxSkew": world.rng.randint(1, 3),
        "topologyKey": world.pick(KEYS),
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
    }
    labels = pod["metadata"].get("labels", {})
    if world.chance(0.6) and "app" in labels:
        made["labelSelector"] = {"matchLabels": {"app": labels["app"]}}
    elif world.chance(0.95):
        made["labelSelector"] = world.pick([world.selector(), world.selector(), world.selector(), {}])
    if hard and world.chance(0.25):
        made["minDomains"] = world.rng.randint(1, 4)
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if world.chance(0.35):
            made[policy] = world.pick(["Honor", "Ignore"])
    if made.get("labelSelector") and world.chance(0.25):
        _merge_spread_key(made, labels)
    return made


def _merge_spread_key(constraint: Manifest, labels: dict[str, str]) -> None:
    """matchLabelKeys, which the API server writes into the selector as well."""
    key = "pod-template-hash"
    constraint["matchLabelKeys"] = [key]
    if key in labels:
        merged = constraint["labelSelector"].setdefault("matchExpressions", [])
        merged.append({"key": key, "operator": "In", "values": [labels[key]]})


def ports(world: World, taken: list[tuple[str, str, int]]) -> list[Manifest]:
    """Host ports of one container that don't collide with ``taken``, which is added to."""
    made: list[Manifest] = []
    for _ in range(world.rng.randint(1, 2)):
        address, protocol = (
            world.pick(["", "", "0.0.0.0", "127.0.0.1", "10.0.0.1"]),
            world.pick(["TCP", "TCP", "UDP", "SCTP"]),
        )
        port = world.pick([80, 443, 8080])
        if any(_collide((address, protocol, port), other) for other in taken):
            continue
        taken.append((address, protocol, port))
        port_made: Manifest = {"containerPort": port, "hostPort": port, "protocol": protocol}
        if address:
            port_made["hostIP"] = address
        made.append(port_made)
    return made


def _collide(a: tuple[str, str, int], b: tuple[str, str, int]) -> bool:
    anywhere = {"", "0.0.0.0"}
    return a[1:] == b[1:] and (a[0] == b[0] or a[0] in anywhere or b[0] in anywhere)
