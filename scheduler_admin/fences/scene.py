"""What a reader sees of a cluster's tree from one queue: the ground that map and tables stand on."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from engine.model.queue_tree import QueueTree
from engine.tree.reach import Border, Fences, Neighbour, Reach
from scheduler_admin.counts.selectors.pairs import PairCount
from scheduler_admin.fences.address import Choice
from scheduler_admin.fences.between import Between, between
from scheduler_admin.fences.borders import Borders, borders_of
from scheduler_admin.fences.folding import Drawn, drawn
from scheduler_admin.fences.reach import neighbours_of
from scheduler_admin.fences.standings import Standing

MOST_PAIRS = 60
"""Of so many leaves every pair is told; of more, those of the chosen queue."""


@dataclass(frozen=True)
class Scene:
    """The tree and the policy's rules, the queues that the reader may see, the chosen one, and who preempted whom.

    ``standings``: path -> where it stands against its guarantee in words.
    """

    tree: QueueTree
    rules: Reach
    seen: frozenset[str]
    choice: Choice
    happened: Sequence[PairCount]
    standings: Mapping[str, Standing]

    @property
    def chosen(self) -> str:
        """The path of the chosen queue, empty without one."""
        return self.choice.queue

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The leaves that the reader may see."""
        return tuple(leaf for leaf in self.tree.leaves if leaf in self.seen)

    @cached_property
    def tops(self) -> list[Drawn]:
        """The queues as they are folded."""
        return self._drawn("")

    @cached_property
    def drawn(self) -> list[Drawn]:
        """The same of those that the map shows: all, or one and what is in it."""
        return self._drawn(self.choice.inside) if self.choice.inside else self.tops

    def _drawn(self, top: str) -> list[Drawn]:
        wanted = [path for path in (self.chosen, *self.choice.opened, self.choice.inside) if path]
        return drawn(self.tree, self.seen, wanted, self.choice.folded, top)

    @cached_property
    def boxes(self) -> list[Drawn]:
        """The single boxes of the whole tree, in the order of the map."""
        return [box for top in self.tops for box in top.boxes()]

    def folds(self, path: str) -> bool:
        """Whether an open queue may be folded: nothing that is asked for lies in it."""
        asked = (self.chosen, self.choice.inside)
        return path != self.tree.root and not any(one and self.tree.contains(path, one) for one in asked)

    @cached_property
    def _around(self) -> dict[str, Neighbour]:
        return {each.path: each for each in neighbours_of(self.tree, self.chosen, self.rules)} if self.chosen else {}

    @cached_property
    def around(self) -> dict[str, Neighbour]:
        """Path -> the borders between the chosen queue and every other leaf that the reader may see."""
        return {path: each for path, each in self._around.items() if path in self.seen}

    @cached_property
    def unseen(self) -> list[Neighbour]:
        """The same of the leaves that the reader may not see: nothing of theirs may be named."""
        return [each for path, each in self._around.items() if path not in self.seen]

    @cached_property
    def between(self) -> Between:
        """What went between leaves that the reader may see."""
        return between(self.happened, self.tree, self.rules, self.seen)

    def border_of(self, asker: str, victim: str) -> Border:
        """What lies between two leaves."""
        return self._borders.between(asker, victim)

    @cached_property
    def _borders(self) -> Borders:
        return borders_of(self.tree, self.rules)

    def fence(self, path: str) -> str | None:
        """The nearest fence from a queue upwards, as far as fences count."""
        return None if self.rules.fences is Fences.NONE else self.tree.fence(path)

    def lets_in(self, border: Border) -> bool:
        """Whether a border is open although a fence around the victim does not hold the asker."""
        fence = self.fence(border.victim)
        return border.allowed and fence is not None and not self.tree.contains(fence, border.preemptor)

    @property
    def partial(self) -> bool:
        """Whether there are queues that the reader may not see."""
        return len(self.seen) < len(self.tree.queues)

    @property
    def counts_borders(self) -> bool:
        """Whether the borders of the reader's leaves are few enough to look at each."""
        return len(self.leaves) * len(self.tree.leaves) <= MOST_PAIRS**2

    @cached_property
    def open_borders(self) -> set[tuple[str, str]]:
        """Every open border from or to a leaf that the reader may see, as asker and victim; none if they are many.

        The other may be a leaf of others: of those nothing but their number may be told.
        """
        few = self.leaves if self.counts_borders else ()
        between = {pair for one in few for other in self.tree.leaves for pair in ((one, other), (other, one))}
        return {pair for pair in between if self.border_of(*pair).allowed}

    def is_inside(self, box: Drawn) -> bool:
        """Whether a box is the chosen queue or one in it."""
        return bool(self.chosen) and not box.rest and self.tree.contains(self.chosen, box.path)

    def name(self, path: str) -> str:
        """The queue's own name, with as much of its path as tells it from others on the page."""
        return _short_names(self.seen).get(path) or path.rpartition(".")[2]


@lru_cache(maxsize=16)  # a page asks again at each of its refreshes
def _short_names(paths: frozenset[str]) -> dict[str, str]:
    """Path -> as much of its end as tells it from the others."""
    names: dict[str, str] = {}
    parts = 1
    left = set(paths)
    while left:
        short = {path: ".".join(path.split(".")[-parts:]) for path in left}
        times = Counter(short.values())
        done = {path for path in left if times[short[path]] == 1 or path.count(".") < parts}
        names |= {path: short[path] for path in done}
        left -= done
        parts += 1
    return names
