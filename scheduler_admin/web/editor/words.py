"""The settings of queues in words, and what each may say where that is a choice."""

from collections.abc import Iterable

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from engine.explain import Message
from engine.formats.tree_json.diff import Setting, describe_tree_setting
from engine.model.queue_tree import TAKES_RECLAIM, TAKES_WITHIN, Take
from scheduler_admin.web.placement import rule_changes, rule_text, rules_in

Options = tuple[tuple[str, str], ...]
"""Text and word of each choice."""
_SETTINGS = {
    "guaranteed": gettext_noop("guaranteed"),
    "max": gettext_noop("max"),
    "preemption_policy": gettext_noop("preemption"),
    "delay": gettext_noop("delay"),
    "quota_delay": gettext_noop("delay of a lowered max"),
    "priority_policy": gettext_noop("priorities"),
    "priority_offset": gettext_noop("priority offset"),
    "namespaces": gettext_noop("namespaces"),
    "former_paths": gettext_noop("former paths"),
    "parent_declared": gettext_noop("what it holds"),
    "evict_uncontrolled": gettext_noop("pods without a controller"),
    "weight": gettext_noop("weight"),
    "lendable": gettext_noop("lendable"),
    "take_within": gettext_noop("preempts in itself"),
    "take_reclaim": gettext_noop("preempts in others"),
    "take_borrowing": gettext_noop("preempts while it borrows"),
    "take_threshold": gettext_noop("preempts then up to priority"),
    "name": gettext_noop("name"),
    "parent": gettext_noop("parent"),
    "template": gettext_noop("template"),
    "own": gettext_noop("whether there is one"),
    "policy": gettext_noop("policy"),
    "dialect": gettext_noop("dialect"),
    "placement": gettext_noop("placement rules"),
    "capacity": gettext_noop("percentages of the cluster are of"),
    "last_resort": gettext_noop("last resort"),
    "check_delay": gettext_noop("delays"),
    "preemption": gettext_noop("preemption at all"),
    "guarantees": gettext_noop("guarantees of parents"),
    "within_queue": gettext_noop("whom in the own queue"),
    "reclaim": gettext_noop("whom in other queues"),
    "while_borrowing": gettext_noop("taking while borrowing"),
    "strategies": gettext_noop("shares that allow to take"),
    "method": gettext_noop("how it is divided"),
    "node_fit": gettext_noop("room"),
    "high_priority": gettext_noop("high priority classes"),
    "budgets": gettext_noop("disruption budgets"),
}


def setting_name(setting: str) -> str:
    """A setting as people read it: ``guaranteed cpu``, ``namespaces``."""
    field, _slash, resource = setting.partition("/")
    if field == "template" and resource:
        return _("template: %(setting)s") % {"setting": setting_name(resource)}
    if field == "parameters":
        field, resource = resource, ""
    if field == "placement":  # whichever part of whichever rule
        resource = ""
    word = _(_SETTINGS[field]) if field in _SETTINGS else field
    return f"{word} {resource}".strip()


def options(setting: str) -> Options:
    """The choices of a setting; none where it is typed."""
    field, _slash, name = setting.partition("/")
    if field == "parameters":
        return _of_parameter(name)
    match name if field == "template" else setting:
        case "own":
            return (("", _("where anything is set")), ("true", _("there is one, whatever is set")))
        case "preemption_policy":
            return (("", _("default")), ("fence", _("fence")), ("disabled", _("disabled")))
        case "priority_policy":
            return (("", _("compared with all")), ("fence", _("compared inside only")))
        case "parent_declared":
            return (("", _("pods, or queues")), ("true", _("queues only")))
        case "evict_uncontrolled":
            return (("", _("are never victims")), ("true", _("may be victims")))
        case "take_within":
            return (("", _("as the policy says")), *_takes(TAKES_WITHIN))
        case "take_reclaim":
            return (("", _("as the policy says")), *_takes(TAKES_RECLAIM))
        case "take_borrowing":
            return (("", _("as the policy says")), ("true", _("yes")), ("false", _("no")))
        case _:
            return ()


def _of_parameter(name: str) -> Options:
    match name:
        case "last_resort":
            return (("daemonset", _("of DaemonSets")), ("any", _("any")), ("never", _("none")))
        case "check_delay":
            return (("true", pgettext("delays", "kept")), ("false", pgettext("delays", "not kept")))
        case "preemption":
            return (("true", _("on")), ("false", _("off")))
        case "guarantees":
            return (("nested", _("contain those below")), ("kueue", _("on top of those below")))
        case "within_queue" | "reclaim":
            return _takes()
        case "while_borrowing":
            return (("true", _("allowed")), ("false", _("not allowed")))
        case "method":
            return (("drf", _("all resources together (DRF)")), ("proportional", _("each resource by itself")))
        case "budgets":
            return (("kept", pgettext("budgets", "kept")), ("counted", _("counted as kube-scheduler does")))
        case "node_fit":
            return (("true", _("on one node")), ("false", _("anywhere")))
        case "strategies":
            return (
                ("both", _("afterwards, then before")),
                ("final", _("afterwards alone")),
                ("initial", _("before alone")),
            )
        case _:
            return ()


def _takes(known: Iterable[Take] = Take) -> Options:
    """Whom an ask may preempt."""
    words = {
        Take.NEVER: _("nobody"),
        Take.LOWER_PRIORITY: _("lower priorities"),
        Take.LOWER_OR_NEWER_EQUAL_PRIORITY: _("lower priorities, and newer ones of the same"),
        Take.ANY: _("anybody"),
    }
    return tuple((one.value, words[one]) for one in known)


def hint(setting: str) -> str:
    """What a setting of lending and taking does, in a sentence; empty: it needs none."""
    words = {
        "weight": _(
            "Its borrowing is divided by this under fair sharing, so a weight of 2 may borrow twice as much. "
            "0 means that what it borrows is taken back first."
        ),
        "lendable": _("The most of its guarantee that others may borrow. Empty means all of it, 0 means nothing."),
        "take_within": _("Whom its asks may preempt in the queue itself."),
        "take_reclaim": _("Whom its asks may preempt in other queues that borrow."),
        "take_borrowing": _("Whether it may preempt lower priorities in other queues even while it borrows."),
        "take_threshold": _(
            "The highest priority that it may preempt while it borrows. Empty means any below its own."
        ),
    }
    return words.get(setting.partition("/")[0], "")


def text_in_words(setting: str, text: str) -> str:
    """What a setting says, for reading: the word of its choice, a dash for nothing."""
    if setting == "placement" and text:
        return "; ".join(rule_text(rule) for rule in rules_in(text))
    return dict(options(setting)).get(text, text) or "–"


def beside(one: Setting) -> list[Message]:
    """A setting that differs beside the queues, in words."""
    if one.field == "placement":
        return rule_changes(one.before, one.after)
    setting = f"{one.field}/{one.resource}" if one.resource else one.field
    words = {side: text_in_words(setting, text) if text else "" for side, text in _sides(one)}
    return [describe_tree_setting(msgspec.structs.replace(one, **words), setting_name(setting))]


def _sides(one: Setting) -> tuple[tuple[str, str], ...]:
    return ("before", one.before), ("after", one.after)


def format_name(form: str) -> str:
    """A document format of engine.formats.registry as people call it."""
    words = {
        "yunikorn": _("YuniKorn’s queues.yaml"),
        "kueue": _("Kueue’s objects"),
        "consumers": _("kube-arbitrator’s Consumers"),
        "volcano": _("Volcano’s Queues"),
        "kai": _("KAI’s Queues"),
        "own": _("our own YAML or JSON"),
    }
    return words[form]
