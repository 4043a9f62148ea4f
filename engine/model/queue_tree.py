"""The queue tree: what each queue is guaranteed, and where a fence stops preemption."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from engine.model.placement_rules import Rule
from engine.model.quantities import Amounts, add, total
from engine.model.queue_paths import upwards

DEFAULT_DELAY_MS = 30_000
"""How long a pending pod waits before it may preempt, if its leaf does not set a delay (YuniKorn's default)."""


Made = TypeVar("Made")

ROOT = "root"
"""The name of the root in every tree that people write."""

LONGEST_PATH = 500
"""The most characters that a queue path may have."""

_NAME = re.compile(r"[A-Za-z0-9_:#/@-]{1,64}")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def is_queue_name(name: str) -> bool:
    """Return whether a queue may have this name: up to 64 letters, digits and ``_:#/@-``, as in YuniKorn."""
    return _NAME.fullmatch(name) is not None


def is_queue_path(path: str) -> bool:
    """Return whether a queue below the root may have this path, written from the root on."""
    top, *names = path.split(".")
    return top == ROOT and bool(names) and all(map(is_queue_name, names)) and len(path) <= LONGEST_PATH


def is_namespace(name: str) -> bool:
    """Return whether a Kubernetes namespace may have this name."""
    return _NAMESPACE.fullmatch(name) is not None


LONGEST_DELAY_MS = 2**31 - 1
"""The longest delay that a queue may have: some 24 days."""

WEIGHT_ONE = 10**9
"""A weight of 1: weights are kept in billionths, the finest that a Kubernetes quantity can express."""


def write_weight(weight: int) -> str:
    """Return a weight as people type it: ``1.5``."""
    whole, rest = divmod(weight, WEIGHT_ONE)
    return f"{whole}.{rest:09}".rstrip("0").rstrip(".")


class PreemptionPolicy(StrEnum):
    """The preemption policy of a queue (YuniKorn's property ``preemption.policy``)."""

    DEFAULT = "default"
    FENCE = "fence"
    DISABLED = "disabled"


class PriorityPolicy(StrEnum):
    """Whether priorities below a queue are compared with those outside it (``priority.policy``)."""

    DEFAULT = "default"
    FENCE = "fence"


class Take(StrEnum):
    """Which pods a queue may preempt, compared with its own pending pods, in Kueue's words."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
    LOWER_OR_NEWER_EQUAL_PRIORITY = "LowerOrNewerEqualPriority"
    ANY = "Any"


TAKES_WITHIN = (Take.NEVER, Take.LOWER_PRIORITY, Take.LOWER_OR_NEWER_EQUAL_PRIORITY)
"""The values that are possible inside a queue."""
TAKES_RECLAIM = (Take.NEVER, Take.LOWER_PRIORITY, Take.ANY)
"""The values that are possible towards other queues."""


class GuaranteeStatus(StrEnum):
    """A queue's usage of one resource compared with its guarantee."""

    BELOW = "below"
    AT = "at"
    ABOVE = "above"
    NONE = "none"
    """Nothing is guaranteed, and nothing is used."""

    @classmethod
    def of(cls, used: int, guaranteed: int | None) -> "GuaranteeStatus":
        """Return the status of ``used``; without a guarantee any usage is above it."""
        if guaranteed is None:
            return cls.ABOVE if used else cls.NONE
        return cls.AT if used == guaranteed else cls.BELOW if used < guaranteed else cls.ABOVE

    @classmethod
    def of_queue(cls, resources: Iterable["GuaranteeStatus"]) -> "GuaranteeStatus":
        """Return the status of a whole queue, given the status of each resource that it is guaranteed.

        Above in one resource is enough to be above, because pods of the queue can then be preempted. A queue is at its
        guarantee only if it is neither above nor below it in any resource.
        """
        found = frozenset(resources)
        return next((one for one in (cls.ABOVE, cls.BELOW, cls.AT) if one in found), cls.NONE)


Shares = dict[str, int]
"""Resource name -> thousandths of a percent."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings of a queue, or those that a template gives to dynamic leaves below it."""

    guaranteed: Amounts = {}
    max: Amounts = {}
    """A limit on the usage; a resource that is missing is not limited here."""
    guaranteed_share: Shares = {}
    """The guarantees that were given as a share: of what the nearest queue above sets, else of the cluster."""
    max_share: Shares = {}
    preemption_policy: PreemptionPolicy = PreemptionPolicy.DEFAULT
    delay_ms: int | None = None
    """How long pending pods of the leaf wait before they may preempt; not inherited. None is DEFAULT_DELAY_MS."""
    quota_delay_ms: int | None = None
    """How long YuniKorn waits before it enforces a max that was lowered below the usage; None: as the queue above."""
    priority_policy: PriorityPolicy = PriorityPolicy.DEFAULT
    priority_offset: int = 0
    evict_uncontrolled: bool = False
    """Whether pods without a controller, which nothing would create again, may be victims."""
    weight: int = WEIGHT_ONE
    """The divisor of its borrowing under fair sharing, in billionths. With 0, any borrowing is the highest share."""
    lendable: Amounts = {}
    """The most that it lends of its guarantee; a resource that is missing is lent as a whole."""
    take_within: Take | None = None
    """Which pods of the leaf its pending pods may preempt, never Any; None: as the policy's parameters say."""
    take_reclaim: Take | None = None
    """Which pods they may preempt in other queues that borrow; None: as the policy's parameters say."""
    take_borrowing: bool | None = None
    """Whether they may preempt in other queues while their own queue borrows; None: as the policy's parameters say."""
    take_threshold: int | None = None
    """The highest priority of the pods that they may preempt then; None: any priority below their own."""


class Queue(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """A node of the tree with its own settings only; the QueueTree determines what is inherited."""

    path: str
    """The dotted path, from ``root`` down: ``root.tenant-1.queue-b``."""
    namespaces: tuple[str, ...] = ()
    """The namespaces whose pods run in this leaf if they name no queue."""
    former_paths: tuple[str, ...] = ()
    """What the queue was called before. Pods that name one of these paths, or a path below, run where the queue is
    now."""
    parent_declared: bool = False
    "Whether the queue can contain only queues, even while it contains none."
    template: Settings | None = None
    """The settings of dynamic leaves below it, down to the next queue that has a template of its own."""
    dynamic: bool = False
    """Whether the queue exists because of its pods; never true in a tree as people write it."""

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def parent(self) -> str | None:
        """Return the path of the queue above, or None for the root."""
        return self.path.rpartition(".")[0] or None


class TreeError(ValueError):
    """Queues that do not form a tree. ``str()`` is a sentence that names the queue."""


class QueueTree:
    """An immutable tree of queues, with the rules by which pods find their leaf.

    Without placement rules pods name their leaf themselves.

    Shares (see Settings) are resolved already: beside each share is the amount, which alone counts.

    Raises TreeError when a path occurs twice, a parent is missing, or there is not exactly one root.
    """

    def __init__(
        self, queues: Iterable[Queue], placement: Iterable[Rule] = (), capacity: Mapping[str, int] | None = None
    ) -> None:
        self.placement = tuple(placement)
        self.capacity: Amounts = dict(capacity or {})
        """The cluster's capacity when shares of it were resolved, for the resources that have such shares."""
        self.queues: dict[str, Queue] = {}
        for queue in queues:
            if queue.path in self.queues:
                raise TreeError(f"queue {queue.path} is given twice")
            self.queues[queue.path] = queue
        self.parents = {path: queue.parent for path, queue in self.queues.items()}
        """Path -> the path of the queue above, None for the root."""
        roots = [path for path, parent in self.parents.items() if parent is None]
        if len(roots) != 1:
            raise TreeError(f"a tree has one root queue, this one has {len(roots)}")
        self.root = roots[0]
        self.children: dict[str, list[str]] = {path: [] for path in self.queues}
        for path, parent in self.parents.items():
            if parent is None:
                continue
            if parent not in self.queues:
                raise TreeError(f"queue {path} has no parent {parent}")
            self.children[parent].append(path)
        self._kept: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the result of ``make``, computed once and then kept with the tree. It must not refer to the tree."""
        made: Made | None = self._kept.get(key)
        if made is None:
            made = self._kept[key] = make()
        return made

    def __contains__(self, path: object) -> bool:
        return path in self.queues

    def __getitem__(self, path: str) -> Queue:
        return self.queues[path]

    def is_leaf(self, path: str) -> bool:
        """Return whether pods run in this queue."""
        return not self.children[path] and not self.queues[path].parent_declared

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Return the paths of all leaves, in the order of the tree."""
        return tuple(path for path in self.walk() if self.is_leaf(path))

    @cached_property
    def written(self) -> dict[str, str]:
        """Return the paths of the queues that people wrote, by path in lower case, as YuniKorn ignores case."""
        return {path.lower(): path for path, queue in self.queues.items() if not queue.dynamic}

    @property
    def dynamic(self) -> tuple[Queue, ...]:
        """Return the queues that exist because of their pods, parents before children."""
        return tuple(self.queues[path] for path in self.walk() if self.queues[path].dynamic)

    @cached_property
    def leaf_by_namespace(self) -> dict[str, str]:
        """Return the leaf that claims each namespace.

        If several leaves claim it, it is the first by path, which is the order in which trees are stored.
        """
        ordered = sorted(self.leaves, key=lambda leaf: leaf.split("."), reverse=True)
        return {name: leaf for leaf in ordered for name in self.queues[leaf].namespaces}

    @cached_property
    def former_paths(self) -> dict[str, str]:
        """Return the queue that had each former path; the first by path, unless a queue has that path now."""
        ordered = sorted(self.queues, key=lambda path: path.split("."), reverse=True)
        had = {was: path for path in ordered for was in self.queues[path].former_paths}
        return {was: path for was, path in had.items() if was.lower() not in self.written}

    @cached_property
    def by_former_path(self) -> dict[str, str]:
        """Return ``former_paths`` with the former paths in lower case."""
        return {was.lower(): path for was, path in self.former_paths.items()}

    def now(self, path: str) -> str:
        """Return what a path is called now if its queue, or a queue above, was renamed; otherwise the path itself."""
        for _rename in range(len(self.by_former_path)):
            if path in self.queues or path.lower() in self.written:
                break
            above = next((one for one in upwards(path) if one.lower() in self.by_former_path), None)
            if above is None:
                break
            path = self.by_former_path[above.lower()] + path[len(above) :]
        return path

    @cached_property
    def leaf_by_name(self) -> dict[str, str]:
        """Return the leaf of each name, without names that several leaves share."""
        names = Counter(self.queues[leaf].name for leaf in self.leaves)
        return {name: leaf for leaf in self.leaves if names[name := self.queues[leaf].name] == 1}

    def walk(self, path: str | None = None) -> tuple[str, ...]:
        """Return the paths of a subtree (default: all), parents before children, siblings in the order given."""
        if path is None:
            return self._order
        first, end = self.span(path)
        return self._order[first:end]

    def span(self, path: str) -> tuple[int, int]:
        """Return where a subtree begins in the order of the tree, and where it ends: the position after its last."""
        first = self.turn[path]
        return first, first + self._sizes[path]

    @cached_property
    def _order(self) -> tuple[str, ...]:
        found, pending = [], [self.root]
        while pending:
            found.append(path := pending.pop())
            pending.extend(reversed(self.children[path]))
        return tuple(found)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """Return how many queues each subtree has."""
        sizes: dict[str, int] = {}
        for path in reversed(self._order):
            sizes[path] = 1 + sum(sizes[child] for child in self.children[path])
        return sizes

    @cached_property
    def turn(self) -> dict[str, int]:
        """Return the position of each path in the order of the tree."""
        return {path: number for number, path in enumerate(self._order)}

    @cached_property
    def _lineages(self) -> dict[str, tuple[str, ...]]:
        lineages: dict[str, tuple[str, ...]] = {self.root: (self.root,)}
        for path in self._order:
            own = lineages[path]
            for child in self.children[path]:
                lineages[child] = (child, *own)
        return lineages

    def lineage(self, path: str) -> tuple[str, ...]:
        """Return the queue and all queues above it, from the queue up to the root."""
        return self._lineages[path]

    def contains(self, above: str, path: str) -> bool:
        """Return whether ``path`` is ``above`` or lies in its subtree."""
        return above in self._lineages[path]

    def fence(self, leaf: str) -> str | None:
        """Return the nearest queue with a fence, from the leaf upwards, or None; a fence on the root does not count."""
        return self._fences[leaf]

    @cached_property
    def _fences(self) -> dict[str, str | None]:
        return self._nearest(PreemptionPolicy.FENCE)

    def disabled_by(self, path: str) -> str | None:
        """Return the nearest queue, from ``path`` upwards, that turns preemption off (inherited), or None."""
        return self._disabled[path]

    @cached_property
    def _disabled(self) -> dict[str, str | None]:
        return self._nearest(PreemptionPolicy.DISABLED)

    def _nearest(self, policy: PreemptionPolicy) -> dict[str, str | None]:
        """Return, by path, the nearest queue from it upwards that has this policy, leaving out the root."""
        found: dict[str, str | None] = {self.root: None}
        for path in self._order:
            for child in self.children[path]:
                found[child] = child if self.queues[child].preemption_policy is policy else found[path]
        return found

    def delay_by(self, leaf: str, *, inherited: bool = False) -> str | None:
        """Return the queue whose delay applies to pending pods of a leaf before they may preempt, or None if none does.

        ``inherited``: as in YuniKorn, where a leaf inherits the delay of a queue above.
        """
        said = self.lineage(leaf) if inherited else (leaf,)
        return next((path for path in said if self.queues[path].delay_ms is not None), None)

    def delay_ms(self, leaf: str, *, inherited: bool = False) -> int:
        """Return how long pending pods of a leaf wait before they may preempt, in milliseconds."""
        by = self.delay_by(leaf, inherited=inherited)
        said = self.queues[by].delay_ms if by is not None else None
        return DEFAULT_DELAY_MS if said is None else said

    def quota_delay_ms(self, path: str) -> int | None:
        """Return how long after its max was lowered a queue is brought under it (inherited), or None if it never is."""
        by = self.quota_delay_by(path)
        return None if by is None else self.queues[by].quota_delay_ms

    def quota_delay_by(self, path: str) -> str | None:
        """Return the queue whose ``quota_delay_ms`` applies to this queue, or None if none does."""
        return next((above for above in self.lineage(path) if self.queues[above].quota_delay_ms is not None), None)

    def entitling(self, leaf: str, resource: str) -> str | None:
        """Return E(r): the nearest queue from the leaf upwards that has a guarantee in the resource, or None."""
        for path in self.lineage(leaf):
            if resource in self.queues[path].guaranteed:
                return path
        return None

    @cached_property
    def promised(self) -> dict[str, Amounts]:
        """Return what each queue is guaranteed, by path.

        For a resource that a queue does not name, it is what the queues below it are promised.
        """
        return {path: below | self.queues[path].guaranteed for path, below in self.promised_below.items()}

    @cached_property
    def promised_below(self) -> dict[str, Amounts]:
        """Return what the queues directly below each queue are promised together."""
        found: dict[str, Amounts] = {}
        for path in reversed(self._order):
            found[path] = total(found[child] | self.queues[child].guaranteed for child in self.children[path])
        return found

    def unkept(self, path: str, resource: str) -> str | None:
        """Return the nearest queue, from ``path`` upwards, that can't keep what is promised there and below.

        Its guarantee or max is less than that. None means that every promise of the resource on the way can be kept.
        """
        for above in self.lineage(path):
            queue, below = self.queues[above], self.promised_below[above].get(resource, 0)
            most = max(below, queue.guaranteed.get(resource, 0))
            if below > queue.guaranteed.get(resource, below) or most > queue.max.get(resource, most):
                return above
        return None

    def distance(self, one: str, other: str) -> int:
        """Return the number of steps from one queue to the other through the nearest queue above both."""
        shared = len(set(self.lineage(one)) & set(self.lineage(other)))
        return len(self.lineage(one)) + len(self.lineage(other)) - 2 * shared

    def usage(self, held: Iterable[tuple[str | None, Mapping[str, int]]]) -> dict[str, Amounts]:
        """Return what is held in each queue and below it, given the queue and the amounts of each holder."""
        return self.roll_up(self.held_by_leaf(held))

    def held_by_leaf(self, held: Iterable[tuple[str | None, Mapping[str, int]]]) -> dict[str, Amounts]:
        """Return what is held in each queue itself, given the queue and the amounts of each holder.

        Holders in no queue of the tree are left out, and so are queues without a holder.
        """
        by_leaf: dict[str, list[Mapping[str, int]]] = {}
        for queue, amounts in held:
            if queue is not None and queue in self.queues:
                by_leaf.setdefault(queue, []).append(amounts)
        return {queue: total(each) for queue, each in by_leaf.items()}

    def roll_up(self, by_leaf: Mapping[str, Mapping[str, int]]) -> dict[str, Amounts]:
        """Return the amounts of every queue from those of the leaves: a parent's are the sum below it."""
        result: dict[str, Amounts] = {path: {} for path in self.queues}
        for leaf, amounts in by_leaf.items():
            for path in self.lineage(leaf):
                result[path] = add(result[path], amounts)
        return result


ROOT_ONLY = QueueTree([Queue(path=ROOT)])
"""A tree that has only a root, used where there is no tree."""
