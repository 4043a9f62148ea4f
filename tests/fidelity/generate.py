"""Wild cases for the policy ``priority``: small clusters in which everything that decides there is mixed.

``python -m tests.fidelity.generate --seed 7 --cases 100`` writes them, one JSON object a line. The same seed gives the
same cases, and case ``wild/7-42`` is the same whatever the number of cases.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator

from tests.fidelity.nodes import add_nodes
from tests.fidelity.pods import add_asker, add_classes, add_waiting, fill
from tests.fidelity.world import FEATURES, NAMESPACES, NOW, Manifest, World, before

LARGE = 0.03
"""How many cases are of fifty nodes."""
ROOMY = 0.15
"""How many have room on their nodes."""


def cases(seed: int, count: int) -> Iterator[Manifest]:
    for number in range(count):
        yield case(seed, number)


def case(seed: int, number: int) -> Manifest:
    """The case of that number. Its tags are the features that it has."""
    rng = random.Random(f"{seed}/{number}")
    wildness = rng.uniform(0.2, 1.4)
    features = {feature for feature, chance in FEATURES.items() if rng.random() < chance * wildness}
    world = World(rng, features, roomy=rng.random() < ROOMY)
    asker = _populate(world)
    return {
        "name": f"wild/{seed}-{number}",
        "policy": "priority",
        "tags": sorted(world.features | world.tags),
        "now": NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "objects": world.objects,
        "queues": None,
        "asker": f"{asker['metadata']['namespace']}/{asker['metadata']['name']}",
    }


def _populate(world: World) -> Manifest:
    """Make all the objects, and give the asker."""
    _namespaces(world)
    kinds = add_classes(world)
    if "overhead" in world.features:
        fixed = {"podFixed": {"cpu": "150m", "memory": "120Mi"}}
        world.add("RuntimeClass", "node.k8s.io/v1", world.metadata("sandboxed"), handler="sandboxed", overhead=fixed)
    large = world.chance(LARGE)
    if large:
        world.tags.add("mid-size")
    add_nodes(world, 50 if large else world.rng.randint(2, 8))
    most = 6 if large else min(10, 40 // len(world.nodes))
    for node in world.nodes:
        fill(world, node, kinds, most)
    asker = add_asker(world, kinds)
    if "nominated" in world.features:
        add_waiting(world, kinds, asker)
    if "pdb" in world.features:
        _budgets(world)
    world.rng.shuffle(world.objects)  # no list of the API is in an order that may be relied on
    return asker


def _namespaces(world: World) -> None:
    for name, labels in NAMESPACES.items():
        metadata = world.metadata(name, labels={"kubernetes.io/metadata.name": name, **labels})
        world.add("Namespace", "v1", metadata, spec={"finalizers": ["kubernetes"]}, status={"phase": "Active"})


def _budgets(world: World) -> None:
    for number in range(world.rng.randint(1, 5)):
        namespace = world.pick(["default", "default", *NAMESPACES])
        spec: Manifest = {"maxUnavailable": 1}
        if world.chance(0.9):
            spec["selector"] = world.selector() if world.chance(0.85) else {}
        if world.chance(0.2):
            spec["unhealthyPodEvictionPolicy"] = world.pick(["IfHealthyBudget", "AlwaysAllow"])
        status: Manifest = {
            "disruptionsAllowed": world.pick([0, 0, 0, 1, 1, 2, 3]),
            "currentHealthy": world.rng.randint(0, 4),
            "desiredHealthy": 2,
            "expectedPods": 4,
            "observedGeneration": 1,
        }
        if world.chance(0.25):
            names = [p["metadata"]["name"] for p in world.pods if p["metadata"]["namespace"] == namespace]
            status["disruptedPods"] = dict.fromkeys(world.some([*names[:6], "gone"]), before(5))
        metadata = world.metadata(f"budget-{number}", namespace, generation=1)
        world.add("PodDisruptionBudget", "policy/v1", metadata, spec=spec, status=status)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=10)
    options = parser.parse_args()
    for made in cases(options.seed, options.cases):
        sys.stdout.write(json.dumps(made) + "\n")


if __name__ == "__main__":
    main()
