"""Reading and writing of placement rules, in the notation that the product's own format and queues.yaml share.

A list of rules looks like this:

    [{"name": "user", "create": true, "filter": {"type": "allow", "groups": ["dev"]},
      "parent": {"name": "tag", "value": "namespace"}},
     {"name": "fixed", "value": "root.default"}]
"""

from collections.abc import Callable, Mapping
from typing import Any

from engine.model.go_regexp import ExpressionError, check
from engine.model.message import gettext_noop
from engine.model.placement import is_expression
from engine.model.placement_rules import DEEPEST_RULE, Filter, Rule, RuleName
from engine.model.queue_tree import LONGEST_PATH, ROOT, is_queue_name

MOST_RULES = 100
MOST_NAMES = 1_000
"""Largest number of users or groups in a filter."""

Complain = Callable[..., None]
"""Called with the mapping and key that are wrong, their place (``("0", "parent")``), the message and its params."""
_FIELDS = ("name", "value", "create", "filter", "parent")
_FILTER_FIELDS = ("type", "users", "groups")


def read_rules(given: Any, complain: Complain) -> tuple[Rule, ...]:
    """Return the rules in a list; rules that can't be read are left out and reported through ``complain``."""
    if given is None:
        return ()
    if not isinstance(given, list):
        complain(given, "", (), gettext_noop("%(key)s must be a list."), key="placement")
        return ()
    if len(given) > MOST_RULES:
        complain(given, "", (), gettext_noop("There are more than %(most)s rules."), most=str(MOST_RULES))
        return ()
    found = [_rule(one, (str(index),), complain, DEEPEST_RULE) for index, one in enumerate(given)]
    return tuple(rule for rule in found if rule is not None)


def write_rules(rules: tuple[Rule, ...]) -> list[dict[str, Any]]:
    """Return the rules as ``read_rules`` reads them back, without unset settings."""
    return [_written(rule) for rule in rules]


def _rule(given: Any, where: tuple[str, ...], complain: Complain, deepest: int) -> Rule | None:
    if not isinstance(given, Mapping):
        complain(given, "", where, gettext_noop("A rule must be a mapping with a name."))
        return None
    if deepest == 0:
        complain(given, "", where, gettext_noop("Rules are nested more than %(most)s deep."), most=str(DEEPEST_RULE))
        return None
    sound = _known(given, _FIELDS, where, complain)
    name = str(given.get("name") or "").lower()
    if name not in list(RuleName):
        known = ", ".join(RuleName)
        message = gettext_noop("%(value)s is not one of: %(known)s.")
        complain(given, "name", (*where, "name"), message, value=repr(name), known=known)
        return None
    create = given.get("create", False)
    if not isinstance(create, bool):
        complain(given, "create", (*where, "create"), gettext_noop("%(key)s is true or false."), key="create")
        sound = False
    above = given.get("parent")
    parent = None if above is None else _rule(above, (*where, "parent"), complain, deepest - 1)
    value = _value(given, RuleName(name), where, complain)
    whom = _filter(given, where, complain)
    if value is None or whom is None or (above is not None and parent is None) or not sound:
        return None
    return Rule(name=RuleName(name), value=value, create=bool(create), filter=whom, parent=parent)


def _known(given: Mapping[str, Any], fields: tuple[str, ...], where: tuple[str, ...], complain: Complain) -> bool:
    more = sorted({str(key) for key in given} - set(fields))
    for name in more:
        message = gettext_noop("There is no setting %(name)s. Known are: %(known)s.")
        complain(given, name, (*where, name), message, name=name, known=", ".join(fields))
    return not more


def _value(given: Mapping[str, Any], name: RuleName, where: tuple[str, ...], complain: Complain) -> str | None:
    value = given.get("value")
    text = "" if value is None else str(value)
    place = (*where, "value")
    if isinstance(value, Mapping | list):
        complain(given, "value", place, gettext_noop("%(key)s must be a text."), key="value")
        return None
    if "\0" in text:  # PostgreSQL does not accept NUL
        complain(given, "value", place, gettext_noop("%(key)s holds a character that can't be kept."), key="value")
        return None
    if name is RuleName.TAG and not text:
        complain(given, "value", place, gettext_noop("A rule by tag needs the tag as its value."))
        return None
    if name is not RuleName.FIXED:
        return text
    names = text.split(".")
    if not all(is_queue_name(one) for one in names) or len(text) > LONGEST_PATH or text.lower() == ROOT:
        message = gettext_noop("A fixed rule needs a queue below the root as its value, not %(value)s.")
        complain(given, "value", place, message, value=repr(text))
        return None
    if names[0].lower() == ROOT and given.get("parent") is not None:
        message = gettext_noop("A queue that is named from the root on has no parent rule.")
        complain(given, "parent", (*where, "parent"), message)
        return None
    return text


def _filter(given: Mapping[str, Any], where: tuple[str, ...], complain: Complain) -> Filter | None:
    whom = given.get("filter")
    where = (*where, "filter")
    if whom is None:
        return Filter()
    if not isinstance(whom, Mapping):
        complain(given, "filter", where, gettext_noop("%(key)s must be a mapping."), key="filter")
        return None
    sound = _known(whom, _FILTER_FIELDS, where, complain)
    kind = str(whom.get("type") or "allow").lower()
    if kind not in {"allow", "deny"}:
        message = gettext_noop("%(value)s is not one of: %(known)s.")
        complain(whom, "type", (*where, "type"), message, value=kind, known="allow, deny")
        sound = False
    users, groups = _names(whom, "users", where, complain), _names(whom, "groups", where, complain)
    if users is None or groups is None or not sound:
        return None
    return Filter(deny=kind == "deny", users=users, groups=groups)


def _names(whom: Mapping[str, Any], key: str, where: tuple[str, ...], complain: Complain) -> tuple[str, ...] | None:
    given = whom.get(key)
    where = (*where, key)
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MOST_NAMES or not all(map(_can_be_kept, given)):
        message = gettext_noop("%(key)s must be a list of at most %(most)s names.")
        complain(whom, key, where, message, key=key, most=str(MOST_NAMES))
        return None
    if len(given) == 1 and is_expression(given[0]):
        try:
            check(given[0])
        except ExpressionError as error:
            message = gettext_noop("%(value)s is no expression that can be read: %(problem)s.")
            complain(whom, key, where, message, value=repr(given[0]), problem=str(error))
            return None
    return tuple(dict.fromkeys(given))


def _can_be_kept(name: Any) -> bool:
    return isinstance(name, str) and "\0" not in name


def _written(rule: Rule) -> dict[str, Any]:
    whom: dict[str, Any] = {
        "type": "deny" if rule.filter.deny else "allow",
        "users": list(rule.filter.users),
        "groups": list(rule.filter.groups),
    }
    settings: dict[str, Any] = {
        "name": str(rule.name),
        "value": rule.value,
        "create": rule.create,
        "filter": {} if rule.filter == Filter() else {field: value for field, value in whom.items() if value},
        "parent": None if rule.parent is None else _written(rule.parent),
    }
    return {field: value for field, value in settings.items() if value}
