"""An id for every request, in the answer and in every line that is logged for it; and a line for each request."""

import logging
import re
import time
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from scheduler_admin.core.monitoring.logs import start_logging_with

HEADER = "X-Request-ID"
_OURS = re.compile(r"[A-Za-z0-9._~:/+=-]{1,128}")
"""Ids of others that are used: long enough for a trace, short enough for a line, and nothing to interpret."""
_QUIET = frozenset({"GET", "HEAD", "OPTIONS"})
_log = logging.getLogger(__name__)

Answer = Callable[[HttpRequest], HttpResponse]


def request_log(get_response: Answer) -> Answer:
    """Middleware that takes the id of a proxy, or makes one.

    Requests that may change something are logged at INFO, others at DEBUG; Django logs those that fail. Their query is
    left out: it may hold what people search for, or a code of a sign-in.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        request_id = given if _OURS.fullmatch(given) else uuid.uuid4().hex
        start_logging_with(request_id=request_id)
        began = time.perf_counter()
        try:
            response = get_response(request)
            response[HEADER] = request_id
            took_ms = (time.perf_counter() - began) * 1000
            line = (request.method, request.path, response.status_code, took_ms)
            _log.log(logging.DEBUG if request.method in _QUIET else logging.INFO, "%s %s %s in %.0f ms", *line)
            return response
        finally:
            start_logging_with()

    return middleware
