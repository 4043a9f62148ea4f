"""Which clusters keep a hierarchy's tree themselves: their scheduler has to take what is published."""

from typing import Any

from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.sync.models import Copy


def documents(hierarchy: Hierarchy, **_signal: Any) -> list[tuple[str, str]]:
    """Return format and text of every copy that was there when it was looked at last."""
    rows = Copy.objects.filter(cluster__hierarchy=hierarchy, there=True).order_by("pk")
    return list(rows.values_list("form", "text"))
