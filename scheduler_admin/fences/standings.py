"""How the usage of queues compares with their guarantees, in the words of the fence map."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from django.utils.translation import gettext as _

from engine.model.queue_tree import GuaranteeStatus
from scheduler_admin.core.words import amount_text, names, standing_text
from scheduler_admin.queues.selectors.queues import Figure, TreeRow


@dataclass(frozen=True)
class Standing:
    """How the usage of one queue compares with its guarantee."""

    text: str
    """With the amount and the resource, if there is room for that."""
    word: str


class Standings(Mapping[str, Standing]):
    """Path -> how its usage compares with its guarantee, put into words when somebody looks."""

    def __init__(self, rows: Mapping[str, TreeRow]) -> None:
        self._rows = rows

    def __getitem__(self, path: str) -> Standing:
        return standing_of(self._rows[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def standing_of(row: TreeRow) -> Standing:
    """Return the words for a queue: above as soon as it is above in one resource, and then also where it is below."""
    promised = [figure for figure in row.figures if figure.promised is not None]
    shared, status = row.shared, GuaranteeStatus.of_queue(figure.standing for figure in promised)
    match status:
        case GuaranteeStatus.NONE:
            return Standing(_("no guarantee"), _("no guarantee"))
        case GuaranteeStatus.AT:
            word = _("at its deserved share") if shared else _("at its guarantee")
            return Standing(word, word)
        case GuaranteeStatus.BELOW:
            word = _("below deserved share") if shared else _("below guarantee")
        case GuaranteeStatus.ABOVE:
            word = _("above deserved share") if shared else _("above guarantee")
    below = [_short(figure) for figure in promised if figure.standing is GuaranteeStatus.BELOW]
    if status is GuaranteeStatus.ABOVE and below:
        above = [_short(figure) for figure in promised if figure.standing is GuaranteeStatus.ABOVE]
        text = _("%(above)s above, %(below)s below") % {"above": names(above, 2), "below": names(below, 2)}
        return Standing(text, word)
    return Standing(_furthest(promised, status), word)


def _furthest(promised: list[Figure], status: GuaranteeStatus) -> str:
    """The resource in which the queue is furthest away from what it is promised, and by how much."""
    found = max((figure for figure in promised if figure.standing is status), key=lambda figure: abs(figure.excess))
    write, shared = partial(amount_text, found.resource), found.deserved is not None
    return f"{_short(found)} {standing_text(found.used, found.promised, write, shared=shared)}"


def _short(figure: Figure) -> str:
    return figure.resource.rpartition("/")[2]
