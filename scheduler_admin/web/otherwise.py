"""What would have changed a decision, as its page tells it."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from engine.explain import Message, least, otherwise, trouble
from engine.journal import JournalError
from scheduler_admin.history import otherwise as history
from scheduler_admin.history.models import Decision
from scheduler_admin.history.replay import CannotReplayError


@dataclass(frozen=True)
class OtherwisePart:
    """The part of the page, in sentences; or what kept it from being worked out."""

    changes: tuple[Message, ...] = ()
    least: tuple[Message, ...] = ()
    troubles: tuple[Message, ...] = ()
    problem: str = ""


def otherwise_part(row: Decision) -> OtherwisePart:
    """Work it out; it takes as long as the cluster is large."""
    try:
        found = history.otherwise(row)
    except (CannotReplayError, JournalError):
        return OtherwisePart(problem=_("What was seen then can’t be read any more, so it can’t be worked out."))
    return OtherwisePart(
        changes=tuple(map(otherwise, found.counterfactuals)),
        least=least(found.least, chosen=found.decision.evicts) if found.least else (),
        troubles=tuple(map(trouble, found.troubles)),
    )
