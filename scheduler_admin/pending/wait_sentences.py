"""How long asks wait, and whether what was told of it came true, in sentences."""

from engine.explain import Message
from engine.model.message import gettext_noop, ngettext_noop, plural_message
from engine.observation.wait_estimates import Checked, Estimate, PredictionVerdict
from scheduler_admin.decisions.sentences import seconds
from scheduler_admin.pending.waits import LOOKED_BACK, QueueWaits

ALIKE = ngettext_noop(
    "Similar pods waited a median of %(half)s; nine in ten waited at most %(most)s (%(count)s pod in the "
    "last %(days)s days).",
    "Similar pods waited a median of %(half)s; nine in ten waited at most %(most)s (%(count)s pods in the "
    "last %(days)s days).",
)
ALIKE_HALF = ngettext_noop(
    "Similar pods waited a median of %(half)s (%(count)s pod in the last %(days)s days).",
    "Similar pods waited a median of %(half)s (%(count)s pods in the last %(days)s days).",
)
QUEUE = ngettext_noop(
    "Pods in this queue waited a median of %(half)s; nine in ten waited at most %(most)s (%(count)s pod "
    "in the last %(days)s days).",
    "Pods in this queue waited a median of %(half)s; nine in ten waited at most %(most)s (%(count)s pods "
    "in the last %(days)s days).",
)
QUEUE_HALF = ngettext_noop(
    "Pods in this queue waited a median of %(half)s (%(count)s pod in the last %(days)s days).",
    "Pods in this queue waited a median of %(half)s (%(count)s pods in the last %(days)s days).",
)
LATE = gettext_noop("This one has already waited longer.")
NOT_TOLD = gettext_noop("No estimate of the wait: too few pods in its queue were scheduled recently.")
QUEUE_NOT_TOLD = gettext_noop("No estimate of the wait: too few pods were scheduled recently.")

HALF_CAME = ngettext_noop(
    "%(in_time)s of %(count)s pod was scheduled within the estimated median wait.",
    "%(in_time)s of %(count)s pods were scheduled within the estimated median wait.",
)
MOST_CAME = ngettext_noop(
    "%(in_time)s of %(count)s pod was scheduled within the wait estimated for nine in ten.",
    "%(in_time)s of %(count)s pods were scheduled within the wait estimated for nine in ten.",
)
VERDICTS: dict[PredictionVerdict, str] = {
    PredictionVerdict.TOO_FEW: gettext_noop("too few pods"),
    PredictionVerdict.ACCURATE: gettext_noop("accurate"),
    PredictionVerdict.TOO_SHORT: gettext_noop("estimate too short"),
    PredictionVerdict.TOO_LONG: gettext_noop("estimate too long"),
}
KINDS: dict[PredictionVerdict, str] = {
    PredictionVerdict.TOO_FEW: "none",
    PredictionVerdict.ACCURATE: "ok",
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
