"""Traces of requests, tasks and passes, down to each request to an API server, by OpenTelemetry.

Nothing is loaded unless OTEL_EXPORTER_OTLP_ENDPOINT is set. OpenTelemetry reads its other variables itself.
"""

import os

from structlog.typing import EventDict, WrappedLogger

from scheduler_admin.core.monitoring.release import version

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROBES = "livez,readyz,version,metrics"
_ENDLESS = r"watch=,/v1/traces"
"""Watches last for minutes, and what is sent here itself is nothing to follow."""


def start_tracing(part: str) -> None:
    """Send spans of this process from now on, if that is set up; ``part`` is ``web`` or ``worker``.

    Call it once in each process, or before it is forked: OpenTelemetry starts its thread anew in each one.
    """
    if not os.environ.get(_ENDPOINT):
        return
    from opentelemetry import trace  # noqa: PLC0415 - it takes half a second to load
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.instrumentation.celery import CeleryInstrumentor  # noqa: PLC0415
    from opentelemetry.instrumentation.django import DjangoInstrumentor  # noqa: PLC0415
    from opentelemetry.instrumentation.urllib3 import URLLib3Instrumentor  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    named = {"service.name": f"scheduler-admin-{part}", "service.version": version()}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    if part == "web":
        DjangoInstrumentor().instrument(excluded_urls=_PROBES)
    else:
        CeleryInstrumentor().instrument()  # type: ignore[no-untyped-call]
    URLLib3Instrumentor().instrument(excluded_urls=_ENDLESS)


def describe_span(**attributes: str | int) -> None:
    """Add attributes to the span that is going on, if there is one."""
    if not os.environ.get(_ENDPOINT):
        return
    from opentelemetry import trace  # noqa: PLC0415 - as above

    trace.get_current_span().set_attributes({f"scheduler_admin.{name}": value for name, value in attributes.items()})


def add_trace(_logger: WrappedLogger, _name: str, line: EventDict) -> EventDict:
    """Add the ids of the span that is going on to a line of the log, so that one leads to the other."""
    if not os.environ.get(_ENDPOINT):
        return line
    from opentelemetry import trace  # noqa: PLC0415 - as above

    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        line.update(trace_id=f"{context.trace_id:032x}", span_id=f"{context.span_id:016x}")
    return line
