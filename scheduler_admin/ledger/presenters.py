"""Who is hit again and again, in words."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.http import urlencode

from engine.explain import Message, repeated_preemptions
from engine.model.message import short_names
from scheduler_admin.core.words import work_text
from scheduler_admin.decisions.models import Victim
from scheduler_admin.decisions.selectors.query import REPEATED
from scheduler_admin.ledger.repeat_victims import Repeat

_MOST_SAID = 3


@dataclass(frozen=True)
class RepeatLine:
    """A line of the list."""

    found: Repeat
    queues: str
    lost: str
    """Empty where not all of it is known."""
    query: str
    """Of the history that holds its preemptions."""


def hit_again(victims: Iterable[Victim]) -> list[Message]:
    """The applications of some victims that were preempted often in the day up to then; at most three are named."""
    times: dict[tuple[str, str], int] = {}
    for victim in victims:
        app = (victim.namespace, victim.application)
        times[app] = max(times.get(app, 0), victim.preempted_in_day or 0)
    often = sorted((pair for pair in times.items() if pair[1] >= REPEATED), key=lambda pair: (-pair[1], pair[0]))
    return [repeated_preemptions(application, count) for (_namespace, application), count in often[:_MOST_SAID]]


def repeat_lines(found: Iterable[Repeat]) -> list[RepeatLine]:
    """Every application in a line."""
    return [
        RepeatLine(
            found=one,
            queues=short_names(one.queues),
            lost="" if one.work_lost is None else work_text(one.work_lost),
            query=urlencode({"range": "24h", "namespace": one.namespace, "application": one.application}),
        )
        for one in found
    ]
