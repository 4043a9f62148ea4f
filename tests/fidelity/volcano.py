"""Whether an answer agrees with the real Volcano: what queues deserve, where they stand, who goes, who gets room."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.model.quantities import parse_quantity

Manifest = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "data" / "volcano"
"""The recorded sessions of Volcano in its version of 2026-08."""
_QUANTITIES = ("deserved", "realCapability", "request", "allocated")
_LISTS = ("overused", "aboveDeserved")
_SLACK = {"memory": 1024.0}
"""Its shares are floating point numbers that it approaches in rounds; of all else a thousandth."""


def disagreements(recorded: Manifest, answer: Manifest) -> list[str]:
    """What differs, a line each."""
    figures = answer["figures"]
    return [*_quantities(recorded, figures), *_standing(recorded, figures), *_reclaimed(recorded, answer)]


def _quantities(recorded: Manifest, ours: Manifest) -> Iterator[str]:
    for figure in _QUANTITIES:
        if set(recorded[figure]) != set(ours[figure]):
            yield f"{figure} of {sorted(ours[figure])}, recorded of {sorted(recorded[figure])}"
            continue
        for queue, amounts in recorded[figure].items():
            if not _same(amounts, ours[figure][queue]):
                yield f"{queue} {figure} {ours[figure][queue]}, recorded {amounts}"


def _same(recorded: Mapping[str, str], ours: Mapping[str, str]) -> bool:
    if set(recorded) != set(ours):
        return False
    return all(
        abs(float(parse_quantity(text) - parse_quantity(ours[name]))) <= _SLACK.get(name, 0.0011)
        for name, text in recorded.items()
    )


def _standing(recorded: Manifest, ours: Manifest) -> Iterator[str]:
    for queue, share in recorded["share"].items():
        if not math.isclose(share, ours["share"].get(queue, -1), rel_tol=1e-6, abs_tol=1e-9):
            yield f"{queue} has the share {ours['share'].get(queue)}, recorded {share}"
    for figure in _LISTS:
        if sorted(recorded[figure]) != ours[figure]:
            yield f"{figure} {ours[figure]}, recorded {recorded[figure]}"


def _reclaimed(recorded: Manifest, answer: Manifest) -> Iterator[str]:
    """Where nodes or pods are looked at by chance several answers were seen, of which it has to be one."""
    seen = recorded.get("any_of") or ([recorded] if "evicted" in recorded else [])
    gone, room = [one["name"] for one in answer["victims"]], answer["figures"]["pipelined"]
    if seen and (sorted(gone), room) not in [(sorted(one["evicted"]), one["pipelined"]) for one in seen]:
        yield f"evicts {gone} for {room}, recorded {[(one['evicted'], one['pipelined']) for one in seen][:4]}"
    order = recorded.get("evictionOrder", gone)
    if order != gone:
        yield f"evicts {gone} in this order, recorded {order}"
