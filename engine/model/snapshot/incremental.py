"""Pods as they stand in a snapshot, carried on to the next: what did not change is not worked out anew."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from engine.model.collections.tracked_mapping import Followed, MappingChange
from engine.model.columns.pod_fields import in_turn
from engine.model.columns.pod_table import Roster
from engine.model.objects.kubernetes import Namespace, Pod, PriorityClass
from engine.model.placement import grown
from engine.model.quantities import Amounts
from engine.model.queue_tree import BARE, QueueTree
from engine.model.snapshot.queue_assignment import (
    Protection,
    led,
    originators,
    placed,
    shielded,
    sparing,
    unplaced,
    wanted,
)
from engine.model.snapshot.resource_quotas import capped
from engine.model.snapshot.unknown_namespaces import unjudged

_MANY = 4
"""Where more than this part of all pods are others, all are looked at."""


class PlacementInputs(NamedTuple):
    """What decides how a pod stands in a snapshot."""

    tree: QueueTree
    protection: Protection | None
    scheduler: str
    """Whose pods alone are in queues; empty: anybody's are."""
    classes: dict[str, PriorityClass]
    above: dict[str, str]
    """Namespace -> the queue that it says its pods belong below, where the tree heeds it."""

    @classmethod
    def of(
        cls,
        tree: QueueTree,
        protection: Protection | None,
        scheduler: str,
        classes: Mapping[str, PriorityClass],
        namespaces: Mapping[str, Namespace],
    ) -> "PlacementInputs":
        """What holds now; later changes of what is given here change nothing."""
        above = {name: one.parent_queue for name, one in namespaces.items() if tree.placement and one.parent_queue}
        return cls(tree, protection, scheduler, dict(classes), above)

    def stands(self, pod: Pod) -> Pod:
        """The pod with queue, application and, under a protection, shield."""
        above, own_class = self.above.get(pod.namespace, ""), self.classes.get(pod.priority_class)
        return shielded(placed(pod, self.tree, own_class, above, self.scheduler), self.tree, self.protection)

    def roster(self, pods: Iterable[Pod]) -> Roster:
        """Those that are not finished."""
        return Roster(tuple(sorted((self.stands(pod) for pod in pods if not pod.finished), key=in_turn)))


class _Last(NamedTuple):
    step: MappingChange[str, Pod]
    rules: PlacementInputs
    roster: Roster


class Freezing:
    """The pods of one snapshot after another. Copies of a state share it, and may be frozen from several threads."""

    def __init__(self) -> None:
        self._last: _Last | None = None  # replaced, never changed
        self._grown: tuple[QueueTree | None, tuple[str, ...], QueueTree] = (None, (), BARE)
        """A tree, the leaves that were wanted besides, and the tree grown with them."""
        self._narrowed: tuple[tuple[Any, ...], QueueTree] = ((), BARE)
        """A tree, namespaces and their quotas, and the tree within these."""

    def of(
        self, pods: dict[str, Pod], rules: PlacementInputs, known: Iterable[str], now_ms: int
    ) -> tuple[Roster, QueueTree]:
        """Those of ``pods`` (by uid) that are not finished, as they stand under the rules.

        And the tree with the dynamic queues that they are in; while these are the same it is the same tree. ``known``:
        the namespaces of which labels are known.
        """
        roster = self._carried_on(pods, rules)
        roster = originators(rules.roster(pods.values()) if roster is None else roster)
        self._last = _Last(pods.reach(), rules, roster) if isinstance(pods, Followed) else None
        roster = led(roster, rules.tree, rules.protection, rules.scheduler)
        roster, tree = self._within(roster, rules)
        roster = unjudged(roster, frozenset(known))
        if rules.protection is not None and rules.protection.min_run_ms:
            roster = sparing(roster, since_ms=now_ms - rules.protection.min_run_ms)
        return roster, tree

    def narrowed(
        self, tree: QueueTree, namespaces: Mapping[str, Namespace], quotas: Mapping[str, Amounts]
    ) -> QueueTree:
        """The tree within what quotas allow; while nothing of that changes it is the same tree."""
        asked = (tree, dict(namespaces), dict(quotas))
        before, found = self._narrowed
        if before != asked:
            found = capped(*asked)
            self._narrowed = (asked, found)
        return found

    def _carried_on(self, pods: dict[str, Pod], rules: PlacementInputs) -> Roster | None:
        """The last roster with what changed since; None where too much did."""
        last = self._last
        if last is None or last.rules[:3] != rules[:3] or not isinstance(pods, Followed):
            return None
        changed = pods.since(last.step)
        if changed is None:
            return None
        changed |= _ruled_otherwise(last, rules)
        if _MANY * len(changed) > len(last.roster.pods):
            return None
        before = last.roster.pods
        gone = [_place(before, one) for one in changed.values() if one is not None and not one.finished]
        new = (pods[uid] for uid in changed if uid in pods)
        coming = sorted((rules.stands(pod) for pod in new if not pod.finished), key=in_turn)
        at = [_place(before, one) for one in coming]
        return last.roster.merged(np.array(gone, np.intp), np.array(at, np.intp), coming)

    def _within(self, roster: Roster, rules: PlacementInputs) -> tuple[Roster, QueueTree]:
        """The pods, and the tree with their queues. Of leaves that can't both be, that of the oldest pod is."""
        if not rules.tree.placement:
            return roster, rules.tree
        missing = wanted(roster, rules.tree)
        last_tree, last_missing, tree = self._grown
        if last_tree is not rules.tree or last_missing != missing:
            tree = grown(rules.tree, missing)
            self._grown = (rules.tree, missing, tree)
        if refused := {path for path in missing if path not in tree or not tree.is_leaf(path)}:
            places = [place for place, pod in enumerate(roster.pods) if pod.queue in refused]
            pods = [unplaced(roster.pods[place], rules.protection) for place in places]
            roster = roster.swapped(np.array(places, np.intp), pods)
        return roster, tree


def _place(pods: tuple[Pod, ...], pod: Pod) -> int:
    return bisect_left(pods, in_turn(pod), key=in_turn)


def _ruled_otherwise(last: _Last, rules: PlacementInputs) -> dict[str, Pod]:
    """The pods of the last roster whose class or namespace says something else now."""
    classes, namespaces = _differing(last.rules.classes, rules.classes), _differing(last.rules.above, rules.above)
    if not classes and not namespaces:
        return {}
    every = last.roster.pods
    return {pod.uid: pod for pod in every if pod.priority_class in classes or pod.namespace in namespaces}


def _differing(one: Mapping[str, object], other: Mapping[str, object]) -> set[str]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}
