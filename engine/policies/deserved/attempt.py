"""One ask at one moment: who stands where, and what the ask's queue would have with it."""

from collections.abc import Callable, Mapping
from functools import cached_property
from math import lcm

import numpy as np

from engine.model.columns.node_columns import Flags, Numbers
from engine.model.objects import Pod
from engine.model.quantities import PODS, Amounts
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot
from engine.model.snapshot.resource_quotas import SYSTEM
from engine.policies.common.attempt import PreemptionAttempt
from engine.policies.deserved.parameters import Parameters
from engine.policies.deserved.shares.division import Method, deserved
from engine.policies.deserved.shares.share_index import ground
from engine.policies.deserved.shares.share_ledger import ShareLedger
from engine.policies.deserved.shares.share_status import Standings, standing_on


class ReclaimAttempt:
    """One ask at one moment."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree, ask: Pod, parameters: Parameters) -> None:
        self.snapshot, self.tree, self.ask, self.parameters = snapshot, tree, ask, parameters
        self.nodes = PreemptionAttempt(snapshot, tree, ask)
        """Where it might run."""
        self.leaf = ask.queue or tree.root
        self.lineage = frozenset(tree.lineage(self.leaf))
        asked = {name: amount for name, amount in ask.requests.items() if amount > 0}
        self.wanted: Amounts = {name: amount for name, amount in asked.items() if name != PODS} or asked
        """What is asked; of an ask for resources the pod itself is not counted."""
        self.ground = ground(snapshot, tree)

    @cached_property
    def standings(self) -> Standings:
        """Path -> where the queue stands."""
        shares = deserved(self.tree, self.ground.requests, self.ground.capacity, Method(self.parameters.method))
        return standing_on(self.ground, self.snapshot, self.tree, shares)

    @cached_property
    def ledger(self) -> ShareLedger:
        """The same of all queues at once."""
        kept: dict[str, ShareLedger] = self.snapshot.once("deserved ledger", (self.tree, self.parameters.method), dict)
        latest = kept.get("latest")
        kept["latest"] = found = (
            latest.moved(self.standings) if latest else ShareLedger(self.nodes.ground, self.standings)
        )
        return found

    @cached_property
    def above_ask(self) -> Flags:
        """Queue by number -> whether it is the ask's, or above it."""
        above = np.zeros(self.nodes.ground.nobody + 1, np.bool_)
        above[[self.nodes.ground.number[path] for path in self.lineage]] = True
        return above

    @cached_property
    def overused(self) -> dict[str, Flags]:
        """What is wanted -> queue by number -> whether it and all above it that are not above the ask overuse it."""
        ground = self.nodes.ground
        spared = self.above_ask.copy()
        spared[ground.nobody] = True
        flags = {name: spared | np.asarray(self.ledger.over(name) > 0, np.bool_) for name in self.wanted}
        return {name: np.asarray(one[ground.line].all(axis=0), np.bool_) for name, one in flags.items()}

    @cached_property
    def counted(self) -> Amounts:
        """What is wanted of which there is any -> how much there is, by which queues are compared."""
        capacity = self.ground.capacity
        return {name: capacity[name] for name in self.wanted if name in capacity}

    @cached_property
    def whole(self) -> int:
        """A number that all that is there of anything ``counted`` divides."""
        return lcm(*self.counted.values())

    @property
    def too_large(self) -> bool:
        """Whether it would fit no node if all were empty."""
        return any(pod.uid == self.ask.uid for pod in self.ground.too_large)

    @cached_property
    def beyond(self) -> str:
        """The queue and the first resource of which that would have more than it deserves with the ask."""
        return "" if self.ask.namespace == SYSTEM else self._more_than(self.standings[self.leaf].deserved, 0)

    @cached_property
    def over_hard(self) -> str:
        """The queue and the first resource of which that would have more than it may ever have."""
        return self._more_than(self.standings[self.leaf].hard, None)

    def _more_than(self, limits: Mapping[str, int], otherwise: int | None) -> str:
        used = self.standings[self.leaf].used
        for name, amount in sorted(self.ask.requests.items()):
            limit = limits.get(name, otherwise)
            if amount > 0 and limit is not None and used.get(name, 0) + amount > limit:
                return f"{self.leaf} {name}"
        return ""

    @property
    def outranks(self) -> bool:
        """Whether it may take beyond what its queue deserves, and would."""
        return bool(self.beyond) and self.ask.priority_class in self.parameters.high_priority

    def common(self, queue: str) -> int:
        """How many queues above a queue are above the ask too."""
        return sum(path in self.lineage for path in self.tree.lineage(queue))

    def line(self, queue: str) -> tuple[str, ...]:
        """The queue and those above it that are not above the ask too, the lowest first."""
        return tuple(path for path in self.tree.lineage(queue) if path not in self.lineage)

    @cached_property
    def excess(self) -> dict[tuple[str, str], int]:
        """Area above the ask's queue, and resource -> by how much it would exceed its hard with the ask."""
        found = {}
        for path in self.tree.lineage(self.leaf)[1:]:
            for name, limit in self.standings[path].hard.items():
                more = self.standings[path].used.get(name, 0) + self.ask.requests.get(name, 0) - limit
                if more > 0 and self.ask.requests.get(name, 0) > 0:
                    found[path, name] = more
        return found

    def due_ms(self, queue: str) -> int:
        """From when on pods may be taken from a queue: when it was told, or now, and its grace."""
        due: dict[str, int] = self.snapshot.once("deserved due", self.tree, dict)
        if queue not in due:
            told = self.snapshot.notices.get(queue, self.snapshot.now_ms)
            due[queue] = told + self.tree.delay_ms(queue, inherited=True)
        return due[queue]

    def in_grace(self, queue: str) -> bool:
        """Whether a queue was not told yet, or still has time to give back by itself."""
        return queue not in self.snapshot.notices or self.due_ms(queue) > self.snapshot.now_ms

    @cached_property
    def free(self) -> dict[str, Numbers]:
        """What is asked -> place -> what is free of it once those on their way out are gone."""
        columns, leaving = self.nodes.columns, self.nodes.leaving
        return {
            name: columns.allocatable(name)
            - columns.held(name)
            + leaving.of(columns.requests(name), columns.requested_upto(name))
            for name in self.ask.requests
        }

    @property
    def told(self) -> Flags:
        """Queue by number -> whether it was told to give back."""
        notices = self.snapshot.notices
        return self._once("told", lambda queue: queue in notices)

    @property
    def past_grace(self) -> Flags:
        """Queue by number -> whether it was, and has had its time to give back by itself."""
        return self._once("past grace", lambda queue: not self.in_grace(queue))

    def _once(self, what: str, meets: Callable[[str], bool]) -> Flags:
        ground = self.nodes.ground
        return self.snapshot.once(
            f"deserved {what}", self.tree, lambda: np.array([*map(meets, ground.paths), False], np.bool_)
        )
