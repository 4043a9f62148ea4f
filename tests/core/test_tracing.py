"""Traces of requests and passes, as a collector receives them."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

BASE = Path(__file__).parents[2]


class Collector(ThreadingHTTPServer):
    """Keeps the spans that it is sent, each with the service that they are of."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.spans: list[tuple[str, Span]] = []

    def named(self, name: str) -> Span:
        """The one span with a name. Fails if there is none, or another."""
        (found,) = [span for _service, span in self.spans if span.name == name]
        return found


class Handler(BaseHTTPRequestHandler):
    """Takes spans, and answers everything else as an API server would that knows nothing."""

    server: Collector

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        for group in ExportTraceServiceRequest.FromString(sent).resource_spans:
            (service,) = [one.value.string_value for one in group.resource.attributes if one.key == "service.name"]
            self.server.spans += [(service, span) for scope in group.scope_spans for span in scope.spans]
        self.answer(b"")

    def do_GET(self) -> None:
        self.answer(b"{}")

    def answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def traced(collector: Collector | None, program: str) -> str:
    """Run a program in a process of its own, traced if there is a collector; what it prints."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    if collector:
        environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{collector.server_port}"
    return subprocess.check_output([sys.executable, "-c", program], cwd=BASE, env=environment, text=True)


REQUEST = """
import scheduler_admin.wsgi
from django.test import Client
answer = Client(headers={"host": "localhost"}).get("/api/v1/clusters?secret=s3cr3t")
print(answer.status_code)
Client().get("/livez")
"""
TASK = """
import sys, django
django.setup()
from scheduler_admin.celery import app
from scheduler_admin.core.monitoring.tracing import describe_span, start_tracing
from engine.cluster.connecting.connection import Connection
from engine.cluster.connecting.credentials import ConnectionSettings
start_tracing("worker")

@app.task(name="tests.tasks.traced")
def traced():
    describe_span(cluster="prod")
    Connection(ConnectionSettings(address=sys.argv[1] if len(sys.argv) > 1 else ADDRESS)).request("GET", "/version")

traced.apply()
"""


def test_a_request_is_a_span_named_by_its_route(collector: Collector) -> None:
    """Probes are left out."""
    assert traced(collector, REQUEST).strip() == "401"
    assert {service for service, _span in collector.spans} == {"scheduler-admin-web"}
    (span,) = [span for _service, span in collector.spans]
    assert span.name == "GET api/v1/clusters"


def test_requests_to_api_servers_belong_to_the_task_that_sends_them(collector: Collector) -> None:
    """So that a slow pass shows which request it waited for."""
    traced(collector, f"ADDRESS = 'http://127.0.0.1:{collector.server_port}'\n{TASK}")
    task, sent = collector.named("run/tests.tasks.traced"), collector.named("GET")
    assert (sent.trace_id, sent.parent_span_id) == (task.trace_id, task.span_id)
    assert {one.key: one.value.string_value for one in task.attributes}["scheduler_admin.cluster"] == "prod"


def test_without_a_collector_nothing_is_loaded_that_sends() -> None:
    """It would cost every process time and memory."""
    loaded = "print(any(name.startswith('opentelemetry.exporter') for name in sys.modules))"
    assert traced(None, f"import sys{REQUEST}{loaded}").split() == ["401", "False"]
