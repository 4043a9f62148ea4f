"""What came of a contest of gangs: what the product has stored and shows, held against what the cluster itself saw."""

import json
import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from engine.model.decision import Decision, decode
from tests.controlplane.wire import Wire
from tests.enforce.contest_result import Row
from tests.enforce.gangs.load import reservations
from tests.enforce.worker import NAME, Worker

_METRIC = f'scheduler_admin_evictions_in_vain_total{{cluster="{NAME}"}}'
_LISTED = f"/api/v1/clusters/{NAME}/decisions?outcome=preempt&source=engine"


class GangResult(msgspec.Struct, frozen=True, kw_only=True):
    """One contest; lists are of decisions (ids), pods or nodes, and empty where all is well."""

    seed: int
    took_s: int
    vanished: dict[str, int]
    """Pods of gangs and nodes that were taken away while a decision was open."""
    endings: dict[str, int]
    """Of every decision that was begun: its nodes were reserved, and its victims evicted."""
    given_up: dict[str, int]
    """Endings of decisions that were never begun."""
    nodes: dict[int, int]
    """How many decisions reserved so many nodes."""
    evicted: int
    in_vain: int
    """Victims of decisions whose gang did not run where room was made, by the cluster's own account."""
    by_api: int
    by_metric: int
    by_pages: int
    """The same as the product counts it: in its API, its metrics, and on the pages of these decisions."""
    wrong: list[int]
    """Decisions that ended as bound while their gang does not run on its nodes, or the other way round."""
    open: list[int]
    held: list[str]
    """Victims that were evicted without a decision that was begun."""
    unaccounted: list[str]
    """Evictions that the API server accepted and that no stored victim tells of."""
    imagined: list[str]
    twice: list[str]
    stolen: list[str]
    """Nodes that changed from one decision to another without having been free between."""
    left: list[str]
    """Nodes that still have our taint, and pods that are nominated to a node without a decision."""

    @property
    def decisions(self) -> int:
        """Return how many were begun."""
        return sum(self.endings.values())

    @property
    def troubles(self) -> dict[str, Any]:
        """Return what should be empty and is not, or should be equal and is not."""
        names = ("wrong", "open", "held", "unaccounted", "imagined", "twice", "stolen", "left")
        found = {name: value for name in names if (value := getattr(self, name))}
        counts = {"in_vain": self.in_vain, "api": self.by_api, "metric": self.by_metric, "pages": self.by_pages}
        return found | (counts if len({*counts.values()}) > 1 else {})


def gang_decisions(worker: Worker) -> list[Row]:
    """Return every decision for a gang that was carried out, or would have been."""
    columns = "id, ask_group, state, ending, deadline, first_seen, closed_at, document"
    which = "outcome = 'preempt' AND source = 'engine' AND state != 'on-hold'"
    return worker.rows(f"SELECT {columns} FROM history_decision WHERE {which} ORDER BY id")


def result_of(
    worker: Worker,
    wire: Wire,
    accepted: Counter[str],
    *,
    placed: Mapping[str, str],
    stolen: list[str],
    vanished: dict[str, int],
    seed: int,
    took_s: float,
) -> GangResult:
    """Hold the books of a stopped worker against the cluster.

    ``accepted``: the evictions of the API server's audit log; ``placed``: where pods of gangs ran last.
    """
    rows = gang_decisions(worker)
    begun = [row for row in rows if row["deadline"]]
    victims = worker.rows("SELECT * FROM history_victim WHERE evicted_at IS NOT NULL")
    decided = {row["id"]: decode(zlib.decompress(row["document"]).decode()) for row in begun}
    bound = {pk for pk, decision in decided.items() if _runs(decision, placed)}
    decision_of = {f"{one['namespace']}/{one['name']}": one["decision_id"] for one in victims}
    stored = Counter(f"{one['namespace']}/{one['name']}" for one in victims)
    shown = _shown(worker)
    return GangResult(
        seed=seed,
        took_s=round(took_s),
        vanished=vanished,
        endings=dict(Counter(row["ending"] or "open" for row in begun)),
        given_up=dict(Counter(row["ending"] or "open" for row in rows if not row["deadline"])),
        nodes=dict(sorted(Counter(len({*decision.nodes.values()}) or 1 for decision in decided.values()).items())),
        evicted=len(victims),
        in_vain=sum(times for pod, times in accepted.items() if decision_of.get(pod) not in bound),
        by_api=sum(shown.values()),
        by_metric=_metric(worker),
        by_pages=sum(map(_on_page, _pages(worker, [pk for pk in shown if shown[pk]]))),
        wrong=[row["id"] for row in begun if (row["ending"] == "bound") is not (row["id"] in bound)],
        open=[row["id"] for row in rows if row["state"] != "closed"],
        held=sorted({pod for pod, pk in decision_of.items() if pk not in decided}),
        unaccounted=sorted((accepted - stored).elements()),
        imagined=sorted((stored - accepted).elements()),
        twice=sorted(pod for pod, times in accepted.items() if times > 1),
        stolen=stolen,
        left=_left(wire),
    )


def _runs(decision: Decision, placed: Mapping[str, str]) -> bool:
    """Return whether enough pods of a gang ran on the nodes that they were given.

    A pod that a gang has beyond those that it needs is decided for alone, once these run.
    """
    if not decision.group:
        return placed.get(decision.ask.name) == decision.node
    here = sum(placed.get(pod.name) == decision.nodes[pod.uid] for pod in decision.placed)
    return here + decision.group.bound >= decision.group.needed


def _shown(worker: Worker) -> dict[int, int]:
    """Return how many pods each decision evicted in vain, as the API says."""
    found, path = dict[int, int](), _LISTED
    while path:
        page = json.loads(worker.get(path)[0])
        found |= {one["id"]: one["evicted_in_vain"] for one in page["results"]}
        path = page["next"] or ""
    return found


def _pages(worker: Worker, decisions: list[int]) -> list[str]:
    return worker.get(*(f"/clusters/{NAME}/decisions/{pk}/" for pk in decisions)) if decisions else []


def _on_page(text: str) -> int:
    said = next(part for part in text.split("<p ") if "evicted in vain" in part)
    return int(said.partition(">")[2].split()[0])


def _metric(worker: Worker) -> int:
    lines = (line for line in worker.metrics().splitlines() if line.startswith(_METRIC))
    return int(float(next(lines, "0").split()[-1]))


def _left(wire: Wire) -> list[str]:
    """Return what is still reserved.

    A pod keeps its toleration, which Kubernetes lets nobody remove; it tolerates a taint that no node has any more.
    """
    nodes, pods = (wire.send("GET", f"/api/v1/{kind}")[1]["items"] for kind in ("nodes", "pods"))
    waiting = [pod for pod in pods if "nodeName" not in pod["spec"]]
    kept = [node["metadata"]["name"] for node in nodes if reservations(node)]
    nominated = [pod["metadata"]["name"] for pod in waiting if pod["status"].get("nominatedNodeName")]
    return sorted([*kept, *nominated])
