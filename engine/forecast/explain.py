"""A forecast in words: what the next pass would do, and where it ends."""

from engine.explain.message import Message, Name, counted, gettext_noop, ngettext_noop
from engine.forecast.results import Forecast, Settling, Toll

NOTHING = gettext_noop("The next pass would preempt nothing.")
OF_ONE = ngettext_noop(
    "The next pass would preempt %(count)s pod of one application.",
    "The next pass would preempt %(count)s pods of one application.",
)
OF_SEVERAL = ngettext_noop(
    "The next pass would preempt %(count)s pod of %(applications)s applications.",
    "The next pass would preempt %(count)s pods of %(applications)s applications.",
)
QUIET = gettext_noop("Then quiet: no further preemption.")
QUIET_LATER = ngettext_noop(
    "Passes after it would preempt %(count)s pod more. Then quiet.",
    "Passes after it would preempt %(count)s pods more. Then quiet.",
)
LOOP_OF_ONE = gettext_noop("%(one)s preempts again and again, without end.")
LOOP_OF_TWO = gettext_noop("%(one)s and %(other)s preempt each other in turn, without end.")
LOOP_OF_MORE = ngettext_noop(
    "%(one)s, %(other)s and %(count)s more ask preempt each other in turn, without end.",
    "%(one)s, %(other)s and %(count)s more asks preempt each other in turn, without end.",
)
UNSETTLED = ngettext_noop(
    "Still not quiet after %(count)s pass: what comes later is not known.",
    "Still not quiet after %(count)s passes: what comes later is not known.",
)


def next_pass(toll: Toll) -> Message:
    """What the next pass would do, from ``Forecast.first_pass``."""
    if not toll.pods:
        return Message(NOTHING)
    if toll.applications == 1:
        return counted(OF_ONE, toll.pods)
    return counted(OF_SEVERAL, toll.pods, applications=toll.applications)


def settling(found: Forecast) -> Message:
    """Where a forecast ends, to be read after ``next_pass``."""
    if found.settles is Settling.UNSETTLED:
        return counted(UNSETTLED, len(found.rounds))
    if found.settles is Settling.LOOP:
        return _loop([ask.name for ask in found.loop])
    later = found.total.pods - found.first_pass.pods
    return counted(QUIET_LATER, later) if later else Message(QUIET)


def _loop(asks: list[str]) -> Message:
    match asks:
        case [one]:
            return Message(LOOP_OF_ONE, {"one": Name(one)})
        case [one, other]:
            return Message(LOOP_OF_TWO, {"one": Name(one), "other": Name(other)})
        case _:
            return counted(LOOP_OF_MORE, len(asks) - 2, one=Name(asks[0]), other=Name(asks[1]))
