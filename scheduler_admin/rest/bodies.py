"""Bodies in JSON: read whole, and refused with everything that is wrong, each at its place."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from scheduler_admin.rest import problems

REFUSED = {(code, problems.MEDIA_TYPE): problems.ProblemSerializer for code in (403, 422)}


class Unacceptable(problems.Refusal):
    """Values that can't be."""

    status_code = 422
    default_detail = gettext_lazy("This can't be done.")


def unacceptable(error: ValidationError) -> Unacceptable:
    """What a service turned away, each at its place in the body: it names fields as pointers do."""
    if not hasattr(error, "error_dict"):
        return Unacceptable([{"detail": message} for message in error.messages])
    return Unacceptable(
        [
            {"detail": message, "pointer": "" if field == NON_FIELD_ERRORS else f"/{field}"}
            for field, messages in error.message_dict.items()
            for message in messages
        ]
    )


def read_body(
    serializer: serializers.BaseSerializer[Any], given: Any, refusal: type[problems.Refusal] = Unacceptable
) -> dict[str, Any]:
    """What was sent, read. Raises the refusal with every error, for unknown members too."""
    errors = list(_unknown(serializer, given))
    if not serializer.is_valid():
        errors += problems.each_at(serializer.errors)
    if errors:
        raise refusal(errors)
    found: dict[str, Any] = serializer.validated_data
    return found


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
                yield {"detail": _("There is no such member."), "pointer": below}
