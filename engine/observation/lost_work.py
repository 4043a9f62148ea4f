"""Calculate the work that an eviction loses: a pod's work since it started, or since its last checkpoint.

Work is runtime × resources, in the integer unit of each resource times seconds: thousandths of a core × seconds for
``cpu``, byte seconds for memory, device seconds.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from engine.model.quantities import CPU, PODS, Amounts


def unsaved_s(*, started: datetime, checkpoint: datetime | None, evicted: datetime) -> int:
    """Return for how many whole seconds before its eviction a pod had run without a checkpoint.

    Returns 0 if the checkpoint's time is later than the eviction, as clocks differ. A checkpoint from before the start
    belongs to another pod, and does not save this pod's work.
    """
    since = max(started, checkpoint or started)
    return max(timedelta(), evicted - since) // timedelta(seconds=1)


def work(requests: Mapping[str, int], seconds: int) -> Amounts:
    """Return the work of a pod with these requests in a number of seconds; the resource ``pods`` is not counted."""
    return {resource: amount * seconds for resource, amount in requests.items() if resource != PODS}


def format_work(done: Mapping[str, int]) -> dict[str, str]:
    """Return resource -> whole units × seconds as exact decimals: ``{"cpu": "68040.5"}`` core seconds."""
    return {resource: _decimal(amount) if resource == CPU else str(amount) for resource, amount in done.items()}


def _decimal(thousandths: int) -> str:
    whole, remainder = divmod(thousandths, 1000)
    return f"{whole}.{remainder:03}".rstrip("0").rstrip(".") if remainder else str(whole)
