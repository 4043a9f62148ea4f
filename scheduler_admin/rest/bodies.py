"""Bodies in JSON: read whole, and refused with everything that is wrong, each at its place."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from rest_framework import serializers

from scheduler_admin.rest import problems

REFUSED = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (403, 422)}


def read_body(
    serializer: serializers.BaseSerializer[Any], given: Any, refusal: type[problems.Refusal] = problems.Unacceptable
) -> dict[str, Any]:
    """What was sent, read. Raises the refusal with every error, for unknown members and other types too."""
    errors = list(_misread(serializer, given))
    if not serializer.is_valid():
        known = [error["pointer"] for error in errors]
        errors += [error for error in problems.each_at(serializer.errors) if error.get("pointer") not in known]
    if errors:
        raise refusal(errors)
    found: dict[str, Any] = serializer.validated_data
    return found


@contextmanager
def named_as_sent(body: serializers.Serializer[Any]) -> Iterator[None]:
    """Name what a service refuses as the body does, where it has the service's fields under other names."""
    try:
        yield
    except ValidationError as error:
        if not hasattr(error, "error_dict"):
            raise
        names = {str(field.source): name for name, field in body.fields.items()}
        raise ValidationError({names.get(name, name): each for name, each in error.message_dict.items()}) from None


_TYPES: Mapping[type[serializers.Field[Any, Any, Any, Any]], tuple[type, ...]] = {
    serializers.CharField: (str,),
    serializers.BooleanField: (bool,),
    serializers.IntegerField: (int,),
    serializers.FloatField: (int, float),
}
"""Field -> what JSON has for it. DRF would make a text of a number, and a number or a truth of a text."""


def _misread(reader: Any, given: Any, place: str = "") -> Iterator[dict[str, str]]:
    """Members that nothing reads, and those of another type than the document says, however deep."""
    if isinstance(reader, serializers.ListSerializer | serializers.ListField):
        for index, each in enumerate(given if isinstance(given, list) else ()):
            yield from _misread(reader.child, each, place + problems.pointer(index))
    elif isinstance(reader, serializers.DictField):
        for name, each in given.items() if isinstance(given, dict) else ():
            yield from _misread(reader.child, each, place + problems.pointer(name))
    elif isinstance(reader, serializers.Serializer):
        for name, member in given.items() if isinstance(given, dict) else ():
            below = place + problems.pointer(name)
            if name in reader.fields:
                yield from _misread(reader.fields[name], member, below)
            else:
                yield {"detail": _("Unknown field."), "pointer": below}
    elif given is not None and _is_other(reader, given):
        yield {"detail": str(reader.error_messages["invalid"]), "pointer": place}


def _is_other(field: serializers.Field[Any, Any, Any, Any], value: Any) -> bool:
    types = next((types for kind, types in _TYPES.items() if isinstance(field, kind)), None)
    return types is not None and type(value) not in types  # to Python a truth is a number too
