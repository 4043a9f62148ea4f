"""CloudEvents, version 1.0: what webhooks and readers of events get where they ask for them."""

from typing import Any

MEDIA_TYPE = "application/cloudevents+json"
"""One event in structured mode."""
BATCH_MEDIA_TYPE = "application/cloudevents-batch+json"
"""A list of events."""
PREFIX = "io.scheduler-admin."
"""Begins the type of an event."""


def cloud_event(*, number: str, source: str, kind: str, at: str | None, data: Any) -> dict[str, Any]:
    """Return an event of a kind. ``number`` is unique within ``source``, a URL; ``at``: RFC 3339, None if unknown."""
    return {
        "specversion": "1.0",
        "id": number,
        "source": source,
        "type": f"{PREFIX}{kind}",
        **({"time": at} if at else {}),
        "datacontenttype": "application/json",
        "data": data,
    }
