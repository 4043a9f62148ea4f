"""Parses label and field selectors: text or structure in, predicate out."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from simulator.kinds import ApiResource
from simulator.status import bad_request

Predicate = Callable[[Mapping[str, Any]], bool]
Labels = Mapping[str, str]
Requirement = Callable[[Labels], bool]

_SET = re.compile(r"^\s*([^\s!=,()]+)\s+(in|notin)\s*\(([^()]*)\)\s*$")
_COMPARE = re.compile(r"^\s*([^\s!=,()<>]+)\s*(==|=|!=|>|<)\s*([^\s!=,()<>]*)\s*$")
_EXISTS = re.compile(r"^\s*(!?)\s*([^\s!=,()<>]+)\s*$")
_TERM_BREAK = re.compile(r",(?![^()]*\))")


def matcher(kind: ApiResource, label_selector: str | None, field_selector: str | None) -> Predicate | None:
    """Return both selectors as one predicate on objects, None if they select everything.

    Raises ApiError 400 for a selector that can't be parsed or a field that the kind can't be selected by.
    """
    labels = parse_labels(label_selector) if label_selector else []
    fields = parse_fields(kind, field_selector) if field_selector else []
    if not labels and not fields:
        return None

    def matches(obj: Mapping[str, Any]) -> bool:
        labels_of_object = obj["metadata"].get("labels") or {}
        return all(requirement(labels_of_object) for requirement in labels) and all(
            requirement(obj) for requirement in fields
        )

    return matches


def parse_labels(text: str) -> list[Requirement]:
    """Return the requirements of a label selector such as `a=b,c in (d,e),!f`. Raises ApiError 400."""
    return [_requirement(term, text) for term in _TERM_BREAK.split(text) if term.strip()]


def _requirement(term: str, text: str) -> Requirement:
    if match := _SET.match(term):
        values = [value.strip() for value in match[3].split(",")]
        return _operator(match[1], "In" if match[2] == "in" else "NotIn", values)
    if match := _COMPARE.match(term):
        operator = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}[match[2]]
        return _operator(match[1], operator, [match[3]])
    if match := _EXISTS.match(term):
        return _operator(match[2], "DoesNotExist" if match[1] else "Exists", [])
    raise bad_request(f"unable to parse requirement: invalid selector: {text!r}; can't understand {term.strip()!r}")


def _operator(key: str, operator: str, values: list[str]) -> Requirement:
    match operator:
        case "In":
            return lambda labels: labels.get(key) in values
        case "NotIn":
            return lambda labels: labels.get(key) not in values
        case "Exists":
            return lambda labels: key in labels
        case "DoesNotExist":
            return lambda labels: key not in labels
        case "Gt" | "Lt":
            return _comparison(key, operator, values[0])
    raise bad_request(f'"{operator}" is not a valid label selector operator')


def _comparison(key: str, operator: str, value: str) -> Requirement:
    try:
        border = int(value)
    except ValueError:
        message = f"unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer: {value!r}"
        raise bad_request(message) from None

    def compares(labels: Labels) -> bool:
        try:
            number = int(labels[key])
        except (KeyError, ValueError):
            return False
        return number > border if operator == "Gt" else number < border

    return compares


def match_labels(selector: Mapping[str, Any] | None, labels: Labels | None) -> bool:
    """Return whether labels satisfy a LabelSelector object; None selects nothing, an empty one everything."""
    if selector is None:
        return False
    known_labels = labels or {}
    exact = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or ()
    return all(known_labels.get(key) == value for key, value in exact.items()) and all(
        _operator(item["key"], item["operator"], list(item.get("values") or ()))(known_labels) for item in expressions
    )


def parse_fields(kind: ApiResource, text: str) -> list[Predicate]:
    """Return the requirements of a field selector such as `spec.nodeName=a,type!=Normal`. Raises ApiError 400."""
    return [_field(kind, term, text) for term in text.split(",") if term.strip()]


def _field(kind: ApiResource, term: str, text: str) -> Predicate:
    match = re.match(r"^\s*([^!=]+?)\s*(==|=|!=)\s*(.*?)\s*$", term)
    if not match:
        raise bad_request(f"invalid selector: {text!r}; can't understand {term!r}")
    path, value, equal = match[1], match[3], match[2] != "!="
    supported = ("metadata.name", "metadata.namespace") if kind.namespaced else ("metadata.name",)
    if path not in supported and path not in kind.fields:
        if kind.custom or not kind.fields:
            raise bad_request(f"field label not supported: {path}")
        raise bad_request(
            f'field label "{path}" not supported for {kind.kind}'
            if kind.group
            else f"field label not supported: {path}"
        )
    steps = path.split(".")
    return lambda obj: (field_text(obj, steps) == value) is equal


def field_text(obj: Mapping[str, Any], steps: list[str]) -> str:
    """Return the field at a path as selectors compare it: absent is empty, booleans are lower case."""
    value: Any = obj
    for step in ["metadata", "name"] if steps == ["name"] else steps:
        value = value.get(step) if isinstance(value, Mapping) else None
    if steps == ["source"] and isinstance(value, Mapping):
        value = value.get("component")
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "false" if steps[-1] in ("unschedulable", "hostNetwork") else ""
    return str(value)
