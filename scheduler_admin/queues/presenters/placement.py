"""Placement rules and templates in words, for the pages of a revision and of a queue."""

from dataclasses import dataclass
from difflib import SequenceMatcher

import msgspec
from django.utils.translation import gettext as _

from engine.explain import Message
from engine.formats.tree_json.diff import parts
from engine.formats.tree_json.document import write_settings
from engine.formats.tree_json.placement import read_rules
from engine.model.message import After, Before, Topic, gettext_noop
from engine.model.placement_rules import NAMESPACE_TAG, PARENT_QUEUE_TAG, Filter, Rule, RuleName
from engine.model.queue_tree import QueueTree, Settings
from scheduler_admin.core.words import comma, listed, semicolon


@dataclass(frozen=True)
class ToldRule:
    """One rule."""

    name: str
    """What the queue's name comes from, and below which queue."""
    creates: bool
    whom: str


@dataclass(frozen=True)
class ToldTemplate:
    """What leaves that come into being below a queue are set to."""

    path: str
    settings: list[str]


def rules(tree: QueueTree) -> list[ToldRule]:
    """A tree's rules in their order."""
    return [ToldRule(_name(one), one.create, _whom(one.filter)) for one in tree.placement]


def templates(tree: QueueTree) -> list[ToldTemplate]:
    """A tree's templates, by the queues that have them."""
    queues = (tree[path] for path in tree.walk())
    return [ToldTemplate(one.path, told(one.template)) for one in queues if one.template is not None]


def told(template: Settings) -> list[str]:
    """A template's settings, amounts as people type them: ``guaranteed cpu 2``."""
    return [f"{name} {text}".replace("_", " ") for name, text in parts(write_settings(template))]


def rule_changes(before: str, after: str) -> list[Message]:
    """What makes one list of rules of another (both JSON of our own form), rule by rule."""
    was, says = (rules_in(text) for text in (before, after))
    found = []
    for kind, start, end, start_after, end_after in SequenceMatcher(None, was, says, autojunk=False).get_opcodes():
        if kind != "equal":
            found += [_change(_GONE, number, was[number]) for number in range(start, end)]
            found += [_change(_ADDED, number, says[number]) for number in range(start_after, end_after)]
    return found


_GONE = gettext_noop("%(setting)s %(number)s removed: %(rule)s")
_ADDED = gettext_noop("%(setting)s %(number)s added: %(rule)s")


def rules_in(text: str) -> tuple[Rule, ...]:
    """The rules in a JSON list of our own form, but for those that can't be read."""
    return read_rules(msgspec.json.decode(text), lambda *_wrong, **_params: None)


def _change(message: str, place: int, rule: Rule) -> Message:
    side = Before if message == _GONE else After
    params = {"setting": Topic(_("placement rule")), "number": str(place + 1), "rule": side(rule_text(rule))}
    return Message(message, params)


def rule_text(rule: Rule) -> str:
    """One rule in a line."""
    words = [_name(rule)]
    words += [_("created if missing")] if rule.create else []
    words += [_("for %(whom)s") % {"whom": _whom(rule.filter)}] if rule.filter != Filter() else []
    return comma().join(words)


def _name(rule: Rule) -> str:
    name = _own_name(rule)
    if rule.parent is None:
        return name
    above = _name(rule.parent)
    if rule.parent.create:
        above = _("%(queue)s (created if missing)") % {"queue": above}
    return _("%(queue)s, parent: %(above)s") % {"queue": name, "above": above}


def _own_name(rule: Rule) -> str:
    match rule.name:
        case RuleName.PROVIDED:
            return _("the pod's queue label")
        case RuleName.USER:
            return _("the user name")
        case RuleName.FIXED:
            return rule.value
        case RuleName.TAG if rule.value.lower() == NAMESPACE_TAG:
            return _("the namespace name")
        case RuleName.TAG if rule.value.lower() == PARENT_QUEUE_TAG:
            return _("the namespace's parent queue annotation")
        case RuleName.TAG:
            return _("tag %(tag)s (no pod has it)") % {"tag": rule.value}


def _whom(whom: Filter) -> str:
    found = []
    if whom.users:
        found.append(_("users %(names)s") % {"names": listed(whom.users)})
    if whom.groups:
        found.append(_("groups %(names)s") % {"names": listed(whom.groups)})
    if not found:
        return _("none") if whom.deny else _("everyone")
    names = semicolon().join(found)
    return _("everyone except %(names)s") % {"names": names} if whom.deny else names
