"""Whether an answer of the engine agrees with what the real YuniKorn does: the decision, and its figures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

Manifest = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "data" / "yunikorn"
"""The recorded decisions of yunikorn-core in its version of 2026-07."""


def disagreements(recorded: Manifest, answer: Manifest) -> list[str]:
    """What differs, a line each."""
    return [*_decision(recorded, answer), *_figures(recorded, answer)]


def _decision(recorded: Manifest, answer: Manifest) -> Iterator[str]:
    accepted = [{"outcome": recorded["outcome"], **one} for one in recorded.get("any_of") or [recorded]]
    if not any(_same(one, answer) for one in accepted):
        ours = answer["outcome"], answer["node"], sorted(_victims(answer))
        yield f"{ours}, recorded {[(one['outcome'], one.get('node'), one.get('victims')) for one in accepted[:4]]}"


def _same(recorded: Manifest, answer: Manifest) -> bool:
    if "preempt" not in (recorded["outcome"], answer["outcome"]):
        return True
    node = recorded.get("node") in (None, answer["node"])
    return recorded["outcome"] == answer["outcome"] and node and set(recorded["victims"]) == _victims(answer)


def _victims(answer: Manifest) -> set[str]:
    return {victim["name"] for victim in answer["victims"]}


def _figures(recorded: Manifest, answer: Manifest) -> Iterator[str]:
    ours = answer["figures"]["queues"]
    for path, queue in recorded.get("queues", {}).items():
        for figure in ("preemptable", "remaining_guaranteed"):
            told = ours.get(path, {}).get(figure)
            if figure in queue and queue[figure] != told:
                yield f"{path} {figure} {told}, recorded {queue[figure]}"
