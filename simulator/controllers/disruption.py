"""The disruption controller: computes how many pods of each budget may be evicted now."""

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import ClassVar

from simulator.controllers.component import Controller
from simulator.controllers.ownership import FINISHED, ready
from simulator.objects import Object, set_condition, timestamp
from simulator.selectors import match_labels
from simulator.storage.store import Event

KEY = "poddisruptionbudgets.policy"
SCALED = {"ReplicaSet": "replicasets.apps"}
EXPECTED_GONE_WITHIN = timedelta(minutes=2)
"""After this time, an eviction that was charged but whose pod still exists counts as failed."""


class DisruptionBudgets(Controller):
    """Writes the status of PodDisruptionBudgets whenever their pods change."""

    watches: ClassVar[tuple[str, ...]] = (KEY, "pods", "replicasets.apps")

    def on_event(self, event: Event) -> None:
        """Enqueue a budget when it, or a pod that it covers, has changed."""
        meta = event.object["metadata"]
        if event.key == KEY:
            self.enqueue(meta["namespace"], meta["name"])
            return
        for budget in self.store.list(KEY, meta["namespace"]):
            if event.key != "pods" or any(_covers(budget, pod) for pod in (event.object, event.old) if pod):
                self.enqueue(meta["namespace"], budget["metadata"]["name"])

    def sync(self, namespace: str, name: str) -> None:
        """Count the healthy pods and the disruptions that the budget allows."""
        budget = self.store.find(KEY, namespace, name)
        if budget is None:
            return
        pods = [pod for pod in self.store.list("pods", namespace) if _covers(budget, pod) and not _finished(pod)]
        disrupted = self._still_disrupted(budget, pods)
        healthy = sum(1 for pod in pods if _healthy(pod) and pod["metadata"]["name"] not in disrupted)
        expected, desired = self._expected(budget, pods)
        allowed = max(healthy - desired, 0) if expected else 0
        counts = {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected,
            "observedGeneration": budget["metadata"].get("generation", 1),
        }
        self.store.mutate(KEY, namespace, name, lambda copy: self._write(copy, counts, disrupted), "status")
        if disrupted:
            self.timers.set((namespace, name), EXPECTED_GONE_WITHIN.total_seconds(),
                            lambda: self.enqueue(namespace, name))  # fmt: skip

    def _write(self, budget: Object, counts: dict[str, int], disrupted: dict[str, str]) -> None:
        status = budget.setdefault("status", {})
        status |= counts
        status.pop("disruptedPods", None)
        status |= {"disruptedPods": disrupted} if disrupted else {}
        allowed = counts["disruptionsAllowed"] > 0
        condition = {
            "type": "DisruptionAllowed",
            "status": "True" if allowed else "False",
            "reason": "SufficientPods" if allowed else "InsufficientPods",
            "message": "",
            "observedGeneration": counts["observedGeneration"],
        }
        set_condition(budget, condition, timestamp(self.clock.now()))

    def _still_disrupted(self, budget: Object, pods: Iterable[Object]) -> dict[str, str]:
        """Return the charged evictions whose pods still exist, are not terminating, and are not overdue."""
        charged = (budget.get("status") or {}).get("disruptedPods") or {}
        present = {pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"]}
        since = self.clock.now() - EXPECTED_GONE_WITHIN
        return {
            name: moment
            for name, moment in charged.items()
            if name in present and datetime.fromisoformat(str(moment)) > since
        }

    def _expected(self, budget: Object, pods: list[Object]) -> tuple[int, int]:
        """Return how many pods are expected, and how many of them must be healthy."""
        spec = budget["spec"]
        if spec.get("maxUnavailable") is not None:
            expected = self._scale(pods)
            return expected, max(expected - _share(spec["maxUnavailable"], expected), 0)
        least = spec.get("minAvailable", 1)
        expected = self._scale(pods) if _percent(least) else len(pods)
        return expected, _share(least, expected)

    def _scale(self, pods: list[Object]) -> int:
        """Return the sum of the replicas of the pods' controllers; a pod without a controller counts as one."""
        scales: dict[str, int] = {}
        for pod in pods:
            owners = pod["metadata"].get("ownerReferences") or ()
            owner = next((item for item in owners if item.get("controller")), None)
            key = SCALED.get(owner["kind"]) if owner else None
            controller = self.store.find(key, pod["metadata"]["namespace"], owner["name"]) if owner and key else None
            uid = (controller or pod)["metadata"]["uid"]
            scales[uid] = int(controller["spec"].get("replicas", 1)) if controller else 1
        return sum(scales.values())


def _covers(budget: Object, pod: Object) -> bool:
    return match_labels(budget["spec"].get("selector"), pod["metadata"].get("labels"))


def _finished(pod: Object) -> bool:
    return pod["status"].get("phase") in FINISHED


def _healthy(pod: Object) -> bool:
    return ready(pod) and "deletionTimestamp" not in pod["metadata"]


def _percent(amount: object) -> bool:
    return isinstance(amount, str) and amount.endswith("%")


def _share(amount: int | str, of: int) -> int:
    """Return an absolute number unchanged, or a percentage of `of` rounded up."""
    if isinstance(amount, str) and amount.endswith("%"):
        return math.ceil(of * int(amount[:-1]) / 100)
    return int(amount)
