"""Times as passes read and store them."""

from datetime import UTC, datetime, timedelta

LONGEST_GRACE = timedelta(days=30)
"""The longest time that a victim is waited for. Kubernetes takes any number of seconds as a grace period."""


def moment(ms: int | None) -> datetime | None:
    """Return milliseconds since 1970 as an aware time."""
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)
