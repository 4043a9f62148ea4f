"""Whether an answer of the engine agrees with what the real kube-scheduler does: the decision, and its figures."""

from collections.abc import Iterator
from typing import Any

Manifest = dict[str, Any]


def disagreements(recorded: Manifest, answer: Manifest) -> list[str]:
    """What differs, a line each."""
    return [*_decision(recorded, answer), *_figures(recorded, answer)]


def _decision(recorded: Manifest, answer: Manifest) -> Iterator[str]:
    if recorded["outcome"] != answer["outcome"]:
        yield f"outcome {answer['outcome']}, recorded {recorded['outcome']} {recorded.get('message', '')}".rstrip()
    elif recorded["outcome"] == "preempt":
        chosen = answer.get("node"), {victim["name"] for victim in answer.get("victims", [])}
        if chosen not in [(choice["node"], set(choice["victims"])) for choice in recorded["any_of"]]:
            accepted = " or ".join(f"{choice['node']} {choice['victims']}" for choice in recorded["any_of"][:4])
            yield f"chose {chosen[0]} {sorted(chosen[1])}, recorded {accepted}"


def _figures(recorded: Manifest, answer: Manifest) -> Iterator[str]:
    figures = answer.get("figures", {})
    if "fits_on" in recorded and sorted(figures.get("fits_on", [])) != sorted(recorded["fits_on"]):
        yield f"fits on {figures.get('fits_on')}, recorded {recorded['fits_on']}"
    if recorded["outcome"] != "preempt":
        return
    several = {node: [one] for node, one in recorded.get("candidates", {}).items()} | recorded.get(
        "candidates_any_of", {}
    )
    ours = figures.get("candidates", {})
    for node in sorted(set(several) | set(ours)):
        accepted = several.get(node, [])
        if node not in ours or _eviction(ours[node]) not in map(_eviction, accepted):
            mine = _words(ours[node]) if node in ours else "no candidate"
            yield f"on {node} {mine}, recorded {' or '.join(map(_words, accepted[:4])) or 'no candidate'}"


def _eviction(candidate: Manifest) -> tuple[set[str], int | None]:
    return set(candidate["victims"]), candidate.get("pdb_violations")


def _words(candidate: Manifest) -> str:
    return f"{sorted(candidate['victims'])} with {candidate.get('pdb_violations')} PDB violations"


def group_disagreements(recorded: Manifest, answer: Manifest) -> list[str]:
    """What differs where the answer may be about a group: then each member's node, victims and violated budgets."""
    if not any("nodes" in choice for choice in recorded["any_of"]) or recorded["outcome"] != answer["outcome"]:
        return disagreements(recorded, answer)
    if recorded["outcome"] != "preempt":
        return []
    chosen = _group_choice(answer["nodes"], [one["name"] for one in answer["victims"]], answer["figures"])
    accepted = [_group_choice(choice["nodes"], choice["victims"], choice) for choice in recorded["any_of"]]
    return [] if chosen in accepted else [f"chose {chosen}, recorded {accepted[:4]}"]


def _group_choice(nodes: Manifest, victims: list[str], figures: Manifest) -> tuple[Manifest, set[str], int]:
    return nodes, set(victims), figures["pdb_violations"]
