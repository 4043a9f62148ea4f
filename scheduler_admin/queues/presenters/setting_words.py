"""The settings of queues in words, and what each may say where that is a choice."""

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from engine.explain import Message
from engine.formats.tree_json.diff import Setting, describe_tree_setting
from engine.model.queue_settings import SETTINGS, TAKE_WORDS
from scheduler_admin.queues.drafts.texts import OWN, setting_named
from scheduler_admin.queues.presenters.placement import rule_changes, rule_text, rules_in

Options = tuple[tuple[str, str], ...]
"""Text and word of each choice."""
_SETTINGS = {
    **{one.typed_as: one.label for one in SETTINGS},
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
    if setting == OWN:
        return (("", _("where anything is set")), ("true", _("there is one, whatever is set")))
    found = setting_named(setting)
    if found is None or not found.words:
        return ()
    return (("", _(found.unset)), *((value, _(word)) for value, word in found.words.items()))


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


def _takes() -> Options:
    """Whom an ask may preempt."""
    return tuple((value, _(word)) for value, word in TAKE_WORDS.items())


def hint(setting: str) -> str:
    """What a setting does, in sentences; empty where it is none of a queue."""
    found = setting_named(setting)
    return _(found.help) if found else ""


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
