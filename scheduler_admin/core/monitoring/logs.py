"""Log lines with the ids of what they belong to: a request, a task, a cluster, a pass, a decision.

Everybody logs with Python's ``logging``; structlog keeps the ids, and writes each line as text or as JSON.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.contextvars import bind_contextvars, bound_contextvars, clear_contextvars, get_contextvars
from structlog.typing import EventDict, Processor, WrappedLogger

from scheduler_admin.core.monitoring.tracing import add_trace

_STANDARD = ("timestamp", "level", "logger", "event", "exception")


@contextmanager
def logged_with(**ids: object) -> Iterator[None]:
    """Add ids to every line that is logged inside; beside those that are there already."""
    with bound_contextvars(**ids):
        yield


@contextmanager
def logged_only_with(**ids: object) -> Iterator[None]:
    """Add ids to every line that is logged inside, and no others: for threads that outlive what they are started in."""
    before = get_contextvars()
    clear_contextvars()
    bind_contextvars(**ids)
    try:
        yield
    finally:
        clear_contextvars()
        bind_contextvars(**before)


def start_logging_with(**ids: object) -> None:
    """Add these ids, and no others, to every line of this thread from now on."""
    clear_contextvars()
    bind_contextvars(**ids)


def logging_settings(level: str, form: str) -> dict[str, Any]:
    """Return Django's LOGGING; ``form`` is ``text`` or ``json``."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        add_trace,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    write: Processor = structlog.processors.JSONRenderer(ensure_ascii=False) if form == "json" else _as_text
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": shared,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, write],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "loggers": {
            "axes": {"level": "WARNING"},  # it logs every sign-in four times
            "fontTools": {"level": "WARNING"},  # it logs every step of making a font
            "gunicorn.error": {"level": level, "handlers": [], "propagate": True},  # all that it logs, errors or not
        },
        "root": {"handlers": ["console"], "level": level},
    }


def _as_text(_logger: WrappedLogger, _name: str, line: EventDict) -> str:
    ids = "".join(f" {name}={line[name]}" for name in sorted(line) if name not in _STANDARD)
    exception = f"\n{line['exception']}" if "exception" in line else ""
    return f"{line['timestamp']} {line['level'].upper()} {line['logger']} {line['event']}{ids}{exception}"
