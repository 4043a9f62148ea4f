"""What an eviction throws away: the work of a pod since it started, or since its last checkpoint.

Work is runtime × resources, in the integer unit of each resource times seconds: thousandths of a core × seconds for
``cpu``, byte seconds for memory, device seconds.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from engine.model.quantities import CPU, PODS, Amounts


def unsaved_s(*, started: datetime, checkpoint: datetime | None, evicted: datetime) -> int:
    """For how many whole seconds before its eviction a pod had run without a checkpoint.

    None at all where the checkpoint is said to be later than the eviction: clocks differ. A checkpoint from before
    the start is another pod's, and saves nothing of this one's work beyond that.
    """
    since = max(started, checkpoint or started)
    return max(timedelta(), evicted - since) // timedelta(seconds=1)


def work(requests: Mapping[str, int], seconds: int) -> Amounts:
    """What a pod with these requests does in so many seconds; the pod itself is not counted."""
    return {resource: amount * seconds for resource, amount in requests.items() if resource != PODS}


def format_work(done: Mapping[str, int]) -> dict[str, str]:
    """Resource -> whole units × seconds as exact decimals: ``{"cpu": "68040.5"}`` core seconds."""
    return {resource: _decimal(amount) if resource == CPU else str(amount) for resource, amount in done.items()}


def _decimal(thousandths: int) -> str:
    whole, rest = divmod(thousandths, 1000)
    return f"{whole}.{rest:03}".rstrip("0").rstrip(".") if rest else str(whole)
