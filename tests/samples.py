"""What passes sampled of usage, and what became of it."""

from datetime import datetime

from scheduler_admin.usage.models import Usage, UsageSample
from scheduler_admin.usage.runs import Now, Run, unpack, unpack_sample_of


def sampled(queue: str) -> list[tuple[datetime, Now]]:
    """Every sample of a queue that was not rolled up yet."""
    rows = UsageSample.objects.order_by("at").values_list("at", "document")
    return [(at, now) for at, document in rows if (now := unpack_sample_of(document, queue))]


def blocks(queue: str, step: int) -> list[Run]:
    """Every block of a queue at one level."""
    return [unpack(row.document) for row in Usage.objects.filter(queue=queue, step=step).order_by("start")]
