"""Bodies in JSON: read whole, and refused with everything that is wrong, each at its place."""

from collections.abc import Iterator
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
    """What was sent, read. Raises the refusal with every error, for unknown members too."""
    errors = list(_unknown(serializer, given))
    if not serializer.is_valid():
        errors += problems.each_at(serializer.errors)
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


def _unknown(reader: Any, given: Any, place: str = "") -> Iterator[dict[str, str]]:
    """Members that nothing reads, however deep."""
    if isinstance(reader, serializers.ListSerializer) and isinstance(given, list):
        for index, each in enumerate(given):
            yield from _unknown(reader.child, each, place + problems.pointer(index))
    elif isinstance(reader, serializers.Serializer) and isinstance(given, dict):
        for name, member in given.items():
            below = place + problems.pointer(name)
            if name in reader.fields:
                yield from _unknown(reader.fields[name], member, below)
            else:
                yield {"detail": _("Unknown field."), "pointer": below}
