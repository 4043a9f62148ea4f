"""What a worker tells Prometheus: it has no web server of its own."""

from collections.abc import Iterable
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, ProcessCollector, make_wsgi_app

from engine.cluster.watching.supervised import Supervised
from scheduler_admin.metrics.access import allowed

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class _Server(ThreadingMixIn, WSGIServer):
    """A reader that is slow keeps no other waiting."""

    daemon_threads = True
    timeout = 0.5
    """Seconds after which it looks whether it is to end."""


class _Handler(WSGIRequestHandler):
    timeout = 10
    """Seconds that a reader may say nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """A line for every scrape would tell nothing."""


class Serving:
    """A server and the thread that it listens in."""

    def __init__(self, server: WSGIServer) -> None:
        self._server = server
        self._listening = Supervised("metrics", self._turn)
        self._listening.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._server.server_port

    def stop(self) -> None:
        """Listen no more."""
        self._listening.stop()
        self._server.server_close()

    def _turn(self) -> float:
        self._server.handle_request()
        return 0.0


def serve(host: str, port: int, registry: CollectorRegistry) -> Serving:
    """Serve a registry, and the process' memory and time, to who has METRICS_TOKEN, in a thread of its own."""
    ProcessCollector(registry=registry)
    told = make_wsgi_app(registry)

    def answer(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if not allowed(environ.get("HTTP_AUTHORIZATION", "")):
            start_response("401 Unauthorized", [("WWW-Authenticate", 'Bearer realm="metrics"')])
            return [b""]
        body: Iterable[bytes] = told(environ, start_response)
        return body

    return Serving(make_server(host, port, answer, _Server, _Handler))
