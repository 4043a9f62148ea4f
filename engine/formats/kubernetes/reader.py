"""A decoder for one kind of object, whose errors name the object."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from engine.formats.kubernetes.wire import NamedObject, Wire

Read = TypeVar("Read")
Wired = TypeVar("Wired", bound=Wire)


class DecodeError(ValueError):
    """An object that can't be read: ``kind``, ``name`` (``namespace/name`` or empty) and a ``sentence`` for users."""

    def __init__(self, kind: str, name: str, sentence: str) -> None:
        super().__init__(f"{kind} {name or 'without a name'}: {sentence}")
        self.kind = kind
        self.name = name
        self.sentence = sentence


class Reader(Generic[Wired, Read]):
    """Decodes objects of one kind from dictionaries or JSON, and turns every failure into DecodeError."""

    def __init__(self, kind: str, wire: type[Wired], convert: Callable[[Wired], Read]) -> None:
        """Create a reader; ``convert`` turns an object described by ``wire`` into the engine's type."""
        self.kind = kind
        self._wire: type[Wired] = wire
        self._convert: Callable[[Wired], Read] = convert
        self._decoder: msgspec.json.Decoder[Wired] = msgspec.json.Decoder(wire)

    def from_dict(self, obj: Any) -> Read:
        """Decode an object given as plain dictionaries. Raise DecodeError if it is invalid."""
        try:
            return self._convert(msgspec.convert(obj, self._wire))
        except (ValueError, ArithmeticError, RecursionError) as error:
            raise DecodeError(self.kind, _identity(obj), _sentence(error)) from error

    def from_bytes(self, data: bytes | msgspec.Raw) -> Read:
        """Decode an object given as JSON. Raise DecodeError if it is invalid."""
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
