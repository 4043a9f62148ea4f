"""What a worker tells Prometheus: it has no web server of its own."""

from collections.abc import Iterable
from socketserver import ThreadingMixIn
from threading import Thread
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, ProcessCollector, make_wsgi_app

from scheduler_admin.metrics.access import allowed

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class _Server(ThreadingMixIn, WSGIServer):
    """A reader that is slow keeps no other waiting."""

    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = 10
    """Seconds that a reader may say nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """A line for every scrape would tell nothing."""


def serve(host: str, port: int, registry: CollectorRegistry) -> WSGIServer:
    """Serve a registry, and the process' memory and time, to who has METRICS_TOKEN, in a thread of its own."""
    ProcessCollector(registry=registry)
    told = make_wsgi_app(registry)

    def answer(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if not allowed(environ.get("HTTP_AUTHORIZATION", "")):
            start_response("401 Unauthorized", [("WWW-Authenticate", 'Bearer realm="metrics"')])
            return [b""]
        body: Iterable[bytes] = told(environ, start_response)
        return body

    server = make_server(host, port, answer, _Server, _Handler)
    Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server
