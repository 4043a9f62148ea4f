"""What a policy may be told by a revision: the fields of its ``Parameters``, for those who edit them."""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

Parameters = TypeVar("Parameters", bound=msgspec.Struct)


class Parameter(msgspec.Struct, frozen=True):
    """One parameter, its values as people choose them: ``true``, ``daemonset``; or names, typed with commas."""

    name: str
    choices: tuple[str, ...]
    """None of one that is a list of names."""
    default: str
    """The one that counts where a revision says nothing."""


def described(kind: type[msgspec.Struct]) -> tuple[Parameter, ...]:
    """The fields of a policy's ``Parameters``, in their order. Raises TypeError for one that is none of these."""
    hints = get_type_hints(kind)
    return tuple(
        Parameter(field.name, _choices(hints[field.name]), text_of(field.default))
        for field in msgspec.structs.fields(kind)
    )


def value_of(parameter: Parameter, text: str) -> Any:
    """What a text means to the policy. Raises ValueError for one that is none of the choices."""
    if not parameter.choices:
        return [name for name in map(str.strip, text.split(",")) if name]
    if text not in parameter.choices:
        raise ValueError(text)
    return {"true": True, "false": False}.get(text, text)


def text_of(value: Any) -> str:
    """A value as it is chosen or typed; whatever no parameter can hold is written as JSON."""
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
