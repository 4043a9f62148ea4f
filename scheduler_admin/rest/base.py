"""What every view of the API shares."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from scheduler_admin.accounts.allowances import announced
from scheduler_admin.accounts.models import KeptAnswer, User
from scheduler_admin.accounts.scopes import ALLOWING, BY_MEMBERSHIP, Action, Scope, acting, allows, scope_of
from scheduler_admin.clusters import selectors
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.entity_tags import entity_tag
from scheduler_admin.rest import etags, idempotency, problems
from scheduler_admin.rest.media import JsonRenderer
from scheduler_admin.rest.selection import FIELDS, Selection, chosen
from scheduler_admin.rest.throttling import Standing, count, refuse_beyond, refuse_too_much

_READS = frozenset({"GET", "HEAD"})
_HANDLERS = frozenset({"get", "post", "put", "patch", "delete"})
LARGEST_BODY = 2 * 1024 * 1024
"""Bytes of a request, unless a view takes more, such as trees and snapshots."""


class NoParameters(serializers.Serializer[Any]):
    """For routes that take no query parameters."""


class ApiView(APIView):
    """A view that answers the methods that it declares, to those who may do what it declares.

    It is strict about query parameters, and its errors are problem details.
    """

    actions: ClassVar[Mapping[str, Action]] = {}
    """Method -> what a request with it does. HEAD does what GET does; any other method is answered with 405."""
    staff_only: ClassVar[bool] = False
    """Whether it is there only for those who see everything. Others get 404."""
    tag: ClassVar[str] = ""
    """The group of its operations in the OpenAPI document."""
    queries: ClassVar[Mapping[str, type[serializers.Serializer[Any]]]] = {}
    """Method -> what the query of a request with it may hold; nothing, if it is left out."""
    largest: ClassVar[int] = LARGEST_BODY
    unkept: ClassVar[frozenset[str]] = frozenset()
    """Methods whose answers hold a secret, so that they are not kept for a request that may be sent again."""
    kept: KeptAnswer | None = None
    """Where this answer is kept, for a request that may be sent again."""
    standing: Standing | None = None
    """How who asks stands in this minute, once that is known."""
    selection: Selection | None = None
    """What is wanted of the answer; None: all of it."""

    def __init_subclass__(cls) -> None:
        """Take the methods from the declared actions. Raises TypeError for a handler whose action is not declared."""
        super().__init_subclass__()
        check_declared(cls, _HANDLERS & {name for base in cls.__mro__ for name in vars(base)})
        cls.http_method_names = [*map(str.lower, cls.actions), *(["head"] if "GET" in cls.actions else []), "options"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Return the answer. Its view, which stays until garbage is collected, forgets it."""
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        del self.response
        return answer

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        """Problem details."""
        return problems.handler

    def perform_authentication(self, request: Request) -> None:
        """Who asks, counted, also who can't sign in.

        Raises TooLarge for a body that no one may send, before a form is read for CSRF; TooMany for more than a minute
        has room for; TooMuchUploaded and TooMuchWork likewise.
        """
        if announced(request) > self.largest:
            raise problems.too_large(self.largest)
        try:
            super().perform_authentication(request)
        finally:
            self.standing = count(request)
            refuse_beyond(self.standing)
        refuse_too_much(request, LARGEST_BODY)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check, after the credentials, the method, the right, the query, and whether all this was sent before."""
        super().initial(request, *args, **kwargs)
        if request.method not in self.allowed_methods:
            self.http_method_not_allowed(request)
        self.authorize(request)
        self.asked = self._read_parameters(request)
        self.kept = idempotency.begin(request, keeps=request.method not in self.unkept)

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
        if isinstance(response, Response):
            response.add_post_render_callback(_forget_itself)
        patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, ["Authorization", "Cookie"])
        for name, value in (self.standing.headers if self.standing else {}).items():
            response[name] = value
        return response

    def authorize(self, request: Request) -> None:
        """Hold the request against the declared action.

        Raises Http404 where only staff see that the view is there, InsufficientScope for a token that is not for the
        action, and PermissionDenied for a role that is not. What a membership allows is decided row by row: by the
        querysets of selectors, and in services.
        """
        action = self.actions.get("GET" if request.method == "HEAD" else str(request.method))
        if action is None:  # OPTIONS: what a view is like is told to everybody who signs in
            return
        if self.staff_only and not self.scope.everything:
            raise Http404
        self.demand(action)
        if action not in BY_MEMBERSHIP and not scope_of(request.user, action).everything:
            raise PermissionDenied

    def parameters_of(self, request: Request) -> type[serializers.Serializer[Any]]:
        """Return what the query may hold."""
        return self.query_of(str(request.method) if request.method in idempotency.WRITES else "GET") or NoParameters

    def query_of(self, method: str) -> type[serializers.Serializer[Any]] | None:
        """Return what the query of a method may hold; None: nothing."""
        return self.queries.get(method)

    def filter_names(self) -> set[str]:
        """Return further names that the query may have: those of filters."""
        return set()

    def _read_parameters(self, request: Request) -> Mapping[str, Any]:
        """The validated query. Raises WrongParameters, also for names that the route doesn't know."""
        given = request.query_params
        kind = self.parameters_of(request)
        lists = {name for name, field in kind().fields.items() if isinstance(field, serializers.ListField)}
        sent = {name: given.getlist(name) if name in lists else given[name] for name in given}
        reader = kind(data=sent, context={"user": request.user})
        several = {*lists, FIELDS}
        known = {*reader.fields, *self.filter_names(), *([FIELDS] if request.method in _READS else [])}
        unknown = {name: [_("Unknown parameter.")] for name in given if name not in known}
        twice = {
            name: [_("Specify this only once.")]
            for name in given
            if name not in several and len(given.getlist(name)) > 1
        }
        wrong = {} if reader.is_valid() else {name: _sentences(errors) for name, errors in reader.errors.items()}
        if unknown or twice or wrong:
            raise problems.WrongParameters({**unknown, **twice, **wrong})
        self.selection = chosen(self, request)
        found: Mapping[str, Any] = reader.validated_data
        return found

    @property
    def user(self) -> User:
        """The person or machine that asks."""
        assert isinstance(self.request.user, User)  # nobody else gets past the credentials
        return self.request.user

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


