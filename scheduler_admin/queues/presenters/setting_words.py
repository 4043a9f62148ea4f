"""The settings of queues in words, and what each may say where that is a choice."""

import msgspec
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from engine.explain import Message
from engine.formats.tree_json.diff import Setting, describe_tree_setting
from engine.model.queue_settings import SETTINGS, TAKE_WORDS
from scheduler_admin.core.words import semicolon
from scheduler_admin.queues.drafts.texts import OWN, setting_named
from scheduler_admin.queues.presenters.placement import rule_changes, rule_text, rules_in

Options = tuple[tuple[str, str], ...]
"""Text and word of each choice."""
_SETTINGS = {
    **{one.typed_as: one.label for one in SETTINGS},
    "name": gettext_noop("name"),
    "parent": gettext_noop("parent"),
    "template": gettext_noop("template"),
    "own": gettext_noop("use template"),
    "policy": gettext_noop("policy"),
    "dialect": gettext_noop("dialect"),
    "placement": gettext_noop("placement rules"),
    "capacity": gettext_noop("percentage base"),
    "last_resort": gettext_noop("last resort"),
    "check_delay": gettext_noop("preemption delay"),
    "preemption": gettext_noop("overall preemption"),
    "guarantees": gettext_noop("parent guarantees"),
    "within_queue": gettext_noop("preemption within the queue"),
    "reclaim": gettext_noop("preemption in other queues"),
    "while_borrowing": gettext_noop("preemption while borrowing"),
    "strategies": gettext_noop("share comparison"),
    "method": gettext_noop("division method"),
    "node_fit": gettext_noop("where capacity is freed"),
    "high_priority": gettext_noop("high-priority classes"),
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
        return (("", _("if any setting is set")), ("true", _("always")))
    found = setting_named(setting)
    if found is None or not found.words:
        return ()
    return (("", _(found.unset)), *((value, _(word)) for value, word in found.words.items()))


def _of_parameter(name: str) -> Options:
    match name:
        case "last_resort":
            return (("daemonset", _("DaemonSet pods")), ("any", _("any")), ("never", _("none")))
        case "check_delay":
            return (("true", pgettext("delays", "applied")), ("false", pgettext("delays", "ignored")))
        case "preemption":
            return (("true", _("on")), ("false", _("off")))
        case "guarantees":
            return (("nested", _("include child guarantees")), ("kueue", _("are added to child guarantees")))
        case "within_queue" | "reclaim":
            return _takes()
        case "while_borrowing":
            return (("true", _("allowed")), ("false", _("not allowed")))
        case "method":
            return (("drf", _("all resources together (DRF)")), ("proportional", _("each resource separately")))
        case "budgets":
            return (("kept", pgettext("budgets", "respected")), ("counted", _("best effort, as in kube-scheduler")))
        case "node_fit":
            return (("true", _("on one node")), ("false", _("anywhere")))
        case "strategies":
            return (
                ("both", _("final share, then initial share")),
                ("final", _("final share only")),
                ("initial", _("initial share only")),
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
        return semicolon().join(rule_text(rule) for rule in rules_in(text))
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
        "yunikorn": _("YuniKorn queues.yaml"),
        "kueue": _("Kueue objects"),
        "consumers": _("kube-arbitrator Consumers"),
        "volcano": _("Volcano Queues"),
        "kai": _("KAI Queues"),
        "scheduler-admin": _("Scheduler Admin YAML or JSON"),
    }
    return words[form]
