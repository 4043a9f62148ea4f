"""What the address of a draft's page says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.utils.http import urlencode

from engine.model.notes import MOST_QUEUES
from scheduler_admin.core.numbers import read_number
from scheduler_admin.queues.forms import key_at
from scheduler_admin.queues.pages.editor.placement_trial import NO_TRIAL, Trial

ACTS = ("settings", "add", "rename", "move", "copy", "delete")
"""What a row may be unfolded for."""
_MOST = 20


@dataclass(frozen=True)
class Shown:
    """Columns beside those that the tree needs, which row is unfolded for what, and which subtrees are folded."""

    resources: tuple[str, ...] = ()
    queue: int = 0
    act: str = "settings"
    folded: frozenset[int] = frozenset()
    """Queues below which nothing is shown."""
    inside: int = 0
    """The queue of which all below it is drawn, where a tree is too large to be drawn as a whole."""
    path: str = ""
    """The path of a queue that is looked for in such a tree."""
    trial: Trial = NO_TRIAL
    """The pod of which it is asked where it would run."""

    @classmethod
    def read(cls, query: QueryDict) -> "Shown":
        """From a page's query; words that are unknown count as not said."""
        act = query.get("act", "")
        return cls(
            resources=tuple(dict.fromkeys(name.strip() for name in query.getlist("resource") if name.strip()))[:_MOST],
            queue=read_number(query.get("queue", "")),
            act=act if act in ACTS else "settings",
            folded=frozenset(read_number(text) for text in query.getlist("folded")[:MOST_QUEUES]) - {0},
            inside=read_number(query.get("in", "")),
            path=query.get("path", "").strip(),
            trial=Trial.read(query),
        )

    def address(self, queue: int = 0, act: str = "") -> str:
        """The query of the page with a row unfolded, or none."""
        words = [("resource", name) for name in self.resources]
        words += [("folded", str(pk)) for pk in sorted(self.folded)]
        words += [("in", str(self.inside))] if self.inside else []
        words += [("queue", str(queue))] if queue else []
        words += [("act", act)] if act else []
        return f"?{urlencode(words)}"

    @property
    def closed(self) -> str:
        """The same with no row unfolded."""
        return self.address()

    @property
    def here(self) -> str:
        """The same as it is."""
        return self.address(self.queue, self.act if self.queue else "")

    def renumbered(self, rows: Sequence[int]) -> "Shown":
        """The same with queues named by their keys (``rows``, in order) instead of by their places."""
        folded = frozenset(key_at(rows, place) for place in self.folded) - {0}
        return replace(self, queue=key_at(rows, self.queue), inside=key_at(rows, self.inside), folded=folded)

    def toggled(self, queue: int) -> "Shown":
        """The same with a queue folded, or unfolded again."""
        return replace(self, folded=self.folded ^ {queue})

    def within(self, queue: int) -> "Shown":
        """The same with all drawn that is below a queue; 0: with the top of the tree."""
        return replace(self, inside=queue, queue=0)
