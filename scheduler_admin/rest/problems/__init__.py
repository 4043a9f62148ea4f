"""Every error of the API as problem details (RFC 9457)."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from json import JSONDecodeError
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied, RequestDataTooBig, ValidationError
from django.core.signals import got_request_exception
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException, NotFound, ParseError
from rest_framework.exceptions import PermissionDenied as Forbidden
from rest_framework.response import Response
from rest_framework.settings import api_settings

from scheduler_admin.core.outages import RETRY_S, passes
from scheduler_admin.journal.selectors.orphans import sentence
from scheduler_admin.queues.services.hierarchies import OrphansError
from scheduler_admin.rest.problems.shapes import ErrorSerializer, ProblemSerializer
from scheduler_admin.rest.problems.types import type_of

__all__ = ["ErrorSerializer", "ProblemSerializer"]
MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)


Errors = Sequence[Mapping[str, Any]]
"""What is wrong, each with the members of ErrorSerializer that are known."""


def pointer(*names: str | int) -> str:
    """A place in a document, from its top down (RFC 6901)."""
    return "".join(f"/{str(name).replace('~', '~0').replace('/', '~1')}" for name in names)


def each_at(found: Any, place: str = "") -> Iterator[dict[str, str]]:
    """What a serializer finds wrong, each at its place in the body."""
    if isinstance(found, Mapping):
        for name, inner in found.items():
            whole = name == api_settings.NON_FIELD_ERRORS_KEY
            yield from each_at(inner, place if whole else place + pointer(name))
    elif isinstance(found, list | tuple):
        for index, inner in enumerate(found):
            yield from each_at(inner, place + pointer(index) if isinstance(inner, Mapping) else place)
    else:
        yield {"detail": str(found), "pointer": place}


class Refusal(APIException):
    """An error of the request that says everything that is wrong with it."""

    kind: ClassVar[str]
    """The kind of problem, at the end of its ``type``."""

    def __init__(self, errors: Errors = (), **params: str) -> None:
        super().__init__(str(self.default_detail) % params if params else None)
        self.errors = errors


class WrongParameters(Refusal):
    """Query parameters that can't be understood: parameter -> what is wrong with it."""

    kind = "invalid-parameter"
    status_code = HTTPStatus.BAD_REQUEST
    default_detail = gettext_lazy("The query has invalid parameters.")

    def __init__(self, wrong: Mapping[str, list[str]]) -> None:
        super().__init__([{"parameter": name, "detail": detail} for name, all_ in wrong.items() for detail in all_])


class WrongHeader(Refusal):
    """A header that can't be understood."""

    kind = "invalid-header"
    status_code = HTTPStatus.BAD_REQUEST
    default_detail = gettext_lazy("The request has an invalid header.")

    def __init__(self, name: str, detail: str) -> None:
        super().__init__([{"header": name, "detail": detail}])


class Unreadable(Refusal):
    """A document that is not even the format that it claims to be."""

    kind = "unreadable-document"
    status_code = HTTPStatus.BAD_REQUEST
    default_detail = gettext_lazy("The document cannot be read.")


class TooLarge(Refusal):
    """A document beyond the limit."""

    kind = "too-large"
    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_detail = gettext_lazy("The document is larger than %(limit)s.")


def too_large(limit: int) -> TooLarge:
    """Return the problem of a request with more than so many bytes."""
    return TooLarge(limit=f"{limit // 2**20} MiB" if limit % 2**20 == 0 else f"{limit // 1024} KiB")


class NotNow(Refusal):
    """A database that is locked, away or full. The answer says when to try again."""

    kind = "unavailable"
    status_code = HTTPStatus.SERVICE_UNAVAILABLE
    default_detail = gettext_lazy("The database did not respond in time or is out of space. Try again later.")

    def __init__(self) -> None:
        super().__init__()
        self.headers = {"Retry-After": str(RETRY_S)}


class Unacceptable(Refusal):
    """Values that can't be."""

    kind = "invalid-request"
    status_code = 422
    default_detail = gettext_lazy("The request cannot be carried out.")


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


class InvalidTree(Refusal):
    """A document that can be read and is no tree that could be published."""

    kind = "invalid-tree"
    status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    default_detail = gettext_lazy("This is not a valid queue tree.")


class OutsideSubtree(Refusal):
    """A change outside of the subtrees that are one's own to change."""

    kind = "outside-subtree"
    status_code = HTTPStatus.FORBIDDEN
    default_detail = gettext_lazy("You can change only queues inside %(subtree)s.")


class InsufficientScope(Refusal):
    """A token that is not for this (RFC 6750)."""

    kind = "insufficient-scope"
    status_code = HTTPStatus.FORBIDDEN
    default_detail = gettext_lazy("This requires a token with the scope %(scope)s.")

    def __init__(self, scope: str) -> None:
        super().__init__(scope=scope)
        self.headers = {"WWW-Authenticate": f'Bearer realm="api", error="insufficient_scope", scope="{scope}"'}


