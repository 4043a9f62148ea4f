"""How large a request to a page may be, how much one person uploads, and for how long they keep us at work.

All is judged before anything of a request is read: the check of CSRF takes in a whole form to find its token, files
included, whoever sent it. The REST API judges its own, but for the time, which is counted here: it answers in problem
details.
"""

from collections.abc import Callable
from http import HTTPStatus
from time import thread_time
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from rest_framework.views import APIView

from scheduler_admin.accounts.allowances import QUICK_MS, announced, note_work, wait_to_upload, wait_to_work
from scheduler_admin.accounts.models import User
from scheduler_admin.core.counters import who_is

LARGEST_BODY = 1024 * 1024
"""Bytes, unless a page takes files: several times what the largest form of any other page sends."""

View = TypeVar("View", bound=Callable[..., HttpResponse])


def takes_files(largest: int) -> Callable[[View], View]:
    """Decorate the view of a page that takes files of so many bytes together, from those who are signed in."""

    def mark(view: View) -> View:
        view.largest_body = largest + LARGEST_BODY  # type: ignore[attr-defined]
        return view

    return mark


class Allowances:
    """Middleware that stands before the check of CSRF, and refuses what is too much."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Note how long the answer took, reading what was sent included."""
        began = thread_time()
        try:
            return self._get_response(request)
        finally:
            took_ms = round((thread_time() - began) * 1000)
            if took_ms >= QUICK_MS and _counted(request):  # it may take a query to find out whose it is
                note_work(who_is(request), took_ms)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], _arguments: Any, _named: Any
    ) -> HttpResponse | None:
        """Answer in place of the view where it is too much."""
        if issubclass(getattr(view, "cls", object), APIView):
            return None
        size = announced(request)
        largest = getattr(view, "largest_body", LARGEST_BODY)
        if size > LARGEST_BODY and (size > largest or not isinstance(request.user, User)):
            return render(request, "413.html", status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if size > LARGEST_BODY and isinstance(request.user, User) and (seconds := wait_to_upload(request.user, size)):
            return _later(request, seconds, _("You have reached the upload limit per hour."))
        if _counted(request) and (seconds := wait_to_work(who_is(request))):
            return _later(request, seconds, _("Your requests have reached the processing time limit per minute."))
        return None


def _counted(request: HttpRequest) -> bool:
    """Whether work is counted, and it may be known for whom: no session is looked for in vain."""
    return bool(settings.WORK_S_A_MINUTE) and (
        settings.SESSION_COOKIE_NAME in request.COOKIES or "Authorization" in request.headers
    )


def _later(request: HttpRequest, seconds: int, why: str) -> HttpResponse:
    response = render(request, "429.html", {"why": why, "minutes": -(-seconds // 60)}, status=429)
    response["Retry-After"] = str(seconds)
    return response
