"""Descriptions of the parameters that a revision may set for a policy, for forms that edit them."""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

Parameters = TypeVar("Parameters", bound=msgspec.Struct)


class Parameter(msgspec.Struct, frozen=True):
    """One parameter of a policy, with its values as text that a person chooses or types.

    The value is one of the choices (``true``, ``daemonset``) or a list of names separated by commas.
    """

    name: str
    choices: tuple[str, ...]
    """The possible values. Empty if the value is a list of names."""
    default: str
    """The value that applies if a revision does not set the parameter."""


def describe_parameters(kind: type[msgspec.Struct]) -> tuple[Parameter, ...]:
    """Return the fields of a policy's ``Parameters`` in their order. Raises TypeError for an unsupported field type."""
    hints = get_type_hints(kind)
    return tuple(
        Parameter(field.name, _choices(hints[field.name]), format_value(field.default))
        for field in msgspec.structs.fields(kind)
    )


def parse_value(parameter: Parameter, text: str) -> Any:
    """Return the value of a parameter for a chosen or typed text. Raises ValueError if it is not one of the choices."""
    if not parameter.choices:
        return [name for name in map(str.strip, text.split(",")) if name]
    if text not in parameter.choices:
        raise ValueError(text)
    return {"true": True, "false": False}.get(text, text)


def format_value(value: Any) -> str:
    """Return a value as the text that a person would choose or type. A value of any other type is written as JSON."""
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return ", ".join(value)
    return value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()


def _choices(hint: Any) -> tuple[str, ...]:
    if hint is bool:
        return ("true", "false")
    if get_origin(hint) is Literal:
        return tuple(get_args(hint))
    if hint == tuple[str, ...]:
        return ()
    raise TypeError(f"a parameter is a choice or names, not {hint}")


def known_parameters(parameters: Mapping[str, Any], kind: type[Parameters]) -> Parameters:
    """Return those of a revision's parameters that a type has, with its defaults for the others."""
    names = kind.__struct_fields__
    return msgspec.convert({name: value for name, value in parameters.items() if name in names}, kind)
