"""Every error of the API as problem details (RFC 9457)."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.signals import got_request_exception
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import APIException, NotFound
from rest_framework.exceptions import PermissionDenied as Forbidden
from rest_framework.response import Response

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)


class WrongParameters(APIException):
    """Query parameters that can't be understood: parameter -> what is wrong with it."""

    status_code = HTTPStatus.BAD_REQUEST
    default_detail = gettext_lazy("The query has parameters that can't be understood.")

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        super().__init__()
        self.errors = errors


class WrongParameterSerializer(serializers.Serializer[dict[str, str]]):
    """One thing that is wrong."""

    parameter = serializers.CharField(help_text="Name of the query parameter.")
    detail = serializers.CharField(help_text="What is wrong with it, for people.")


class ProblemSerializer(serializers.Serializer[dict[str, Any]]):
    """Problem details, RFC 9457."""

    type = serializers.CharField(help_text="Always about:blank: the status says what kind it is.")
    title = serializers.CharField(help_text="The status in words.")
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What went wrong, for people.")
    errors = WrongParameterSerializer(  # type: ignore[assignment]  # DRF takes declared fields off the class
        many=True, required=False, help_text="With 400: one per wrong parameter."
    )


def problem(error: APIException) -> Response:
    """The response for an error, with what the status obliges us to say in headers."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(error.status_code).phrase,
        "status": int(error.status_code),
        "detail": str(error.detail),
    }
    if isinstance(error, WrongParameters):
        body["errors"] = [
            {"parameter": name, "detail": detail} for name, details in error.errors.items() for detail in details
        ]
    response = Response(body, status=error.status_code, content_type=MEDIA_TYPE)
    if challenge := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = challenge
    return response


def handler(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler. What nobody foresaw is logged and answered without its text."""
    if isinstance(error, Http404 | NotFound):
        return problem(NotFound(_("Nothing is here, or nothing that you may see.")))
    if isinstance(error, PermissionDenied):
        return problem(Forbidden())
    if isinstance(error, APIException):
        return problem(error)
    request = context["request"]
    _log.error("%s %s failed", request.method, request.path, exc_info=error)
    got_request_exception.send(sender=None, request=request)
    return problem(APIException())
