"""``?fields=``: which members of an answer are wanted."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.serializers import ListSerializer, Serializer
from rest_framework.views import APIView

from scheduler_admin.rest import problems
from scheduler_admin.rest.media import OWN_FORM

FIELDS = "fields"
LISTED = "results"


@dataclass(frozen=True)
class Selection:
    """Members of an answer, or of each of its results: what stands beside those stays."""

    names: frozenset[str]
    listed: bool

    def of(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What is wanted of it."""
        if self.listed:
            return {**body, LISTED: [self._part(each) for each in body[LISTED]]}
        return self._part(body)

    def _part(self, members: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in members.items() if name in self.names}

    def tag(self, whole: str) -> str:
        """Its ETag, by that of the whole."""
        return f'{whole[:-1]}-{sha256(",".join(sorted(self.names)).encode()).hexdigest()[:8]}"'


def selectable(view: APIView) -> tuple[frozenset[str], bool]:
    """The members that one may ask for, as the OpenAPI document has them, and whether they are of each result."""
    handler = getattr(view, getattr(view, "action", None) or "get", None)
    schema = getattr(handler, "kwargs", {}).get("schema", type(view.schema))()
    schema.view, schema.method = view, "GET"
    responses = schema.get_response_serializers()
    answered = (responses.get(200) or responses.get((200, OWN_FORM))) if isinstance(responses, dict) else responses
    if not (isinstance(answered, type) and issubclass(answered, Serializer)):
        return frozenset(), False
    results = answered().fields.get(LISTED)
    if isinstance(results, ListSerializer) and isinstance(results.child, Serializer):
        return _told(results.child), True
    return _told(answered()), False


def _told(serializer: Serializer[Any]) -> frozenset[str]:
    """The members of its answers: secrets are only given."""
    return frozenset(name for name, field in serializer.fields.items() if not field.write_only)


def chosen(view: APIView, request: Request) -> Selection | None:
    """What a request that reads asks for; None: all of it. Raises WrongParameters for what is not there."""
    if FIELDS not in request.query_params:
        return None
    known, listed = selectable(view)
    names = frozenset(request.query_params.getlist(FIELDS))
    wrong = [_("Unknown field: %(name)s.") % {"name": name or "-"} for name in sorted(names - known)]
    if request.accepted_renderer.media_type != OWN_FORM:
        wrong = [_("Only JSON responses can be limited to selected fields. Request application/json.")]
    if wrong:
        raise problems.WrongParameters({FIELDS: wrong})
    return Selection(names, listed)
