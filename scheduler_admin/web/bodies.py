"""How large a request to a page may be: judged before anything of it is read.

The check of CSRF takes in a whole form to find its token, files included, whoever sent it.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework.views import APIView

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.uploads import announced, wait_for

LARGEST_BODY = 1024 * 1024
"""Bytes, unless a page takes files: several times what the largest form of any other page sends."""

View = TypeVar("View", bound=Callable[..., HttpResponse])


def takes_files(largest: int) -> Callable[[View], View]:
    """Decorate the view of a page that takes files of so many bytes together, from those who are signed in."""

    def mark(view: View) -> View:
        view.largest_body = largest + LARGEST_BODY  # type: ignore[attr-defined]
        return view

    return mark


class LimitedBodies:
    """Middleware that refuses what is too large, and what is more than somebody may upload within an hour.

    It stands before the check of CSRF. The REST API judges its own: it answers in problem details.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Do nothing before it is known which view it is."""
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], _arguments: Any, _named: Any
    ) -> HttpResponse | None:
        """Answer in place of the view where the request is too large for it."""
        size = announced(request)
        if size <= LARGEST_BODY or issubclass(getattr(view, "cls", object), APIView):
            return None
        largest = getattr(view, "largest_body", LARGEST_BODY)
        if size > largest or not isinstance(request.user, User):
            return render(request, "413.html", status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if seconds := wait_for(request.user, size):
            minutes = -(-seconds // 60)
            response = render(request, "429.html", {"minutes": minutes}, status=HTTPStatus.TOO_MANY_REQUESTS)
            response["Retry-After"] = str(seconds)
            return response
        return None
