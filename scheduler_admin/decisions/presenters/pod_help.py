"""What a tenant can do about a pod that was preempted or is pending."""

from dataclasses import dataclass

from django.utils import timezone

from engine.explain import Message, change_sentence
from engine.formats.kubernetes.priority_classes import is_system
from engine.model.change import Change
from engine.model.objects import PriorityClass
from scheduler_admin.accounts.link_templates import FilledLink, filled_links
from scheduler_admin.accounts.models import Site
from scheduler_admin.core.words import colon
from scheduler_admin.decisions.presenters.pod_list import PodState, present_state
from scheduler_admin.decisions.replay.changes import own_changes
from scheduler_admin.decisions.selectors.pods import PodEvent
from scheduler_admin.nodes.own_pods import OwnPod
from scheduler_admin.pending import wait_sentences
from scheduler_admin.pending.waits import is_late
from scheduler_admin.priority_classes.presenters import quota_text
from scheduler_admin.priority_classes.selectors import picture

_MOST_CLASSES = 3
"""Higher priority classes that are offered, the lowest first; the page of the classes has all."""


@dataclass(frozen=True)
class ClassChoice:
    """A higher priority class, and how much of it the pod's namespace may use."""

    one: PriorityClass
    quotas: list[str]


@dataclass(frozen=True)
class PodHelp:
    """What a tenant can do about a pod."""

    state: PodState
    wait: Message | None
    """How long pods like it usually wait; None unless it is pending."""
    late: Message | None
    """That it has waited longer than pods like it usually do."""
    less: list[Message]
    """Of a victim, the smaller request that would have spared it."""
    higher: list[Message]
    """Of a victim, the priority that would have spared it."""
    classes: list[ClassChoice] | None
    """Higher priority classes; None if the classes are not known yet."""
    class_helps: bool
    """Whether a higher priority class may help."""
    contact: str
    links: list[FilledLink]

    @property
    def pending(self) -> bool:
        """Return whether the pod waits for room."""
        return self.state.name == "pending"


def pod_help(own: OwnPod, site: Site, ticket: str) -> PodHelp:
    """Return what can be done about a pod now; ``ticket`` is its summary, which links can hand on."""
    event, state = own.event, present_state(own)
    changes = own_changes(event.victim) if event.victim and state.name == "preempted" else ()
    needed = [one.priority for one in changes if one.change is Change.PRIORITY and one.priority is not None]
    return PodHelp(
        state=state,
        wait=_usual_wait(own) if state.name == "pending" else None,
        late=wait_sentences.late() if own.wait and is_late(own.wait, timezone.now()) else None,
        less=[change_sentence(one) for one in changes if one.change is Change.OWN_REQUEST],
        higher=[change_sentence(one) for one in changes if one.change is Change.PRIORITY],
        classes=_classes(event, min(needed, default=None)) if _may_help(event, state) else [],
        class_helps=_may_help(event, state),
        contact=site.support_contact,
        links=filled_links(site.support_links, _facts(event, ticket)),
    )


def _may_help(event: PodEvent, state: PodState) -> bool:
    """Return whether the pod was preempted, or waits without room being there or made for it already."""
    if state.name == "pending":
        return event.victim is not None or event.decision.outcome not in ("fits", "preempt")
    return state.name == "preempted"


def _usual_wait(own: OwnPod) -> Message:
    """Return what was expected when the pod was first seen."""
    wait = own.wait
    return wait_sentences.told(wait.told if wait else None, alike=wait is not None and wait.alike)


def _classes(event: PodEvent, needed: int | None) -> list[ClassChoice] | None:
    """Return the lowest classes that are higher than the pod's priority, and not lower than what is needed."""
    found = picture(event.decision.cluster)
    if found is None:
        return None
    priority = event.victim.priority if event.victim else event.decision.ask_priority
    least = needed if needed is not None else (priority or 0) + 1
    rows = [row for row in found.rows if not row.one.unread and not is_system(row.one.name) and row.one.value >= least]
    return [
        ClassChoice(
            row.one, [f"{one.name}{colon()}{quota_text(one)}" for one in row.quotas if one.namespace == event.namespace]
        )
        for row in sorted(rows, key=lambda row: (row.one.value, row.one.name))[:_MOST_CLASSES]
    ]


def _facts(event: PodEvent, ticket: str) -> dict[str, str]:
    return {
        "cluster": event.decision.cluster.name,
        "namespace": event.namespace,
        "pod": event.name,
        "queue": event.queue,
        "link": event.url,
        "summary": ticket,
    }
