"""Placement rules and templates in words, for the pages of a revision and of a queue."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from engine.changes import parts
from engine.formats.form import write_settings
from engine.placement_rules import NAMESPACE_TAG, PARENT_QUEUE_TAG, Filter, Rule, RuleName
from engine.queues import QueueTree, Settings


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


def _name(rule: Rule) -> str:
    name = _own_name(rule)
    if rule.parent is None:
        return name
    above = _name(rule.parent)
    if rule.parent.create:
        above = _("%(queue)s, made if it is not there") % {"queue": above}
    return _("%(queue)s, below: %(above)s") % {"queue": name, "above": above}


def _own_name(rule: Rule) -> str:
    match rule.name:
        case RuleName.PROVIDED:
            return _("what the pod's label names")
        case RuleName.USER:
            return _("the user's name")
        case RuleName.FIXED:
            return rule.value
        case RuleName.TAG if rule.value.lower() == NAMESPACE_TAG:
            return _("the namespace's name")
        case RuleName.TAG if rule.value.lower() == PARENT_QUEUE_TAG:
            return _("what the namespace's annotation names")
        case RuleName.TAG:
            return _("tag %(tag)s, which no pod has") % {"tag": rule.value}


def _whom(whom: Filter) -> str:
    listed = []
    if whom.users:
        listed.append(_("users %(names)s") % {"names": ", ".join(whom.users)})
    if whom.groups:
        listed.append(_("groups %(names)s") % {"names": ", ".join(whom.groups)})
    if not listed:
        return _("nobody") if whom.deny else _("everybody")
    names = "; ".join(listed)
    return _("everybody but %(names)s") % {"names": names} if whom.deny else names
