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


def read_rules(documents: Any, complain: Complain) -> tuple[Rule, ...]:
    """Return the rules in a list; rules that can't be read are left out and reported through ``complain``."""
    if documents is None:
        return ()
    if not isinstance(documents, list):
        complain(documents, "", (), gettext_noop("%(key)s must be a list."), key="placement")
        return ()
    if len(documents) > MOST_RULES:
        complain(documents, "", (), gettext_noop("There are more than %(most)s rules."), most=str(MOST_RULES))
        return ()
    rules = [_rule(document, (str(index),), complain, DEEPEST_RULE) for index, document in enumerate(documents)]
    return tuple(rule for rule in rules if rule is not None)


def write_rules(rules: tuple[Rule, ...]) -> list[dict[str, Any]]:
    """Return the rules as ``read_rules`` reads them back, without unset settings."""
    return [_written(rule) for rule in rules]


def _rule(fields: Any, where: tuple[str, ...], complain: Complain, deepest: int) -> Rule | None:
    if not isinstance(fields, Mapping):
        complain(fields, "", where, gettext_noop("A rule must be a mapping with a name."))
        return None
    if deepest == 0:
        complain(
            fields, "", where, gettext_noop("Rules are nested more than %(most)s levels deep."), most=str(DEEPEST_RULE)
        )
        return None
    sound = _known(fields, _FIELDS, where, complain)
    name = str(fields.get("name") or "").lower()
    if name not in list(RuleName):
        known = ", ".join(RuleName)
        message = gettext_noop("%(value)s is not allowed. Allowed values: %(known)s.")
        complain(fields, "name", (*where, "name"), message, value=repr(name), known=known)
        return None
    create = fields.get("create", False)
    if not isinstance(create, bool):
        complain(fields, "create", (*where, "create"), gettext_noop("%(key)s must be true or false."), key="create")
        sound = False
    above = fields.get("parent")
    parent = None if above is None else _rule(above, (*where, "parent"), complain, deepest - 1)
    value = _value(fields, RuleName(name), where, complain)
    rule_filter = _filter(fields, where, complain)
    if value is None or rule_filter is None or (above is not None and parent is None) or not sound:
        return None
    return Rule(name=RuleName(name), value=value, create=bool(create), filter=rule_filter, parent=parent)


def _known(fields: Mapping[str, Any], known: tuple[str, ...], where: tuple[str, ...], complain: Complain) -> bool:
    more = sorted({str(key) for key in fields} - set(known))
    for name in more:
        message = gettext_noop("%(name)s is not a known setting. Known settings: %(known)s.")
        complain(fields, name, (*where, name), message, name=name, known=", ".join(known))
    return not more


def _value(fields: Mapping[str, Any], name: RuleName, where: tuple[str, ...], complain: Complain) -> str | None:
    value = fields.get("value")
    text = "" if value is None else str(value)
    place = (*where, "value")
    if isinstance(value, Mapping | list):
        complain(fields, "value", place, gettext_noop("%(key)s must be a string."), key="value")
        return None
    if "\0" in text:  # PostgreSQL does not accept NUL
        complain(
            fields, "value", place, gettext_noop("%(key)s contains a character that can't be stored."), key="value"
        )
        return None
    if name is RuleName.TAG and not text:
        complain(fields, "value", place, gettext_noop("A tag rule needs the tag name as its value."))
        return None
    if name is not RuleName.FIXED:
        return text
    names = text.split(".")
    if not all(is_queue_name(part) for part in names) or len(text) > LONGEST_PATH or text.lower() == ROOT:
        message = gettext_noop("The value of a fixed rule must be a queue below the root, not %(value)s.")
        complain(fields, "value", place, message, value=repr(text))
        return None
    if names[0].lower() == ROOT and fields.get("parent") is not None:
        message = gettext_noop("A fixed rule whose value begins with root can't have a parent rule.")
        complain(fields, "parent", (*where, "parent"), message)
        return None
    return text


def _filter(rule_fields: Mapping[str, Any], where: tuple[str, ...], complain: Complain) -> Filter | None:
    filter_fields = rule_fields.get("filter")
    where = (*where, "filter")
    if filter_fields is None:
        return Filter()
    if not isinstance(filter_fields, Mapping):
        complain(rule_fields, "filter", where, gettext_noop("%(key)s must be a mapping."), key="filter")
        return None
    sound = _known(filter_fields, _FILTER_FIELDS, where, complain)
    kind = str(filter_fields.get("type") or "allow").lower()
    if kind not in {"allow", "deny"}:
        message = gettext_noop("%(value)s is not allowed. Allowed values: %(known)s.")
        complain(filter_fields, "type", (*where, "type"), message, value=kind, known="allow, deny")
        sound = False
    users, groups = _names(filter_fields, "users", where, complain), _names(filter_fields, "groups", where, complain)
    if users is None or groups is None or not sound:
        return None
    return Filter(deny=kind == "deny", users=users, groups=groups)


def _names(
    filter_fields: Mapping[str, Any], key: str, where: tuple[str, ...], complain: Complain
) -> tuple[str, ...] | None:
    names = filter_fields.get(key)
    where = (*where, key)
    if names is None:
        return ()
    if not isinstance(names, list) or len(names) > MOST_NAMES or not all(map(_can_be_kept, names)):
        message = gettext_noop("%(key)s must be a list of at most %(most)s names.")
        complain(filter_fields, key, where, message, key=key, most=str(MOST_NAMES))
        return None
    if len(names) == 1 and is_expression(names[0]):
        try:
            check(names[0])
        except ExpressionError as error:
            message = gettext_noop("%(value)s is not a valid regular expression: %(problem)s.")
            complain(filter_fields, key, where, message, value=repr(names[0]), problem=str(error))
            return None
    return tuple(dict.fromkeys(names))


def _can_be_kept(name: Any) -> bool:
    return isinstance(name, str) and "\0" not in name


def _written(rule: Rule) -> dict[str, Any]:
    filter_fields: dict[str, Any] = {
        "type": "deny" if rule.filter.deny else "allow",
        "users": list(rule.filter.users),
        "groups": list(rule.filter.groups),
    }
    settings: dict[str, Any] = {
        "name": str(rule.name),
        "value": rule.value,
        "create": rule.create,
        "filter": {} if rule.filter == Filter() else {field: value for field, value in filter_fields.items() if value},
        "parent": None if rule.parent is None else _written(rule.parent),
    }
    return {field: value for field, value in settings.items() if value}
