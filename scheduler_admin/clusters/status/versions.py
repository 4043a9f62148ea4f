"""How a cluster's status tells pages that they would look different."""

from django.db.models import F
from django.db.models.expressions import CombinedExpression


def grown(*, decided: bool = True) -> dict[str, CombinedExpression]:
    """What is to be written of a status that pages would look different for; ``decided``: those of decisions, too."""
    return {name: F(name) + 1 for name in (("news", "decided") if decided else ("news",))}
