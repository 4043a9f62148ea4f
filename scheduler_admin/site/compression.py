"""Answers are compressed here, as gunicorn does not: the page of a queue has a tenth of its size on the wire."""

from django.http.request import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class Compression(GZipMiddleware):
    """Django's gzip, which hides the length of secrets (BREACH), for all answers but streams of events."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Leave a stream of events alone: gzip would hold each of them back until it has enough of them."""
        if response.get("Content-Type", "").startswith("text/event-stream"):
            return response
        return super().process_response(request, response)
