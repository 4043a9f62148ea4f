"""May this pod run on that node? Resources are asked apart: evictions can cure those, and host ports."""

from engine.feasibility.nodes import Refusal, matches, refusal

__all__ = ["Refusal", "matches", "refusal"]
