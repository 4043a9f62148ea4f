"""The OpenAPI document as it is sent."""

from functools import cache
from typing import Any

from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.permissions import IsAuthenticated

from scheduler_admin.rest.base import ApiView


class _Kept(SchemaGenerator):
    """Makes the document once in a process: that takes a second, and it says the same to everybody."""

    def get_schema(self, *_request: Any, **_options: Any) -> Any:
        """Return the document in the language of the request."""
        return _document(get_language())


@cache
def _document(_language: str | None) -> Any:
    generator: Any = SchemaGenerator
    return generator().get_schema(public=True)


class SchemaView(ApiView, SpectacularJSONAPIView):
    """The OpenAPI document."""

    actions = {"GET": "view"}

    generator_class = _Kept
    permission_classes = [IsAuthenticated]
