"""Explains which change would let a pending pod through a tier."""

from collections.abc import Mapping

from engine.analysis.pending_reasons import Remedy
from engine.explain.pending.amounts import amounts_text
from engine.model.change import Change
from engine.model.message import Message, Param, gettext_noop, is_shorter, short_name
from engine.model.quantities import Amounts, format_amount

PASS: dict[Change, str] = {
    Change.REQUEST: gettext_noop("This check would pass if the pod requested %(amounts)s less."),
    Change.MAX: gettext_noop("This check would pass if the max of %(queue)s were %(amounts)s."),
    Change.HARD: gettext_noop("This check would pass if the hard cap of %(queue)s were %(amounts)s."),
    Change.RESERVED: gettext_noop("This check would pass if %(queue)s had a reservation of %(amounts)s."),
    Change.GUARANTEE: gettext_noop("This check would pass if the guarantee of %(queue)s were above %(amounts)s."),
    Change.LESS_GUARANTEED: gettext_noop("This check would pass if the guarantee of %(queue)s were only %(amounts)s."),
    Change.FENCE: gettext_noop("This check would pass if %(queue)s had no fence."),
    Change.PRIORITY: gettext_noop("This check would pass with priority %(priority)s."),
    Change.MAY_PREEMPT: gettext_noop("This check would pass if its priority class allowed preemption."),
}
ENOUGH: dict[Change, str] = {
    Change.REQUEST: gettext_noop("It would get room if it requested %(amounts)s less."),
    Change.MAX: gettext_noop("It would get room if the max of %(queue)s were %(amounts)s."),
    Change.HARD: gettext_noop("It would get room if the hard cap of %(queue)s were %(amounts)s."),
    Change.RESERVED: gettext_noop("It would get room if %(queue)s had a reservation of %(amounts)s."),
    Change.GUARANTEE: gettext_noop("It would get room if the guarantee of %(queue)s were above %(amounts)s."),
    Change.LESS_GUARANTEED: gettext_noop("It would get room if the guarantee of %(queue)s were only %(amounts)s."),
    Change.FENCE: gettext_noop("It would get room if %(queue)s had no fence."),
    Change.PRIORITY: gettext_noop("It would get room with priority %(priority)s."),
    Change.MAY_PREEMPT: gettext_noop("It would get room if its priority class allowed preemption."),
}
SEVERAL: dict[Change, str] = {
    Change.MAX: gettext_noop("This check would pass with these max settings: %(queues)s."),
    Change.HARD: gettext_noop("This check would pass with these hard caps: %(queues)s."),
    Change.GUARANTEE: gettext_noop("This check would pass with guarantees above these: %(queues)s."),
}
SEVERAL_ENOUGH: dict[Change, str] = {
    Change.MAX: gettext_noop("It would get room with these max settings: %(queues)s."),
    Change.HARD: gettext_noop("It would get room with these hard caps: %(queues)s."),
    Change.GUARANTEE: gettext_noop("It would get room with guarantees above these: %(queues)s."),
}

UNKEPT: dict[bool, str] = {
    False: gettext_noop(
        "This check would pass if the guarantee of %(queue)s were above %(amounts)s. The guarantee or the "
        "max of %(above)s must be raised too."
    ),
    True: gettext_noop(
        "It would get room if the guarantee of %(queue)s were above %(amounts)s. The guarantee or the max "
        "of %(above)s must be raised too."
    ),
}
AT_LEAST: dict[bool, str] = {
    False: gettext_noop("This check would pass if the guarantee of %(queue)s were at least %(amounts)s."),
    True: gettext_noop("It would get room if the guarantee of %(queue)s were at least %(amounts)s."),
}
AT_LEAST_UNKEPT: dict[bool, str] = {
    False: gettext_noop(
        "This check would pass if the guarantee of %(queue)s were at least %(amounts)s. The guarantee or "
        "the max of %(above)s must be raised too."
    ),
    True: gettext_noop(
        "It would get room if the guarantee of %(queue)s were at least %(amounts)s. The guarantee or the "
        "max of %(above)s must be raised too."
    ),
}
"""The texts for a least amount that is rounder than the amount it must exceed."""
SEVERAL_UNKEPT: dict[bool, str] = {
    False: gettext_noop(
        "This check would pass with guarantees above these: %(queues)s. The guarantee or the max of "
        "%(above)s must be raised too."
    ),
    True: gettext_noop(
        "It would get room with guarantees above these: %(queues)s. The guarantee or the max of %(above)s "
        "must be raised too."
    ),
}
"""Whether it then gets room -> the text where more is guaranteed than a queue above has."""


def remedy_sentence(remedy: Remedy) -> Message:
    """Return what would let the pending pod through a tier, or get it room if no other tier refuses it."""
    rounder = remedy.change is Change.GUARANTEE and all(map(is_shorter, remedy.queues.values()))
    # A sentence names the amount that does, or the one just below it, whichever is the rounder number.
    less = 1 if remedy.change is Change.GUARANTEE and not (rounder and len(remedy.queues) == 1) else 0
    queues = {path: {name: value - less for name, value in amounts.items()} for path, amounts in remedy.queues.items()}
    if len(queues) > 1:
        return _several(remedy, queues)
    params: dict[str, Param] = {"priority": str(remedy.priority), "above": short_name(remedy.unkept)}
    if remedy.smaller:
        params["amounts"] = amounts_text(remedy.smaller)
    for path, amounts in queues.items():
        params |= {"queue": short_name(path), "amounts": _plain(amounts)}
    template = _template(remedy, rounder=rounder)
    return Message(template, {name: value for name, value in params.items() if f"%({name})s" in template})


def _several(remedy: Remedy, queues: Mapping[str, Amounts]) -> Message:
    listed = ", ".join(f"{short_name(path)} {_plain(amounts)}" for path, amounts in queues.items())
    if remedy.unkept:
        return Message(SEVERAL_UNKEPT[remedy.enough], {"queues": listed, "above": short_name(remedy.unkept)})
    forms = SEVERAL_ENOUGH if remedy.enough else SEVERAL
    return Message(forms[remedy.change], {"queues": listed})


def _template(remedy: Remedy, *, rounder: bool) -> str:
    if remedy.unkept:
        return (AT_LEAST_UNKEPT if rounder else UNKEPT)[remedy.enough]
    return AT_LEAST[remedy.enough] if rounder else (ENOUGH if remedy.enough else PASS)[remedy.change]


def _plain(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {format_amount(name, value)}" for name, value in sorted(amounts.items()))