def _sentences(errors: Any) -> list[str]:
    """Return what is wrong with a parameter: of a list, with each of its values."""
    if isinstance(errors, Mapping):
        return [sentence for each in errors.values() for sentence in _sentences(each)]
    return list(map(str, errors))


def check_declared(view: type[ApiView], handlers: Iterable[str]) -> None:
    """Raise TypeError where a view handles a method without declaring what a request with it does."""
    if forgotten := {name.upper() for name in handlers} - {*view.actions}:
        raise TypeError(f"{view.__name__} does not declare the actions of {', '.join(sorted(forgotten))}")


def tagged(body: dict[str, Any], *, but: str) -> Response:
    """The body with an ETag over all of it ``but`` one key, wherever that is."""
    return Response(body, headers={"ETag": weak_tag(body, but=but)})


def weak_tag(body: dict[str, Any], *, but: str) -> str:
    """Return the ETag of a body, over all of it ``but`` one key."""
    return _tag_over(JsonRenderer().render(_without(body, but)))


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
    if etags.tags(request.headers.get("If-None-Match", "")) & {etags.opaque(response["ETag"]), "*"}:
        response.status_code = HTTPStatus.NOT_MODIFIED
        response.content = b""
        del response["Content-Type"]


def _forget_itself(response: Any) -> None:
    """Let go of what a rendered answer was rendered with, which it is part of itself."""
    response.renderer_context = {}


class NothingHere(ApiView):
    """Every other address below the API, so that its errors are problem details too, whatever the method."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """404 for who is signed in."""
        super(ApiView, self).initial(request, *args, **kwargs)
        raise Http404
