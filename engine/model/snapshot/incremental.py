"""Derives the pods of a snapshot from those of the previous snapshot, computing again only what changed."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from engine.model.collections.tracked_mapping import Moment, TrackedMapping
from engine.model.columns.node_fields import NodeFields
from engine.model.columns.roster import Roster
from engine.model.objects.kubernetes import Namespace, Node, Pod, PriorityClass
from engine.model.placement import add_dynamic_queues
from engine.model.quantities import Amounts
from engine.model.queue_tree import ROOT_ONLY, QueueTree
from engine.model.snapshot.queue_assignment import (
    Protection,
    apply_shield,
    assign_queue,
    follow_first_pod,
    mark_originators,
    missing_leaves,
    move_originators,
    shield_recent_pods,
    without_queue,
)
from engine.model.snapshot.resource_quotas import cap_by_quotas
from engine.model.snapshot.unknown_namespaces import mark_undecidable

_MANY = 4
"""If more than one in this many pods changed, all pods are computed again."""


class PlacementInputs(NamedTuple):
    """The inputs that determine a pod's queue, application and shield in a snapshot."""

    tree: QueueTree
    protection: Protection | None
    scheduler: str
    """The scheduler whose pods alone are in queues; empty: the pods of any scheduler are."""
    classes: dict[str, PriorityClass]
    above: dict[str, str]
    """Namespace -> the queue below which its pods belong, as it says itself, if the tree has placement rules."""

    @classmethod
    def of(
        cls,
        tree: QueueTree,
        protection: Protection | None,
        scheduler: str,
        classes: Mapping[str, PriorityClass],
        namespaces: Mapping[str, Namespace],
    ) -> "PlacementInputs":
        """Return the present inputs. Later changes of the arguments do not affect them."""
        above = {name: one.parent_queue for name, one in namespaces.items() if tree.placement and one.parent_queue}
        return cls(tree, protection, scheduler, dict(classes), above)

    def stands(self, pod: Pod) -> Pod:
        """Return the pod with its queue, application and, under a protection, its shield."""
        above, own_class = self.above.get(pod.namespace, ""), self.classes.get(pod.priority_class)
        return apply_shield(assign_queue(pod, self.tree, own_class, above, self.scheduler), self.tree, self.protection)

    def stand(self, pods: Iterable[Pod]) -> list[Pod]:
        """Return the pods that are not finished, as they stand."""
        return [self.stands(pod) for pod in pods if not pod.finished]


class _Last(NamedTuple):
    moment: Moment[Pod]
    rules: PlacementInputs
    roster: Roster


