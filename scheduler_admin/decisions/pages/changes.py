"""What would have changed a decision, as its page tells it."""

from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from engine.explain import (
    Message,
    anomaly_sentence,
    change_sentence,
    for_group,
    optimal_messages,
    proposed_decision,
    quirk_messages,
)
from engine.model.decision import Decision as EngineDecision
from engine.planning.journal import JournalError
from engine.policies import yunikorn
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.presenters.group_words import worded
from scheduler_admin.decisions.replay import changes as history
from scheduler_admin.decisions.replay.replay import CannotReplayError


@dataclass(frozen=True)
class ByOther:
    """What another policy decides of the same."""

    way: str
    """``fence/yunikorn``: policy and dialect."""
    told: tuple[Message, ...]
    victims: int
    same: int
    """So many of them are victims of the decision itself, too."""


@dataclass(frozen=True)
class OtherwisePart:
    """The part of the page, in sentences; or what kept it from being worked out."""

    changes: tuple[tuple[Message, ...], ...] = ()
    """Each in a sentence or a few."""
    tried: bool = True
    """Whether there was anything to try."""
    quirks: bool = False
    """Whether they are YuniKorn's departures from its own design."""
    least: tuple[Message, ...] = ()
    troubles: tuple[Message, ...] = ()
    others: tuple[ByOther, ...] = ()
    problem: str = ""


def otherwise_part(row: Decision) -> OtherwisePart:
    """Work it out; it takes as long as the cluster is large."""
    try:
        found = history.otherwise(row)
    except (CannotReplayError, JournalError):
        return OtherwisePart(
            problem=_("The cluster state of that time can no longer be read, so this can’t be computed.")
        )
    part = OtherwisePart(
        changes=(
            *((change_sentence(one),) for one in found.counterfactuals),
            *(quirk_messages(one, found.decision) for one in found.quirks),
        ),
        tried=row.outcome == "preempt",
        quirks=found.decision.dialect == yunikorn.DIALECT,
        least=optimal_messages(found.least, found.decision) if found.least else (),
        troubles=tuple(map(anomaly_sentence, found.troubles)),
    )
    return replace(worded(part, row), others=tuple(_by_other(one, found.decision) for one in found.others))


def _by_other(other: EngineDecision, decision: EngineDecision) -> ByOther:
    theirs, ours = ({one.pod.uid for one in each.to_evict} for each in (other, decision))
    return ByOther(
        way=f"{other.policy}/{other.dialect}",
        told=tuple(map(for_group, proposed_decision(other))) if other.group else proposed_decision(other),
        victims=len(theirs),
        same=len(theirs & ours),
    )
