"""Explains the effects of an eviction: its grace period, the lost work, and what replaced the victim."""

from engine.model.message import Message, Name, gettext_noop, ngettext_noop, plural_message

IN_TIME = ngettext_noop(
    "It had %(count)s second to stop and took %(took)s.",
    "It had %(count)s seconds to stop and took %(took)s.",
)
CUT_SHORT = ngettext_noop(
    "It had %(count)s second to stop and used all of it. Processes that were still running were then killed.",
    "It had %(count)s seconds to stop and used all of them. Processes that were still running were then killed.",
)
STOPPING = ngettext_noop(
    "It has %(count)s second to stop after its eviction.",
    "It has %(count)s seconds to stop after its eviction.",
)
SINCE_START = gettext_noop("Lost work: %(time)s of %(held)s since it started, which is %(work)s.")
SINCE_CHECKPOINT = gettext_noop("Lost work: %(time)s of %(held)s since its last checkpoint, which is %(work)s.")
ALL_SAVED = gettext_noop("No work was lost: it had just written a checkpoint.")
ODD_CHECKPOINT = gettext_noop(
    "Its annotation %(annotation)s is “%(said)s”, which is not a time such as 2026-01-31T12:00:00Z, and is ignored."
)
AGAIN = ngettext_noop(
    "%(application)s was preempted %(count)s time in the 24 hours before.",
    "%(application)s was preempted %(count)s times in the 24 hours before.",
)
NOT_AGAIN = gettext_noop("It is not recreated: no controller owns it.")
WILL_BE = gettext_noop("%(kind)s %(name)s may create a replacement pod; there is none yet.")
NEVER_CAME = gettext_noop("%(kind)s %(name)s created no replacement pod within the next hour.")
WAITS = gettext_noop(
    "%(kind)s %(name)s created the replacement pod %(successor)s %(after)s after the eviction. It has not started yet."
)
RUNS = gettext_noop(
    "%(kind)s %(name)s created the replacement pod %(successor)s %(after)s after the eviction. It started "
    "%(then)s after the eviction."
)


def grace(grace_s: int, took_s: float | None, took: str) -> Message:
    """Return how the grace period was used; ``took_s``: None while the pod still stops, else ``took`` in seconds."""
    if took_s is None:
        return plural_message(STOPPING, grace_s)
    if took_s >= grace_s:
        return plural_message(CUT_SHORT, grace_s)
    return plural_message(IN_TIME, grace_s, took=took)


def lost_work_sentence(unsaved_s: int, *, saved: bool, time: str, held: str, work: str) -> Message:
    """Return how much work is lost.

    ``time`` of ``held`` (what it requested), in total ``work``; ``saved``: whether a checkpoint saved a part of it.
    """
    if saved and not unsaved_s:
        return Message(ALL_SAVED)
    return Message(SINCE_CHECKPOINT if saved else SINCE_START, {"time": time, "held": held, "work": work})


def odd_checkpoint(annotation: str, value: str) -> Message:
    """Return the sentence that an annotation's value for the last checkpoint is not a time."""
    return Message(ODD_CHECKPOINT, {"annotation": Name(annotation), "said": value})


def repeated_preemptions(application: str, times: int) -> Message:
    """Return the sentence about how often an application was preempted within a day."""
    return plural_message(AGAIN, times, application=Name(application))


def replacement_sentence(controller: str, *, successor: str, after: str, then: str, over: bool) -> Message:
    """Return what the victim's controller (``Kind/name``, empty: none) did.

    ``after``: how long after the eviction it created the successor, ``then``: how long after it that started; empty:
    not yet. ``over``: whether it is no longer watched.
    """
    kind, _, name = controller.partition("/")
    if not kind:
        return Message(NOT_AGAIN)
    params = {"kind": kind, "name": Name(name)}
    if not successor:
        return Message(NEVER_CAME if over else WILL_BE, params)
    made = {**params, "successor": Name(successor), "after": after}
    return Message(RUNS, {**made, "then": then}) if then else Message(WAITS, made)
