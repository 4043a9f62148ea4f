"""Whether an answer of the engine agrees with what the real Kueue does: mode, flavors, targets, their order, shares."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Manifest = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "data" / "kueue"
"""The recorded decisions of Kueue in its version of 2026-08."""
_FIGURES = ("flavors", "modes", "borrowing", "removed_before_fill_back", "filled_back")


def disagreements(recorded: Manifest, answer: Manifest) -> list[str]:
    """What differs, a line each."""
    return [*_decision(recorded, answer), *_order(recorded, answer), *_shares(recorded, answer)]


def _decision(recorded: Manifest, answer: Manifest) -> Iterator[str]:
    accepted = recorded.get("any_of") or [recorded]
    if not any(_same(one, answer) for one in accepted):
        figures = answer["figures"]
        ours = figures["mode"], figures["modes"], figures["flavors"], sorted(_targets(answer))
        yield f"{ours}, recorded {accepted[:4]}"


def _same(recorded: Manifest, answer: Manifest) -> bool:
    figures, told = answer["figures"], {(one["workload"], one["reason"]) for one in recorded["targets"]}
    if (recorded["mode"], told) != (figures["mode"], _targets(answer)):
        return False
    if recorded["mode"] == "NoFit":
        return True
    assigned = all(recorded[figure] == figures[figure] for figure in _FIGURES)
    return assigned and recorded.get("counts", figures["counts"]) == figures["counts"]


def _targets(answer: Manifest) -> set[tuple[str, str]]:
    return {(one["name"], one["reason"]) for one in answer["victims"]}


def _order(recorded: Manifest, answer: Manifest) -> Iterator[str]:
    ordered = recorded.get("ordered")
    ours = [{"workload": one["name"], "reason": one["reason"]} for one in answer["victims"]]
    if ordered and not recorded.get("any_of") and ours != ordered:
        yield f"in the order {ours}, recorded {ordered}"


def _shares(recorded: Manifest, answer: Manifest) -> Iterator[str]:
    ours = answer["figures"].get("shares", {})
    for kind, nodes in recorded.get("shares", {}).items():
        for name, share in nodes.items():
            own = ours[kind][name]
            same = math.isclose(float(own["weightedShare"]), float(share["weightedShare"]), rel_tol=1e-12)
            told = [own.get(figure) == share.get(figure) for figure in ("borrowing", "dominantResource")]
            if not (same and all(told)):
                yield f"{kind}/{name} has the share {own}, recorded {share}"