class PodFreezer:
    """The pods of successive snapshots. Copies of a state share it, and may be frozen from several threads."""

    def __init__(self) -> None:
        self._last: _Last | None = None  # replaced as a whole, never changed
        self._grown: tuple[QueueTree | None, tuple[str, ...], QueueTree] = (None, (), ROOT_ONLY)
        """A tree, the leaves that its pods want besides, and the tree extended by these leaves."""
        self._fields: tuple[Mapping[str, int], NodeFields] = ({}, NodeFields(()))
        """The places of nodes, and the columns of these nodes."""
        self._narrowed: tuple[tuple[Any, ...], QueueTree] = ((), ROOT_ONLY)
        """A tree, namespaces and their quotas, and the tree capped by these quotas."""

    def of(
        self,
        pods: TrackedMapping[Pod],
        nodes: Collection[str],
        rules: PlacementInputs,
        known: Iterable[str],
        now_ms: int,
    ) -> tuple[Roster, QueueTree]:
        """Return a roster of the unfinished ``pods`` (by uid), and the tree with the dynamic queues that they are in.

        The tree is the same object as long as these queues are the same. ``nodes``: the names of the nodes. ``known``:
        the namespaces whose labels are known.
        """
        place = self._places_of(nodes)
        roster = self._carried_on(pods, rules, place, now_ms)
        if roster is None:
            self._last = None  # two whole rosters at once would need much memory
            roster = Roster.of(mark_originators(rules.stand(pods.values())), place, now_ms)
        self._last = _Last(pods.reach(), rules, roster)
        roster = follow_first_pod(roster, rules.tree, rules.protection, rules.scheduler)
        roster, tree = self._within(roster, rules)
        roster = mark_undecidable(roster, frozenset(known))
        if rules.protection is not None and rules.protection.min_run_ms:
            roster = shield_recent_pods(roster, since_ms=now_ms - rules.protection.min_run_ms)
        return roster, tree

    def fields_of(self, nodes: tuple[Node, ...], place: Mapping[str, int]) -> NodeFields:
        """Return the columns of the nodes, which are in the order of ``place``; those of before are continued."""
        before, fields = self._fields
        fields = fields.replaced(nodes) if before is place else NodeFields(nodes)
        self._fields = (place, fields)
        return fields

    def narrowed(
        self, tree: QueueTree, namespaces: Mapping[str, Namespace], quotas: Mapping[str, Amounts]
    ) -> QueueTree:
        """Return the tree capped by the quotas; it is the same object as long as none of the inputs changes."""
        asked = (tree, dict(namespaces), dict(quotas))
        before, found = self._narrowed
        if before != asked:
            found = cap_by_quotas(*asked)
            self._narrowed = (asked, found)
        return found

    def _places_of(self, nodes: Collection[str]) -> Mapping[str, int]:
        """Return the index of each node by name; it is the same object as long as the nodes are the same."""
        before = self._last.roster.place if self._last else {}
        if len(nodes) == len(before) and all(map(before.__contains__, nodes)):
            return before
        return {name: number for number, name in enumerate(sorted(nodes))}

    def _carried_on(
        self, pods: TrackedMapping[Pod], rules: PlacementInputs, place: Mapping[str, int], now_ms: int
    ) -> Roster | None:
        """Return the last roster, updated by what changed since; None if too much changed."""
        last = self._last
        if last is None or last.rules[:3] != rules[:3]:
            return None
        changed = pods.since(last.moment)
        if changed is None:
            return None
        changed |= _ruled_otherwise(last, rules)
        if _MANY * len(changed) > len(last.roster.pods):
            return None
        gone = [last.roster.row_of(one) for one in changed.values() if one is not None and not one.finished]
        coming = rules.stand(pods[uid] for uid in changed if uid in pods)
        return last.roster.merged(*move_originators(last.roster, gone, coming), place, now_ms)

    def _within(self, roster: Roster, rules: PlacementInputs) -> tuple[Roster, QueueTree]:
        """Return the pods, and the tree with their queues.

        Of leaves that can't both exist, that of the oldest pod exists.
        """
        if not rules.tree.placement:
            return roster, rules.tree
        missing = missing_leaves(roster, rules.tree)
        last_tree, last_missing, tree = self._grown
        if last_tree is not rules.tree or last_missing != missing:
            tree = add_dynamic_queues(rules.tree, missing)
            self._grown = (rules.tree, missing, tree)
        if refused := {path for path in missing if path not in tree or not tree.is_leaf(path)}:
            places = [place for place, pod in enumerate(roster.pods) if pod.queue in refused]
            pods = [without_queue(roster.pods[place], rules.protection) for place in places]
            roster = roster.swapped(np.array(places, np.intp), pods)
        return roster, tree


def _ruled_otherwise(last: _Last, rules: PlacementInputs) -> dict[str, Pod]:
    """Return the pods of the last roster whose priority class or namespace settings changed, by uid."""
    classes, namespaces = _differing(last.rules.classes, rules.classes), _differing(last.rules.above, rules.above)
    if not classes and not namespaces:
        return {}
    every = last.roster.pods
    return {pod.uid: pod for pod in every if pod.priority_class in classes or pod.namespace in namespaces}


def _differing(one: Mapping[str, object], other: Mapping[str, object]) -> set[str]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}
