"""How long asks wait, and whether what was told of it came true, in sentences."""

from engine.explain import Message
from engine.model.message import gettext_noop, ngettext_noop, plural_message
from engine.observation.wait_estimates import Checked, Estimate, PredictionVerdict
from scheduler_admin.decisions.sentences import seconds
from scheduler_admin.pending.waits import LOOKED_BACK, QueueWaits

ALIKE = ngettext_noop(
    "Half of such pods got room within %(half)s, nine of ten within %(most)s (from %(count)s pod of the last %(days)s "
    "days that was like it).",
    "Half of such pods got room within %(half)s, nine of ten within %(most)s (from %(count)s pods of the last %(days)s "
    "days that were like it).",
)
ALIKE_HALF = ngettext_noop(
    "Half of such pods got room within %(half)s (from %(count)s pod of the last %(days)s days that was like it).",
    "Half of such pods got room within %(half)s (from %(count)s pods of the last %(days)s days that were like it).",
)
QUEUE = ngettext_noop(
    "Half of this queue’s pods got room within %(half)s, nine of ten within %(most)s (from %(count)s pod of the last "
    "%(days)s days).",
    "Half of this queue’s pods got room within %(half)s, nine of ten within %(most)s (from %(count)s pods of the last "
    "%(days)s days).",
)
QUEUE_HALF = ngettext_noop(
    "Half of this queue’s pods got room within %(half)s (from %(count)s pod of the last %(days)s days).",
    "Half of this queue’s pods got room within %(half)s (from %(count)s pods of the last %(days)s days).",
)
LATE = gettext_noop("It has waited for longer than that already.")
NOT_TOLD = gettext_noop("How long it may take is not told: too few pods of its queue are known to have got room.")
QUEUE_NOT_TOLD = gettext_noop("How long they wait is not told: too few are known to have got room.")

HALF_CAME = ngettext_noop(
    "%(in_time)s of %(count)s pod got room within the time told for half.",
    "%(in_time)s of %(count)s pods got room within the time told for half.",
)
MOST_CAME = ngettext_noop(
    "%(in_time)s of %(count)s pod got room within the time told for nine of ten.",
    "%(in_time)s of %(count)s pods got room within the time told for nine of ten.",
)
VERDICTS: dict[PredictionVerdict, str] = {
    PredictionVerdict.TOO_FEW: gettext_noop("too few to tell"),
    PredictionVerdict.TRUE: gettext_noop("as told"),
    PredictionVerdict.TOO_SHORT: gettext_noop("told too short"),
    PredictionVerdict.TOO_LONG: gettext_noop("told too long"),
}
KINDS: dict[PredictionVerdict, str] = {
    PredictionVerdict.TOO_FEW: "none",
    PredictionVerdict.TRUE: "ok",
    PredictionVerdict.TOO_SHORT: "warn",
    PredictionVerdict.TOO_LONG: "warn",
}
"""How pages mark a verdict."""


def told(found: Estimate | None, *, alike: bool = False, of_queue: bool = False) -> Message:
    """Within how long asks got room. ``alike``: those like one ask. ``of_queue``: told of a queue, not of an ask."""
    if found is None:
        return Message(QUEUE_NOT_TOLD if of_queue else NOT_TOLD)
    params = {"half": seconds(found.half_ms / 1000), "days": str(LOOKED_BACK.days)}
    if found.most_ms is None:
        return plural_message(ALIKE_HALF if alike else QUEUE_HALF, found.known, **params)
    return plural_message(ALIKE if alike else QUEUE, found.known, most=seconds(found.most_ms / 1000), **params)


def late() -> Message:
    """That it waits for longer than nine of ten."""
    return Message(LATE)


def checks(found: QueueWaits) -> list[tuple[Message, PredictionVerdict]]:
    """What came of what was told, where it is known of any."""
    both = ((HALF_CAME, found.half), (MOST_CAME, found.most))
    return [(_came(forms, one), one.verdict) for forms, one in both if one.of]


def _came(forms: tuple[str, str], one: Checked) -> Message:
    return plural_message(forms, one.of, in_time=str(one.in_time))


def verdict(one: PredictionVerdict) -> Message:
    """A verdict in a word or two."""
    return Message(VERDICTS[one])
