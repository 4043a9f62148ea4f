"""What came of a contest: what the product has stored, held against the API server's own audit log."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from statistics import quantiles
from typing import Any

import msgspec

from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from tests.controlplane.wire import Wire
from tests.enforce.worker import Worker

Row = dict[str, Any]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One contest; lists are of decisions (ids) or pods (namespace/name) and empty where all is well."""

    kept_by: str
    seed: int
    took_s: int
    endings: dict[str, int]
    """Of every decision that was begun, that is, whose node was kept (or would have been) and victims told to go."""
    given_up: dict[str, int]
    """Endings of decisions that were never begun: nobody was told to go."""
    victims: dict[int, int]
    """How many decisions had so many victims."""
    evicted: int
    in_vain: int
    """Of those, victims of decisions that did not end ``bound``."""
    needless: int
    """Victims that had not exited yet when their ask was bound on the node: others had left room there meanwhile."""
    bound_s: tuple[float, float]
    """From the decision to the ask bound on its node, in seconds: the median, and what 95 of 100 stay below."""
    free_s: tuple[float, float]
    """The same from when the last of its victims was gone."""
    open: list[int]
    unaccounted: list[str]
    """Evictions that the API server accepted and no stored victim tells of."""
    imagined: list[str]
    """Stored victims that were evicted by our books alone."""
    twice: list[str]
    kept: list[str]
    """Nodes that still carry a taint of ours."""

    @property
    def decisions(self) -> int:
        """How many were begun."""
        return sum(self.endings.values())

    @property
    def share(self) -> float:
        """Of the decisions that were begun those that ended with the ask on the node that was freed for it."""
        return self.endings.get("bound", 0) / max(1, self.decisions)

    def table_row(self) -> str:
        """As a row of the table in docs/."""
        count = self.endings.get
        others = [
            str(count(ending, 0))
            for ending in ("bound-elsewhere", "capacity-taken", "timed-out", "pod-gone", "blocked")
        ]
        times = (f"{median:.1f} / {most:.1f}" for median, most in (self.bound_s, self.free_s))
        shown = f"{count('bound', 0)} ({self.share:.1%})"
        cells = [
            f"`{self.kept_by}`",
            str(self.decisions),
            shown,
            *others,
            str(self.evicted),
            f"{self.in_vain} + {self.needless}",
            *times,
        ]
        return f"| {' | '.join(cells)} |"


def carried_out(worker: Worker) -> list[Row]:
    """Every decision that was carried out, or would have been: without those that an interlock holds back."""
    columns = "id, ask_uid, node, state, ending, deadline, first_seen, closed_at"
    which = "outcome = 'preempt' AND source = 'engine' AND state != 'on-hold'"
    return worker.rows(f"SELECT {columns} FROM history_decision WHERE {which} ORDER BY id")


def result_of(worker: Worker, wire: Wire, accepted: Counter[str], *, kept_by: str, seed: int, took_s: float) -> Result:
    """KeptBy our books against the evictions that the API server ``accepted``; once every decision has had its time."""
    rows = carried_out(worker)
    begun = [row for row in rows if row["deadline"]]
    victims = worker.rows("SELECT * FROM history_victim WHERE evicted_at IS NOT NULL")
    of_decision = Counter(victim["decision_id"] for victim in victims)
    bound = [row for row in begun if row["ending"] == "bound"]
    freed = [(row, exits) for row in bound if (exits := _exits(victims, row)) and None not in exits]
    stored = Counter(f"{victim['namespace']}/{victim['name']}" for victim in victims)
    vain = {row["id"] for row in begun if row["ending"] != "bound"}
    return Result(
        kept_by=kept_by,
        seed=seed,
        took_s=round(took_s),
        endings=dict(Counter(row["ending"] or "open" for row in begun)),
        given_up=dict(Counter(row["ending"] or "open" for row in rows if not row["deadline"])),
        victims=dict(sorted(Counter(of_decision[row["id"]] for row in begun).items())),
        evicted=len(victims),
        in_vain=sum(of_decision[pk] for pk in vain),
        needless=sum(_exits(victims, row).count(None) for row in bound),
        bound_s=_spread([_seconds(row["first_seen"], row["closed_at"]) for row in bound]),
        free_s=_spread([_seconds(max(exits), row["closed_at"]) for row, exits in freed]),
        open=[row["id"] for row in rows if row["state"] != "closed"],
        unaccounted=sorted((accepted - stored).elements()),
        imagined=sorted((stored - accepted).elements()),
        twice=sorted(pod for pod, times in accepted.items() if times > 1),
        kept=_kept(wire),
    )


def _exits(victims: Sequence[Row], row: Row) -> list[str | None]:
    """When each victim of a decision had gone, None where not until its end, when others left room."""
    of_row = (one["gone_at"] for one in victims if one["decision_id"] == row["id"])
    return [gone_at if gone_at and gone_at <= row["closed_at"] else None for gone_at in of_row]


def _seconds(begin: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def _spread(values: Sequence[float]) -> tuple[float, float]:
    if len(values) < 2:
        return (0.0, 0.0)
    cuts = quantiles(values, n=20, method="inclusive")
    return (round(cuts[9], 1), round(cuts[18], 1))


def _kept(wire: Wire) -> list[str]:
    nodes = wire.send("GET", "/api/v1/nodes")[1]["items"]
    taints = {node["metadata"]["name"]: node["spec"].get("taints") or () for node in nodes}
    return sorted(name for name, of in taints.items() if any(taint["key"] == RESERVED_TAINT_KEY for taint in of))
