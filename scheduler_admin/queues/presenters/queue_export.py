"""The queues of a cluster as rows of CSV: one for each resource of each queue."""

from collections.abc import Iterable, Iterator
from typing import Any

from scheduler_admin.queues.presenters.standing import QueueStanding

_AMOUNTS = ("used", "guaranteed", "max", "requested", "deserved", "lent")
_SHARE = ("share", "share_basis", "share_resource", "weight")
QUEUE_COLUMNS = ("cluster", "queue", "leaf", "resource", *_AMOUNTS, "pending_pods", *_SHARE)


def queue_facts(cluster: str, standings: Iterable[QueueStanding]) -> Iterator[dict[str, Any]]:
    """Yield a row for each resource of each queue, its values in the order of QUEUE_COLUMNS; empty is not known."""
    for one in standings:
        for resource, amounts in one.resources.items():
            yield {
                "cluster": cluster,
                "queue": one.queue.path,
                "leaf": one.queue.leaf,
                "resource": resource,
                **{name: getattr(amounts, name) for name in _AMOUNTS},
                "pending_pods": one.pending_pods,
                **_share(one),
            }


def _share(one: QueueStanding) -> dict[str, str]:
    share = one.share
    values = (share.value, share.basis.value, share.resource, share.weight) if share else ("",) * len(_SHARE)
    return dict(zip(_SHARE, values, strict=True))
