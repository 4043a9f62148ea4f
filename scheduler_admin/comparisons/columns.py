"""What the columns of a comparison are called, and their figures."""

from collections.abc import Mapping
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from engine.planning.comparison import SideFigures
from engine.policies import known_dialects
from scheduler_admin.comparisons.models import Comparison
from scheduler_admin.core.words import comma


def side_name(side: Mapping[str, Any]) -> str:
    """Return what a side is called: its tree, then how it decides."""
    return comma().join((tree_name(side), terms_name(side["policy"], side["dialect"])))


def tree_name(side: Mapping[str, Any]) -> str:
    """Return what the tree of a side is called."""
    if "draft" in side:
        return _("draft %(name)s, version %(version)s") % {"name": side["draft"], "version": side["version"]}
    return _("revision %(number)s") % {"number": side["revision"]}


def terms_name(policy: str, dialect: str) -> str:
    """Return a policy, with its dialect where it has several."""
    return f"{policy} ({dialect})" if len(known_dialects().get(policy, ())) > 1 else policy


def figures_of(comparison: Comparison) -> list[SideFigures]:
    """Return the figures of the sides, in their order; none where nothing was found yet."""
    return msgspec.convert((comparison.result or {}).get("sides", []), list[SideFigures])


def columns(comparison: Comparison) -> list[tuple[str, SideFigures]]:
    """Return what every column is about, and its figures; first what happened, where that is known."""
    given = list(zip(map(side_name, comparison.sides), figures_of(comparison), strict=False))
    if comparison.result and comparison.result.get("record"):
        given.insert(0, (_("what happened"), msgspec.convert(comparison.result["record"], SideFigures)))
    return given
