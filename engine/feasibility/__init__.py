"""May this pod run on that node? Resources are asked apart: evictions can cure those, and host ports."""

from engine.feasibility.nodes import Refusal, refusal

__all__ = ["Refusal", "refusal"]
