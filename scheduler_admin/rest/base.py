"""What every view of the API shares."""

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar

from django.http import Http404
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from scheduler_admin.accounts.allowances import announced
from scheduler_admin.accounts.models import KeptAnswer, User
from scheduler_admin.accounts.scopes import ALLOWING, Action, Scope, acting, allows, scope_of
from scheduler_admin.clusters import selectors
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest import idempotency, preconditions, problems
from scheduler_admin.rest.selection import FIELDS, Selection, chosen
from scheduler_admin.rest.throttling import Standing, count, refuse_beyond, refuse_too_much

_READS = frozenset({"GET", "HEAD"})
LARGEST_BODY = 2 * 1024 * 1024
"""Bytes of a request, unless a view takes more: several times the largest tree."""


class NoParameters(serializers.Serializer[Any]):
    """For routes that take no query parameters."""


class ApiView(APIView):
    """Reads only, unless a view says otherwise; strict about query parameters; errors as problem details."""

    http_method_names = ["get", "head", "options"]
    parameters: ClassVar[type[serializers.Serializer[Any]]] = NoParameters
    largest: ClassVar[int] = LARGEST_BODY
    keeps_answers: ClassVar[bool] = True
    """Whether an answer may be kept, for a request that may be sent again: not where it holds a secret."""
    kept: KeptAnswer | None = None
    """Where this answer is kept, for a request that may be sent again."""
    standing: Standing | None = None
    """How who asks stands in this minute, once that is known."""
    selection: Selection | None = None
    """What is wanted of the answer; None: all of it."""

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        """Problem details."""
        return problems.handler

    def perform_authentication(self, request: Request) -> None:
        """Who asks, counted, also who can't sign in.

        Raises TooLarge for a body that no one may send, before a form is read for CSRF; TooMany for more than a minute
        has room for; TooMuchUploaded and TooMuchWork likewise.
        """
        if announced(request) > self.largest:
            raise problems.TooLarge(limit=str(self.largest // 1024))
        try:
            super().perform_authentication(request)
        finally:
            self.standing = count(request)
            refuse_beyond(self.standing)
        refuse_too_much(request, LARGEST_BODY)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """After the credentials, the method, the query, and whether all this was sent before."""
        super().initial(request, *args, **kwargs)
        if request.method not in self.allowed_methods:
            self.http_method_not_allowed(request)
        self.asked = self._read_parameters(request)
        self.kept = idempotency.begin(request, keeps=self.keeps_answers)

    def handle_exception(self, exc: Exception) -> Response:
        """A problem, but for what was answered before."""
        return exc.response if isinstance(exc, idempotency.Repeated) else super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """No cache may keep one user's answer for another."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.kept:
            idempotency.end(self.kept, response)
        if request.method in _READS and response.status_code == HTTPStatus.OK and not response.streaming:
            if self.selection:
                response.data = self.selection.of(response.data)
            response.add_post_render_callback(partial(_unless_known, request, self.selection))
        patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, ["Authorization", "Cookie"])
        for name, value in (self.standing.headers if self.standing else {}).items():
            response[name] = value
        return response

    def parameters_of(self, request: Request) -> type[serializers.Serializer[Any]]:
        """What the query may hold."""
        del request
        return self.parameters

    def _read_parameters(self, request: Request) -> Mapping[str, Any]:
        """The validated query. Raises WrongParameters, also for names that the route doesn't know."""
        given = request.query_params
        reader = self.parameters_of(request)(data=given.dict(), context={"user": request.user})
        known = {*reader.fields, *([FIELDS] if request.method in _READS else [])}
        unknown = {name: [_("There is no such parameter.")] for name in given if name not in known}
        twice = {name: [_("Give this once.")] for name in given if len(given.getlist(name)) > 1}
        wrong = {} if reader.is_valid() else {name: list(map(str, errors)) for name, errors in reader.errors.items()}
        if unknown or twice or wrong:
            raise problems.WrongParameters({**unknown, **twice, **wrong})
        self.selection = chosen(self, request)
        found: Mapping[str, Any] = reader.validated_data
        return found

    @property
    def scope(self) -> Scope:
        """What the asking user may see."""
        return scope_of(self.request.user, "view")

    def demand(self, action: Action) -> None:
        """Raise InsufficientScope when the request's token is not for this."""
        user = self.request.user
        if isinstance(user, User) and not allows(user.token, action):
            raise problems.InsufficientScope(ALLOWING[action][0])

    def actor(self, action: Action) -> User:
        """Who asks, if token and role allow this everywhere. Raises InsufficientScope or PermissionDenied."""
        self.demand(action)
        return acting(self.request.user, action)

    def cluster(self, name: str) -> Cluster:
        """The cluster with its status and revision, or 404."""
        return selectors.get(self.request.user, name)


def tagged(body: dict[str, Any], *, but: str) -> Response:
    """The body with an ETag over all of it ``but`` one key, wherever that is."""
    return Response(body, headers={"ETag": _tag_over(JSONRenderer().render(_without(body, but)))})


def _without(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: _without(each, key) for name, each in value.items() if name != key}
    return [_without(each, key) for each in value] if isinstance(value, list) else value


def _tag_over(content: bytes) -> str:
    return f"W/{entity_tag(content)}"


def _unless_known(request: Request, selection: Selection | None, response: Response) -> None:
    """Give a rendered answer an ETag, over all of it if it has none, and take out what the client has already."""
    tag = response.get("ETag") or _tag_over(response.content)
    response["ETag"] = selection.tag(tag) if selection else tag
    if preconditions.tags(request.headers.get("If-None-Match", "")) & {response["ETag"], "*"}:
        response.status_code = HTTPStatus.NOT_MODIFIED
        response.content = b""
        del response["Content-Type"]


class NothingHere(ApiView):
    """Every other address below the API, so that its errors are problem details too, whatever the method."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """404 for who is signed in."""
        super(ApiView, self).initial(request, *args, **kwargs)
        raise Http404
