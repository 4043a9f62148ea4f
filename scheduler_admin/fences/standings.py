"""How the usage of queues compares with their guarantees, in the words of the fence map."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from engine.model.quantities import Amounts
from engine.model.queue_tree import GuaranteeStatus
from scheduler_admin.core.words import amount_text, names, standing_text
from scheduler_admin.queues.selectors.queues import Figure, TreeRow, resources, row
from scheduler_admin.queues.selectors.visible_queues import VisibleQueues


@dataclass(frozen=True)
class Standing:
    """How the usage of one queue compares with its guarantee."""

    text: str
    """With the amount and the resource."""
    shorter: tuple[str, ...] = ()
    """The same with less, the longest first: a number stands beside its resource, or is left out."""


class Standings(Mapping[str, Standing]):
    """Path -> how its usage compares with its guarantee, put into words when somebody looks."""

    def __init__(self, queues: VisibleQueues, figures: Mapping[str, Mapping[str, Any]], capacity: Amounts) -> None:
        """``figures`` and ``capacity`` are ClusterStatus's."""
        self._queues, self._figures, self._capacity = queues, figures, capacity

    def __getitem__(self, path: str) -> Standing:
        figures = self._figures.get(path, {})
        return standing_of(row(self._queues, path, figures, self._capacity, resources(self._queues, self._capacity)))

    def __contains__(self, path: object) -> bool:
        return path in self._queues.paths

    def __iter__(self) -> Iterator[str]:
        return (queue.path for queue in self._queues)

    def __len__(self) -> int:
        return len(self._queues)


def standing_of(row: TreeRow) -> Standing:
    """Return the words for a queue: above as soon as it is above in one resource, and then also where it is below."""
    promised = [figure for figure in row.figures if figure.promised is not None]
    shared, status = row.shared, GuaranteeStatus.of_queue(figure.standing for figure in promised)
    match status:
        case GuaranteeStatus.NONE:
            return Standing(_("no guarantee"))
        case GuaranteeStatus.AT:
            return Standing(_("at its deserved share") if shared else _("at its guarantee"))
    below = [_short(figure) for figure in promised if figure.standing is GuaranteeStatus.BELOW]
    if status is GuaranteeStatus.ABOVE and below:
        above = [_short(figure) for figure in promised if figure.standing is GuaranteeStatus.ABOVE]
        text = _("%(above)s above, %(below)s below") % {"above": names(above, 2), "below": names(below, 2)}
        return Standing(text, (_("%(resource)s above") % {"resource": above[0]},))
    return _furthest(promised, status)


def _furthest(promised: list[Figure], status: GuaranteeStatus) -> Standing:
    """The resource in which the queue is furthest away from what it is promised, and by how much."""
    found = max((figure for figure in promised if figure.standing is status), key=lambda figure: abs(figure.excess))
    write, shared = partial(amount_text, found.resource), found.deserved is not None
    words = {"resource": _short(found), "amount": write(abs(found.used - (found.promised or 0)))}
    above = status is GuaranteeStatus.ABOVE
    return Standing(
        f"{_short(found)} {standing_text(found.used, found.promised, write, shared=shared)}",
        (
            (_("%(resource)s %(amount)s above") if above else _("%(resource)s %(amount)s below")) % words,
            (_("%(resource)s above") if above else _("%(resource)s below")) % words,
        ),
    )


def _short(figure: Figure) -> str:
    return figure.resource.rpartition("/")[2]
