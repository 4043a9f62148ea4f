"""The settings of queues in REST, by their table: in our own form, and of a queue of a cluster."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rest_framework import serializers

from engine.model.queue_settings import SETTINGS, Kind, QueueSetting
from scheduler_admin.rest.fields import AmountsField, TakeField, WeightField

_Field = serializers.Field[Any, Any, Any, Any]
_ELSEWHERE = ("parent", "guaranteed", "max", "delay", "quota_delay")
"""The settings that a queue of a cluster shows in another form, as what is in effect."""
_FORM: Mapping[Kind, Callable[..., _Field]] = {
    Kind.AMOUNTS: lambda **more: serializers.DictField(child=serializers.CharField(), **more),
    Kind.DURATION: serializers.CharField,
    Kind.INTEGER: serializers.IntegerField,
    Kind.FLAG: serializers.BooleanField,
    Kind.WEIGHT: serializers.CharField,
    Kind.NAMES: lambda **more: serializers.ListField(child=serializers.CharField(), **more),
}


def form_fields(settings: Iterable[QueueSetting]) -> dict[str, _Field]:
    """Return the fields of a queue, or a template, in our own form, by name; all may be left out."""
    return {one.name: _form_field(one) for one in settings}


def _form_field(setting: QueueSetting) -> _Field:
    more: dict[str, Any] = {"required": False, "help_text": setting.schema_help}
    if setting.kind is Kind.CHOICE:
        return serializers.ChoiceField([str(value) for value in setting.values], **more)
    return _FORM[setting.kind](**more)


def shown_fields() -> dict[str, _Field]:
    """Return the fields of a queue of a cluster that show its own settings, by name; ``queue`` is a row of the tree."""
    shown = (one for one in SETTINGS if one.name not in _ELSEWHERE and one.kind is not Kind.NAMES)
    return {one.attribute: _shown_field(one) for one in shown}


def _shown_field(setting: QueueSetting) -> _Field:
    more: dict[str, Any] = {"source": f"queue.own.{setting.attribute}", "help_text": setting.schema_help}
    may_be_null = setting.default is None
    match setting.kind:
        case Kind.AMOUNTS:
            return AmountsField(**more)
        case Kind.WEIGHT:
            return WeightField(**more)
        case Kind.CHOICE if may_be_null:
            return TakeField(setting.values, **more)
        case Kind.CHOICE:
            return serializers.ChoiceField([str(value) for value in setting.values], **more)
        case Kind.FLAG:
            return serializers.BooleanField(allow_null=may_be_null, **more)
        case _:
            return serializers.IntegerField(allow_null=may_be_null, **more)
