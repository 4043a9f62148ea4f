"""What Events and conditions on pods say: what their pages say, in English, as all that is written to clusters."""

from collections.abc import Iterable

from django.utils import translation

from engine.cluster.acting.pod_events import LONGEST_MESSAGE, clip_text
from engine.explain import Message, Tense, preemptor_sentence
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.selectors.decisions import read
from scheduler_admin.decisions.sentences import for_whom, why_victim, worded_for

_KEPT = "The node stays reserved for it until the victims’ grace periods and another %d s are over."
_KEPT_FOR_GROUP = "The nodes stay reserved for its group until the victims’ grace periods and another %d s are over."
_UNREAD = "Room is being made for it on %s."
_UNREAD_FOR_GROUP = "Room is being made for its group."


def told_ask(row: Decision, link: str, *, kept_s: int | None = None) -> str:
    """At whose cost room is made for the ask; ``kept_s``: so long after the last grace period it is kept, if it is."""
    kept = _KEPT_FOR_GROUP if row.ask_group else _KEPT
    return _told(row, Tense.EVICTING, link, [] if kept_s is None else [kept % kept_s])


def would_tell_ask(row: Decision, link: str) -> str:
    """At whose cost room would be made for it."""
    return _told(row, Tense.WOULD, link, [])


def told_victim(row: Decision, victim: Victim, link: str) -> str:
    """Why a victim goes; of the asker as much as the site tells, as whoever reads the pod may be a stranger to it."""
    asker = Redaction.of(Scope()).preemptor(row)
    said = [why_victim(row, victim, Tense.EVICTED, queue=asker.queue), *for_whom(row, asker)]
    return _linked(_english(said), link)


def _told(row: Decision, tense: Tense, link: str, more: list[str]) -> str:
    decision = read(row)
    unread = _UNREAD_FOR_GROUP if row.ask_group else _UNREAD % row.node
    said = _english(worded_for(row, [preemptor_sentence(decision, tense)])) if decision else [unread]
    return _linked([*said, *more], link)


def _english(messages: Iterable[Message]) -> list[str]:
    with translation.override("en"):
        return [text(message) for message in messages]


def _linked(sentences: Iterable[str], link: str) -> str:
    """Where there is no room for all of it, the link stays whole."""
    where = f" Details: {link}"
    return clip_text(" ".join(sentences), LONGEST_MESSAGE - len(where.encode())) + where


def condition_reason(reason: str) -> str:
    """As Kubernetes writes the reasons of conditions: ``over-guarantee`` -> ``OverGuarantee``."""
    return "".join(part.capitalize() for part in reason.split("-"))
