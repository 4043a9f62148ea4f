"""Schemas that code generators read in one way only: without what Python alone understands, or two readings fit."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

_NAMED_GROUP = re.compile(r"\(\?P<\w+>")
_BLANK, _NULL = ("#/components/schemas/BlankEnum", "#/components/schemas/NullEnum")
_NO_TEXT = {"type": "string", "maxLength": 0}


def simplify(document: dict[str, Any]) -> None:
    """Simplify every schema and every query parameter of the document."""
    schemas = document["components"]["schemas"]
    for node in _nodes(document):
        if isinstance(pattern := node.get("pattern"), str):
            node["pattern"] = _NAMED_GROUP.sub("(", pattern)
        if isinstance(several := node.get("oneOf"), list):
            _simplify_union(node, several, schemas)
        if isinstance(kinds := node.get("discriminator"), dict):
            _tell_apart(kinds, schemas)
    _forget_unused(document)
    for operation in operations(document):
        for parameter in operation.get("parameters", ()):
            _simplify_parameter(parameter["schema"])


def operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every operation of the document."""
    for methods in document["paths"].values():
        yield from methods.values()


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of the document, the inner ones first."""
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _nodes(each)
    if isinstance(node, dict):
        yield node


def _simplify_union(node: dict[str, Any], several: list[dict[str, Any]], schemas: Mapping[str, Any]) -> None:
    """Make one schema of a text and the empty text, and of an enumeration with the empty text or null."""
    if _NO_TEXT in several:
        (text,) = (each for each in several if each != _NO_TEXT)
        node |= _or_empty(text)
        del node["oneOf"]
        return
    names = [each.get("$ref") for each in several]
    if _BLANK in names:
        values = [value for name in names if name not in {_BLANK, _NULL} for value in _enum(str(name), schemas)]
        null = [None] if _NULL in names else []
        node |= {"type": ["string", "null"] if null else "string", "enum": [*values, "", *null]}
        del node["oneOf"]
    elif _NULL in names:
        node["oneOf"] = [{"type": "null"} if each.get("$ref") == _NULL else each for each in several]


def _tell_apart(kinds: Mapping[str, Any], schemas: Mapping[str, Any]) -> None:
    """List in each schema of a union the values of the member that tells them apart."""
    values: dict[str, list[str]] = defaultdict(list)
    for value, name in kinds["mapping"].items():
        values[name.rpartition("/")[2]].append(value)
    for name, of_schema in values.items():
        member = schemas[name]["properties"][kinds["propertyName"]]
        member["enum"] = of_schema
        member.pop("minLength", None)


def _forget_unused(document: Mapping[str, Any]) -> None:
    """Leave out enumerations that nothing names any longer."""
    used = {node["$ref"] for node in _nodes(document) if "$ref" in node}
    schemas = document["components"]["schemas"]
    for name in [name for name in schemas if "enum" in schemas[name] or schemas[name].get("type") == "null"]:
        if f"#/components/schemas/{name}" not in used:
            del schemas[name]


def _or_empty(text: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a text that can be empty: a format such as an email address would not fit."""
    found = {name: value for name, value in text.items() if name != "format"}
    return found | ({"pattern": f"^$|{found['pattern']}"} if "pattern" in found else {})


def _enum(reference: str, schemas: Mapping[str, Any]) -> list[Any]:
    values: list[Any] = schemas[reference.rpartition("/")[2]]["enum"]
    return values


def _simplify_parameter(schema: dict[str, Any]) -> None:
    """Leave out a default that means that nothing was sent, and null, which no query can hold."""
    if schema.get("default", "x") in {"", None}:
        del schema["default"]
    if isinstance(kinds := schema.get("type"), list):
        (schema["type"],) = (kind for kind in kinds if kind != "null")
