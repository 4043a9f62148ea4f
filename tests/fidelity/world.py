"""A wild case while it is made: its random source, its features, and the words that its objects are made of."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

Manifest = dict[str, Any]
T = TypeVar("T")

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = 86_400

NAMESPACES = {"default": {}, "team-a": {"env": "prod", "team": "a"}, "team-b": {"env": "dev"}, "other": {"env": "prod"}}
ZONES = ["za", "zb", "zc"]
LABELS = {"app": ["web", "db", "cache"], "tier": ["front", "back"], "pod-template-hash": ["h1", "h2"]}
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"

FEATURES = {
    "several-containers": 0.3,
    "init-containers": 0.25,
    "sidecars": 0.2,
    "overhead": 0.15,
    "pod-level-resources": 0.2,
    "extended-resource": 0.25,
    "hugepages": 0.12,
    "ephemeral-storage": 0.2,
    "pod-limit": 0.25,
    "best-effort": 0.2,
    "node-selector": 0.15,
    "node-affinity": 0.3,
    "taints": 0.3,
    "unschedulable": 0.15,
    "not-ready": 0.12,
    "host-ports": 0.3,
    "pod-affinity": 0.25,
    "pod-anti-affinity": 0.3,
    "existing-anti-affinity": 0.3,
    "preferred": 0.2,
    "topology-spread": 0.4,
    "missing-keys": 0.2,
    "nominated": 0.35,
    "asker-nominated": 0.15,
    "terminating": 0.3,
    "pdb": 0.5,
    "start-ties": 0.35,
    "not-started": 0.2,
    "negative": 0.15,
    "system-critical": 0.12,
    "asker-never": 0.06,
    "victim-never": 0.15,
    "finished-pods": 0.2,
    "in-place-resize": 0.25,
    "other-scheduler": 0.15,
    "gated": 0.12,
    "default-tolerations": 0.5,
    "volumes": 0.15,
}
"""How often each is in a case of medium wildness."""


@dataclass
class World:
    """What is known while a case is made. Everything random comes from ``rng``, in a fixed order."""

    rng: random.Random
    features: set[str]
    objects: list[Manifest] = field(default_factory=list)
    nodes: list[Manifest] = field(default_factory=list)
    pods: list[Manifest] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    roomy: bool = False
    """Whether nodes have room, so that other things than resources decide."""
    _made: int = 0

    def has(self, feature: str, chance: float = 1.0) -> bool:
        """Whether the case has the feature, and this object of it gets it; draws only when the case has it."""
        return feature in self.features and self.chance(chance)

    def chance(self, chance: float) -> bool:
        return self.rng.random() < chance

    def pick(self, among: Sequence[T]) -> T:
        return self.rng.choice(among)

    def some(self, among: Sequence[T], least: int = 1) -> list[T]:
        """A few of them, in their order."""
        chosen = self.rng.sample(range(len(among)), self.rng.randint(min(least, len(among)), len(among)))
        return [among[i] for i in sorted(chosen)]

    def metadata(self, name: str, namespace: str = "", **more: Any) -> Manifest:
        """Metadata as the API server completes it."""
        self._made += 1
        made: Manifest = {"name": name}
        if namespace:
            made["namespace"] = namespace
        return made | {
            "uid": f"00000000-0000-4000-8000-{self._made:012d}",
            "creationTimestamp": before(self.rng.randint(3600, DAY)),
            "resourceVersion": str(1000 + self._made),
            **more,
        }

    def add(self, kind: str, version: str, metadata: Manifest, **body: Any) -> Manifest:
        """A whole manifest, put among the case's objects."""
        made = {"apiVersion": version, "kind": kind, "metadata": metadata, **body}
        self.objects.append(made)
        return made

    def labels(self) -> dict[str, str]:
        """A pod's; now and then none at all, or not every key."""
        if self.chance(0.07):
            return {}
        return {key: self.pick(values) for key, values in LABELS.items() if self.chance(0.85)}

    def selector(self) -> Manifest:
        """A label selector for pods, not empty; now and then with expressions."""
        key = self.pick(list(LABELS)[:2])
        if self.chance(0.6):
            return {"matchLabels": {key: self.pick(LABELS[key])}}
        operator = self.pick(["In", "NotIn", "Exists", "DoesNotExist"])
        expression: Manifest = {"key": key, "operator": operator}
        if operator in ("In", "NotIn"):
            expression["values"] = self.some(LABELS[key])
        made: Manifest = {"matchExpressions": [expression]}
        if self.chance(0.3):
            made["matchLabels"] = {"tier": self.pick(LABELS["tier"])}
        return made


def before(seconds: float) -> str:
    """So long before the case's moment, as the API writes it; negative for after."""
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
