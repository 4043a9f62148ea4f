"""What is answered in place of a page that failed."""

import sys
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.views.defaults import server_error

from scheduler_admin.core.outages import RETRY_S, passes


def failed(request: HttpRequest) -> HttpResponse:
    """503, with when to try again, where the database or the disk can't do it now; else 500. The log has the error.

    Django calls it (handler500) while it handles the error, which is all that it knows of it.
    """
    if not passes(sys.exception()):
        return server_error(request)
    response = server_error(request, "503.html")  # without a context: the database may be away
    response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    response["Retry-After"] = str(RETRY_S)
    return response
