"""What a policy may be told by a revision: the fields of its ``Parameters``, for those who edit them."""

from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec


class Parameter(msgspec.Struct, frozen=True):
    """One parameter, its values as people choose them: ``true``, ``daemonset``."""

    name: str
    choices: tuple[str, ...]
    default: str
    """The one that counts where a revision says nothing."""


def described(kind: type[msgspec.Struct]) -> tuple[Parameter, ...]:
    """The fields of a policy's ``Parameters``, in their order. Raises TypeError for one that is no choice."""
    hints = get_type_hints(kind)
    return tuple(
        Parameter(field.name, _choices(hints[field.name]), text_of(field.default))
        for field in msgspec.structs.fields(kind)
    )


def value_of(parameter: Parameter, text: str) -> Any:
    """What a choice means to the policy. Raises ValueError for a text that is none."""
    if text not in parameter.choices:
        raise ValueError(text)
    return {"true": True, "false": False}.get(text, text)


def text_of(value: Any) -> str:
    """A value as the choice that it is; whatever no parameter can hold is written as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()


def _choices(hint: Any) -> tuple[str, ...]:
    if hint is bool:
        return ("true", "false")
    if get_origin(hint) is Literal:
        return tuple(get_args(hint))
    raise TypeError(f"a parameter is a choice, not {hint}")
