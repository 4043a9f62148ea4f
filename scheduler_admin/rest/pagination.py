"""Pages that stay put while rows come in and go: found by the place where the last one ended."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from scheduler_admin.core.paging import Cursor, cut, newest

PAGE = 50
LARGEST_PAGE = 500
M = TypeVar("M", bound=Model)


@extend_schema_field(OpenApiTypes.STR)
class CursorField(serializers.Field[Cursor, str, str, Cursor]):
    """A place in the history as an opaque text."""

    default_error_messages = {"cursor": _("This cursor is not valid. Use a cursor that the API returned.")}

    def to_internal_value(self, data: str) -> Cursor:
        """Read back what ``to_representation`` wrote."""
        try:
            microseconds, _dot, pk = urlsafe_b64decode(data.encode()).decode().partition(".")
            at = datetime.fromtimestamp(0, UTC) + int(microseconds) * datetime.resolution
            place = Cursor(at, int(pk))
        except (ValueError, OverflowError, binascii.Error):
            self.fail("cursor")
        if not 0 <= place.pk < 2**63:
            self.fail("cursor")
        return place

    def to_representation(self, value: Cursor) -> str:
        """Exact to the microsecond, as the database is."""
        since = value.at - datetime.fromtimestamp(0, UTC)
        return urlsafe_b64encode(f"{since // datetime.resolution}.{value.pk}".encode()).decode()


@extend_schema_field(OpenApiTypes.STR)
class TextsField(serializers.Field[tuple[str, str], str, str, tuple[str, str]]):
    """A place among rows that are in the order of two texts, as an opaque text."""

    default_error_messages = CursorField.default_error_messages

    def to_internal_value(self, data: str) -> tuple[str, str]:
        """Read back what ``to_representation`` wrote."""
        try:
            one, other = urlsafe_b64decode(data.encode()).decode().split("\n")
        except ValueError:  # of base64, of UTF-8, or more or fewer than two
            self.fail("cursor")
        if "\0" in one + other:  # which no database takes
            self.fail("cursor")
        return one, other

    def to_representation(self, value: tuple[str, str]) -> str:
        """Neither has a newline in it."""
        return urlsafe_b64encode("\n".join(value).encode()).decode()


class LimitParameters(serializers.Serializer[Any]):
    """How long a page is."""

    limit = serializers.IntegerField(
        required=False, default=PAGE, min_value=1, max_value=LARGEST_PAGE, help_text="Number of results per page."
    )


class PageParameters(LimitParameters):
    """Which page, and how long."""

    cursor = CursorField(required=False, help_text="Position of the page, from `next` of the previous page.")


class NumberedPageParameters(LimitParameters):
    """Which page of rows that are numbered, and how long."""

    cursor = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Position of the page, from `next` of the previous page.",
    )


class NewestFirst:
    """Keyset pagination over a time and the id: a page is found by its place, never by a count."""

    def __init__(self, asked: Mapping[str, Any], by: str = "first_seen", number: str = "pk") -> None:
        self.after: Cursor | None = asked.get("cursor")
        self.limit: int = asked["limit"]
        self.by, self.number = by, number

    def page(self, rows: QuerySet[M]) -> tuple[list[M], Cursor | None]:
        """Return the rows of this page, and the place of the next if there is one."""
        return newest(rows, self.after, self.limit, self.by, self.number)

    def cut(self, found: list[M]) -> tuple[list[M], Cursor | None]:
        """Return the page out of its rows and one more, if there is any, and the place of the next."""
        return cut(found, self.limit, self.by)


def next_link(request: Request, place: Cursor | int | str | None) -> str | None:
    """The same query one page on, at a place, or at a cursor that is written already; None on the last."""
    if place is None:
        return None
    cursor = CursorField().to_representation(place) if isinstance(place, Cursor) else place
    return str(replace_query_param(request.build_absolute_uri(), "cursor", cursor))
