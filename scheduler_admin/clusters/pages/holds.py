"""What keeps evictions back in a cluster, in words, as far as somebody may read it."""

from dataclasses import dataclass

from engine.explain import Message, hold_heading, hold_sentence
from engine.model.decision import Interlock
from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.safeguards.holds import BREAKERS, Hold
from scheduler_admin.clusters.selectors import holds

_OF_ONE_DECISION = frozenset({Interlock.COOL_DOWN, Interlock.DISRUPTION_BUDGET})
"""Told where the decision is."""


@dataclass(frozen=True)
class HoldNotice:
    """An interlock in words."""

    hold: Hold
    heading: Message
    sentence: Message | None
    """None where its numbers are not for the reader."""

    @property
    def paused(self) -> bool:
        """Whether it is the whole cluster that is paused."""
        return self.hold.interlock is Interlock.PAUSED


def hold_notices(cluster: Cluster, user: Who) -> list[HoldNotice]:
    """Return what holds now and concerns the user; a pause of the whole cluster first."""
    scope = scope_of(user, "view")
    found = [_notice(hold) for hold in holds(cluster, scope) if hold.interlock not in _OF_ONE_DECISION]
    return sorted(found, key=lambda each: not each.paused)


def _notice(hold: Hold) -> HoldNotice:
    hidden = hold.interlock in BREAKERS and not hold.figures
    return HoldNotice(
        hold=hold,
        heading=hold_heading(hold.interlock, hold.queue),
        sentence=None if hidden else hold_sentence(hold.interlock, hold.queue, hold.figures),
    )