class RuledOut(Refusal):
    """A tree that would do what its sender rules out. The answer has all that it would do, and the ETag in force."""

    kind = "ruled-out"
    status_code = HTTPStatus.CONFLICT
    default_detail = gettext_lazy("The tree would have effects that fail_on rules out.")

    def __init__(self, errors: Errors, outcome: Mapping[str, Any], etag: str | None) -> None:
        super().__init__(errors)
        self.members = {"result": outcome}
        self.headers = {"ETag": etag} if etag else {}


class Orphaning(Refusal):
    """A tree that would leave pods in no queue, published without saying that it may."""

    kind = "orphaned-pods"
    status_code = HTTPStatus.CONFLICT
    default_detail = gettext_lazy("Some pods would belong to no queue. Set allow_orphans to publish the tree anyway.")

    def __init__(self, error: OrphansError) -> None:
        super().__init__(
            [
                {"detail": f"{one.queue}: {sentence([one])}", "queue": one.queue, "cluster": cluster}
                for cluster, found in error.found.items()
                for one in found
            ]
        )


class NoPrecondition(Refusal):
    """A change that does not say what it is a change of."""

    kind = "precondition-required"
    status_code = HTTPStatus.PRECONDITION_REQUIRED
    default_detail = gettext_lazy("Send an If-Match header with the ETag that you read.")


class Overtaken(Refusal):
    """A change of a tree that is no longer the current one. The answer carries the current one's ETag, if any."""

    kind = "precondition-failed"
    status_code = HTTPStatus.PRECONDITION_FAILED
    default_detail = gettext_lazy("This has changed since you read it. Read it again.")

    def __init__(self, etag: str | None) -> None:
        super().__init__()
        self.headers = {"ETag": etag} if etag else {}


class NotOtherwise(Refusal):
    """A decision that is not ours by priority, or of which what was seen then is no longer stored."""

    kind = "no-counterfactuals"
    status_code = HTTPStatus.CONFLICT
    default_detail = gettext_lazy(
        "It cannot be computed what would have changed this decision, or the data for it is no longer stored."
    )


class NotReplayed(Refusal):
    """A decision that others took in their own way, or of which what was seen then is no longer stored."""

    kind = "no-replay"
    status_code = HTTPStatus.CONFLICT
    default_detail = gettext_lazy("This decision cannot be replayed, or the data for it is no longer stored.")


class NotWorkedOut(Refusal):
    """Why an ask waits: of a decision that is not ours to do nothing, or of which too little is still stored."""

    kind = "no-pending-reasons"
    status_code = HTTPStatus.CONFLICT
    default_detail = gettext_lazy(
        "It cannot be computed why this pod is pending, or the data for it is no longer stored."
    )


def problem(error: APIException) -> Response:
    """The response for an error, with what the status obliges us to say in headers."""
    body: dict[str, Any] = {
        "type": type_of(error),
        "title": HTTPStatus(error.status_code).phrase,
        "status": int(error.status_code),
        "detail": str(error.detail),
    }
    if errors := getattr(error, "errors", None):
        body["errors"] = errors
    body |= getattr(error, "members", {})
    headers = dict(getattr(error, "headers", {}))
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    return Response(body, status=error.status_code, content_type=MEDIA_TYPE, headers=headers)


def _unreadable(error: ParseError) -> Unreadable:
    """A body that is no JSON, with the line where it ceases to be."""
    cause = error.__context__
    place: dict[str, Any] = {"line": cause.lineno} if isinstance(cause, JSONDecodeError) else {"pointer": ""}
    return Unreadable([{"detail": str(error.detail), **place}])


def handler(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler. What nobody foresaw is logged and answered without its text."""
    if isinstance(error, Http404 | NotFound):
        return problem(NotFound(_("There is nothing here, or you do not have access to it.")))
    if isinstance(error, PermissionDenied):
        return problem(Forbidden())
    if isinstance(error, RequestDataTooBig):  # a large body with an idempotency key, which is compared whole
        return problem(too_large(settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0))
    if isinstance(error, OrphansError):
        return problem(Orphaning(error))
    if isinstance(error, ValidationError):  # of a service
        return problem(unacceptable(error))
    if isinstance(error, ParseError):
        return problem(_unreadable(error))
    if isinstance(error, APIException):
        return problem(error)
    request = context["request"]
    if passes(error):
        _log.warning("Request %s %s failed temporarily: %s", request.method, request.path, error)
        return problem(NotNow())
    _log.error("Request %s %s failed", request.method, request.path, exc_info=error)
    got_request_exception.send(sender=None, request=request)
    return problem(APIException())
