"""Reads one kind of object, and turns whatever is wrong with one into an error that names it."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from engine.formats.kubernetes.wire import NamedObject, Wire

Read = TypeVar("Read")
Wired = TypeVar("Wired", bound=Wire)


class DecodeError(ValueError):
    """An object that can't be read: ``kind``, ``name`` (``namespace/name`` or empty) and a ``sentence`` for people."""

    def __init__(self, kind: str, name: str, sentence: str) -> None:
        super().__init__(f"{kind} {name or 'without a name'}: {sentence}")
        self.kind = kind
        self.name = name
        self.sentence = sentence


class Reader(Generic[Wired, Read]):
    """Reads one kind, from dictionaries or bytes, and turns whatever goes wrong into DecodeError."""

    def __init__(self, kind: str, wire: type[Wired], convert: Callable[[Wired], Read]) -> None:
        """``convert`` makes the engine's type of what ``wire`` describes."""
        self.kind = kind
        self._wire: type[Wired] = wire
        self._convert: Callable[[Wired], Read] = convert
        self._decoder: msgspec.json.Decoder[Wired] = msgspec.json.Decoder(wire)

    def from_dict(self, obj: Any) -> Read:
        """One given as plain dictionaries. Raises DecodeError."""
        try:
            return self._convert(msgspec.convert(obj, self._wire))
        except (ValueError, ArithmeticError, RecursionError) as error:
            raise DecodeError(self.kind, _identity(obj), _sentence(error)) from error

    def from_bytes(self, data: bytes | msgspec.Raw) -> Read:
        """One given as JSON. Raises DecodeError."""
        try:
            return self._convert(self._decoder.decode(data))
        except (ValueError, ArithmeticError, RecursionError) as error:
            raise DecodeError(self.kind, _identity_of_bytes(data), _sentence(error)) from error


def _sentence(error: Exception) -> str:
    return str(error) or type(error).__name__


def _identity(obj: Any) -> str:
    meta = obj.get("metadata") if isinstance(obj, Mapping) else None
    if not isinstance(meta, Mapping):
        return ""
    return "/".join(part for part in (meta.get("namespace"), meta.get("name")) if part and isinstance(part, str))


def _identity_of_bytes(data: bytes | msgspec.Raw) -> str:
    try:
        meta = msgspec.json.decode(data, type=NamedObject).metadata
    except (ValueError, RecursionError):
        return ""
    return "/".join(part for part in (meta.namespace, meta.name) if part)
