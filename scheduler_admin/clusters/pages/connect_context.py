"""What the page says of a cluster that was looked at and is not connected yet."""

from dataclasses import dataclass

from engine.model.message import format_amount_list
from engine.observation.discovery import ClusterFacts, Leaf
from scheduler_admin.clusters.connections.connect import Look

SHOWN = 30
"""Leaves; the fullest. The Queues page has all of them."""


@dataclass(frozen=True)
class ConnectPage:
    """Ready for the template."""

    look: Look
    found: ClusterFacts
    capacity: str
    classes: str
    leaves: list[Leaf]
    more: int
    notes: list[str]


def connect_page(seen: Look) -> ConnectPage:
    """Put what was found into words; the leaves in which most runs first."""
    leaves = sorted(seen.found.leaves, key=lambda leaf: (-leaf.pods, leaf.path))
    return ConnectPage(
        look=seen,
        found=seen.found,
        capacity=format_amount_list(seen.found.capacity),
        classes=", ".join(f"{one.name} {one.value}" for one in seen.found.classes),
        leaves=leaves[:SHOWN],
        more=max(0, len(leaves) - SHOWN),
        notes=[str(note) for note in (*seen.proposal.notes, *seen.proposal.refused)],
    )
