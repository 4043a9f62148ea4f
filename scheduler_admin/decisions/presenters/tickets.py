"""Summaries for tickets: plain text with what happened, why, the numbers and a link, to be copied in one go."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.explain import Message
from engine.model.quantities import format_amount
from scheduler_admin.core.links import decision_url
from scheduler_admin.core.translation import join_sentences, text
from scheduler_admin.core.words import colon, list_comma
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.presenters.figures import Lane, QueueLanes
from scheduler_admin.decisions.presenters.pods import PodPage

_MOST_VICTIMS = 10
"""Victims that a ticket names; of more it says how many more there are."""


def pod_ticket(page: PodPage) -> str:
    """Return the summary of one event of a pod, as its own tenant sees it."""
    event = page.event
    return _written(
        (_("Pod"), f"{event.namespace}/{event.name}"),
        (_("Cluster"), event.decision.cluster.name),
        (_("Time"), _moment(event.at)),
        (_("State"), page.word),
        (_("What happened"), join_sentences([page.sentence, *page.because])),
        (_("Requested"), page.asked),
        (_("Priority"), "" if page.priority is None else str(page.priority)),
        (_("Queue"), event.queue),
        *_usage([page.side] if page.side else []),
        (_("What would change it"), _listed(page.prevention)),
        (_("Link"), f"{event.url}?decision={event.decision.pk}"),
    )


def decision_ticket(
    row: Decision,
    *,
    cluster: str,
    word: str,
    sentences: Sequence[Message],
    sides: Sequence[QueueLanes],
    victims: Sequence[Victim],
) -> str:
    """Return the summary of a decision for those who see everything."""
    pods = [f"{one.namespace}/{one.name}" for one in victims[:_MOST_VICTIMS]]
    if more := len(victims) - len(pods):
        pods.append(ngettext("%(n)s more", "%(n)s more", more) % {"n": more})
    return _written(
        (_("Decision"), str(row.pk)),
        (_("Cluster"), cluster),
        (_("Time"), _moment(row.first_seen)),
        (_("Outcome"), word),
        (_("What happened"), join_sentences(sentences)),
        (_("Pending group"), f"{row.ask_namespace}/{row.group_name}" if row.ask_group else ""),
        (_("Pending pod"), f"{row.ask_namespace}/{row.ask_name}" if row.ask_name and not row.ask_group else ""),
        (_("Victims"), list_comma().join(pods)),
        (_("Node"), row.node),
        *_usage(sides),
        (_("Link"), decision_url(cluster, row.pk)),
    )


def _written(*lines: tuple[str, str]) -> str:
    """One line for each fact that is known."""
    return "\n".join(f"{label}{colon()}{value}".rstrip() for label, value in lines if value)


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _listed(messages: Iterable[Message]) -> str:
    return "".join(f"\n- {text(each)}" for each in messages)


def _usage(sides: Iterable[QueueLanes]) -> Iterable[tuple[str, str]]:
    for side in sides:
        lanes = "".join(f"\n- {_lane(lane)}" for lane in side.lanes)
        yield _("Usage of %(queue)s") % {"queue": side.path}, lanes


def _lane(lane: Lane) -> str:
    """One resource: ``cpu: used 24 before, 18 after, guaranteed 16, max 96``."""
    used = _("used %(before)s") if lane.after is None else _("used %(before)s before, %(after)s after")
    parts = [used % {"before": format_amount(lane.resource, lane.before), "after": _amount(lane, lane.after)}]
    parts.append(_("guaranteed %(amount)s") % {"amount": _amount(lane, lane.guaranteed)})
    parts.append(_("max %(amount)s") % {"amount": _amount(lane, lane.max)})
    return f"{lane.resource}{colon()}{list_comma().join(parts)}"


def _amount(lane: Lane, value: int | None) -> str:
    return _("none") if value is None else format_amount(lane.resource, value)
