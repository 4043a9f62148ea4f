"""Implements the decisions of Volcano's plugins: which queues may reclaim, and which pods are reclaimed.

Source: Volcano's plugins gang, conformance, pdb and proportion, and pkg/scheduler/framework, session_plugins.go. Their
quirks are listed in docs/policies/deserved.md.
"""

from collections import Counter
from collections.abc import Callable, Mapping

from engine.feasibility.selectors import matches
from engine.model.objects import PodGroup, SharePlugin, VolcanoPod
from engine.policies.volcano.amounts import Fine, less, less_equal
from engine.policies.volcano.capacity_plugin import CapacityPlugin, within_limit
from engine.policies.volcano.comparison_order import GANG, PRIORITY, ComparisonOrder
from engine.policies.volcano.session import VolcanoSession

Pods = list[VolcanoPod]
Takes = Callable[[VolcanoPod, Pods], Pods]
_SYSTEM = "kube-system"
_CRITICAL = frozenset({"system-cluster-critical", "system-node-critical"})


class Plugins:
    """The plugins that a session's configuration enables."""

    def __init__(self, session: VolcanoSession, order: ComparisonOrder) -> None:
        self._session, self._capacity = session, CapacityPlugin(session, order)
        takes: Mapping[str, Takes] = {
            GANG: self._gang,
            "conformance": self._conformance,
            "pdb": self._within_budgets,
            SharePlugin.PROPORTION: self._proportion,
            SharePlugin.CAPACITY: self._capacity.takes,
        }
        tiers = session.cluster.settings.tiers
        self._tiers = [[takes[name] for name in tier if name in takes] for tier in tiers]
        asked = ([name for name in tier if name in {PRIORITY, GANG}] for tier in tiers)
        self._starving = next(filter(None, asked), [])
        self._gangs = any(GANG in tier for tier in tiers)

    def valid(self, group: PodGroup) -> bool:
        """Return whether a PodGroup could get all pods that it needs.

        Source: validJobFn of Volcano's plugin gang.
        """
        return not self._gangs or self._session.valid(group.key) >= group.min_member

    def starving(self, group: PodGroup) -> bool:
        """Return whether a PodGroup needs more pods.

        In the first tier with a plugin that decides this, all these plugins have to agree.

        Source: Session.JobStarving of Volcano (session_plugins.go).
        """
        has = self._session.ready_or_waiting(group.key)
        wants = {GANG: group.min_member, PRIORITY: len(self._session.members[group.key])}
        return bool(self._starving) and all(has < wants[name] for name in self._starving)

    def served(self, group: PodGroup) -> bool:
        """Return whether a PodGroup has enough pods to start.

        Source: pipelinedFn of Volcano's plugin gang.
        """
        has = self._session.ready_or_waiting(group.key) + self._session.modest(group.key)
        return not self._gangs or has >= group.min_member

    def overused(self, queue: str) -> bool:
        """Return whether a queue may not reclaim at all because it has all that it deserves of every resource.

        Only the plugin ``proportion`` has this rule.

        Source: the overused function of Volcano's plugin proportion.
        """
        by_request = self._session.cluster.settings.plugin is SharePlugin.PROPORTION
        return by_request and less_equal(self._session.of.deserved[queue], self._session.allocated[queue])

    def may_take(self, queue: str, ask: VolcanoPod) -> bool:
        """Return whether a queue may reclaim from other queues for a pod.

        Source: the preemptive functions of Volcano's plugins proportion and capacity.
        """
        session = self._session
        if not session.cluster.queues[queue].open:
            return False
        if session.cluster.settings.plugin is SharePlugin.CAPACITY:
            return self._capacity.may_take(queue, ask)
        return within_limit(session.allocated[queue], session.of.deserved[queue], session.requests[ask.pod.uid])

    def taken(self, ask: VolcanoPod, pods: Pods) -> Pods:
        """Return the pods that may be reclaimed for a pending pod.

        They are the pods that all plugins of a tier name, in the first tier that names any. A plugin that names no pod
        ends its tier. If the plugins so far have no pod in common, their answers are discarded and the next plugin
        decides alone.

        Source: Session.Reclaimable of Volcano (session_plugins.go).
        """
        for tier in self._tiers:
            found: Pods = []
            for takes in tier:
                named = takes(ask, pods)
                if not named:
                    found = []
                    break
                uids = {one.pod.uid for one in named}
                found = [one for one in found if one.pod.uid in uids] if found else named
            if found:
                return found
        return []

    def _gang(self, _ask: VolcanoPod, pods: Pods) -> Pods:
        """Return the pods that their PodGroups do not need, taking pods in the given order.

        Source: preemptableFn of Volcano's plugin gang.
        """
        left = {one.group: self._session.ready(one.group) for one in pods}
        found = []
        for one in pods:
            if left[one.group] > self._session.group(one).min_member:
                left[one.group] -= 1
                found.append(one)
        return found

    def _conformance(self, _ask: VolcanoPod, pods: Pods) -> Pods:
        # Source: evictableFn of Volcano's plugin conformance.
        return [one for one in pods if one.pod.namespace != _SYSTEM and one.pod.priority_class not in _CRITICAL]

    def _within_budgets(self, _ask: VolcanoPod, pods: Pods) -> Pods:
        """Return the pods that disruption budgets allow to evict.

        Pods without labels are never returned, and budgets without a selector are ignored.

        Source: pdbFilterFn of Volcano's plugin pdb.
        """
        used, found = Counter[int](), []
        for pod in (one.pod for one in pods if one.pod.labels):
            covering = [
                number
                for number, budget in enumerate(self._session.cluster.budgets)
                if budget.namespace == pod.namespace
                and budget.expressions
                and matches(budget.expressions, pod.labels)
                and pod.name not in budget.disrupted
            ]
            used.update(covering)
            if all(used[number] <= self._session.cluster.budgets[number].allowed for number in covering):
                found.append(pod.uid)
        return [one for one in pods if one.pod.uid in set(found)]

    def _proportion(self, _ask: VolcanoPod, pods: Pods) -> Pods:
        """Return the pods of queues that exceed what they deserve of any resource.

        Pods are taken in the given order until their queue no longer exceeds what it deserves.

        Source: the reclaimable function of Volcano's plugin proportion.
        """
        session, found = self._session, []
        allocated: dict[str, Fine] = {}
        for one in pods:
            queue = session.group(one).queue
            held = allocated.setdefault(queue, session.allocated[queue])
            if not less_equal(held, session.of.deserved[queue]):
                allocated[queue] = less(held, session.requests[one.pod.uid])
                found.append(one)
        return found
