"""Fields of the answers: amounts as people type them, times in UTC."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, time
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from engine.model.quantities import format_amounts
from engine.model.queue_tree import PreemptionPolicy, write_weight
from engine.observation.lost_work import format_work

QUEUE_POLICIES = [policy.value for policy in PreemptionPolicy]
T = TypeVar("T")


def represent(kind: type[serializers.Serializer[T]], instance: Any, **context: Any) -> dict[str, Any]:
    """Return an object as it is sent.

    A serializer keeps what its ``data`` is asked for, and its fields refer to it. So the object and the answer would
    stay in memory until the garbage collector looks at them. This way they are free as soon as the answer is sent.
    """
    sent: dict[str, Any] = kind(context=context).to_representation(instance)
    return sent


class RowSerializer(serializers.Serializer[T]):
    """Objects of which an answer has many: how each field is read is looked up once for all of them.

    They have attributes: neither mappings nor methods are looked into, as other serializers do for each value.
    """

    @cached_property
    def _columns(self) -> list[tuple[str, Callable[[Any], Any], type | None, Any]]:
        fields = self._readable_fields
        return [(str(field.field_name), _reader(field), _AS_IT_IS.get(type(field)), field) for field in fields]

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Return each field; null where something on the way to its value is missing and it may be null."""
        sent = {}
        for name, read, plain, field in self._columns:
            try:
                value = read(instance)
            except AttributeError:
                value = field.get_attribute(instance)
            sent[name] = value if value is None or type(value) is plain else field.to_representation(value)
        return sent


_AS_IT_IS: Mapping[type, type] = {
    serializers.BooleanField: bool,
    serializers.CharField: str,
    serializers.ChoiceField: str,
    serializers.IntegerField: int,
}
"""Field -> the type of which it sends values as they are."""


def _reader(field: Any) -> Callable[[Any], Any]:
    return field.get_attribute if field.source == "*" else attrgetter(field.source)


class UtcField(serializers.DateTimeField):
    """RFC 3339 in UTC, whatever zone the viewer has chosen for the pages."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"default_timezone": UTC, **kwargs})

    def to_representation(self, value: Any) -> str:
        """Write the times of rows, which are in UTC, without asking for their zone."""
        if isinstance(value, datetime) and value.tzinfo is UTC:
            return value.isoformat().removesuffix("+00:00") + "Z"
        other: str = super().to_representation(value)
        return other


class QueryFlagField(serializers.BooleanField):
    """True or false in a query; None where the query does not say."""

    default_empty_html = empty
    """A form without a field means false, a query without a parameter means nothing."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "default": None, **kwargs})


_CLOCK = r"^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$"


@extend_schema_field({"type": "string", "pattern": _CLOCK, "example": "22:30:00"})
class ClockField(serializers.TimeField):
    """An hour on the clock of a place, so without a zone: ``22:30`` or ``22:30:00``."""

    def to_internal_value(self, value: time | str) -> time:
        """Refuse what reads as a time and says more than the clock does: its zone would be dropped unsaid."""
        if not isinstance(value, str) or not re.fullmatch(_CLOCK, value):
            self.fail("invalid", format="hh:mm[:ss]")
        return super().to_internal_value(value)


@extend_schema_field(OpenApiTypes.DOUBLE)
class SecondsField(serializers.Field[int, Any, float, Any]):
    """A length of time in seconds, of what is stored in smaller units: ``0.0123``."""

    def __init__(self, *, per_second: int, **kwargs: Any) -> None:
        super().__init__(**{"read_only": True, **kwargs})
        self.per_second = per_second

    def to_representation(self, value: int) -> float:
        """Seconds of it."""
        return value / self.per_second


_AMOUNTS = {
    "type": "object",
    "additionalProperties": {"type": "string"},
    "example": {"cpu": "1500m", "memory": "32Gi"},
}


@extend_schema_field(_AMOUNTS)
class AmountsField(serializers.Field[Mapping[str, int], Any, dict[str, str], Mapping[str, int]]):
    """Resource -> canonical quantity: ``1500m``, ``32Gi``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"read_only": True, **kwargs})

    def to_representation(self, value: Mapping[str, int]) -> dict[str, str]:
        """Integers as quantities, resources in the order of their names."""
        return format_amounts(dict(sorted(value.items())))


@extend_schema_field({"type": "string", "example": "0.5"})
class WeightField(serializers.Field[int, Any, str, int]):
    """A weight of fair sharing: ``2``, ``0.5``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"read_only": True, **kwargs})

    def to_representation(self, value: int) -> str:
        """Billionths as people type them."""
        return write_weight(value)


class TakeField(serializers.ChoiceField):
    """Whom a queue may preempt; null: as the policy says."""

    def __init__(self, choices: Iterable[StrEnum], **kwargs: Any) -> None:
        super().__init__([one.value for one in choices], **{"allow_null": True, **kwargs})


_WORK = {
    "type": "object",
    "additionalProperties": {"type": "string"},
    "example": {"cpu": "68040.5", "memory": "389640355840000"},
}


@extend_schema_field(_WORK)
class WorkField(AmountsField):
    """Resource -> work, an exact decimal: core seconds, byte seconds, device seconds."""

    def to_representation(self, value: Mapping[str, int]) -> dict[str, str]:
        """Resources in the order of their names."""
        return format_work(dict(sorted(value.items())))


@extend_schema_field(OpenApiTypes.OBJECT)
class DocumentField(serializers.Field[Any, Any, Any, Any]):
    """Plain JSON of the engine, as stored. Its amounts are integers: thousandths of a core, bytes, counts."""

    def to_representation(self, value: Any) -> Any:
        """As it is."""
        return value
