"""What Volcano's plugins say of who may take, and whom.

Source: Volcano's plugins gang, conformance, pdb and proportion, and pkg/scheduler/framework, session_plugins.go. Their
quirks are named in docs/policies/deserved.md.
"""

from collections import Counter
from collections.abc import Callable, Mapping

from engine.feasibility.selectors import matches
from engine.model.objects import PodGroup, SharePlugin, VolcanoPod
from engine.policies.volcano.amounts import Fine, less, less_equal
from engine.policies.volcano.capacity_plugin import CapacityPlugin, within
from engine.policies.volcano.comparison_order import GANG, PRIORITY, Order
from engine.policies.volcano.session import VolcanoSession

Pods = list[VolcanoPod]
Takes = Callable[[VolcanoPod, Pods], Pods]
_SYSTEM = "kube-system"
_CRITICAL = frozenset({"system-cluster-critical", "system-node-critical"})


class Plugins:
    """Those of a session's configuration."""

    def __init__(self, session: VolcanoSession, order: Order) -> None:
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
        """Whether a PodGroup could have all that it needs."""
        return not self._gangs or self._session.valid(group.key) >= group.min_member

    def starving(self, group: PodGroup) -> bool:
        """Whether it wants more: in the first tier that has a word in it, every plugin has to say so."""
        has = self._session.ready_or_waiting(group.key)
        wants = {GANG: group.min_member, PRIORITY: len(self._session.members[group.key])}
        return bool(self._starving) and all(has < wants[name] for name in self._starving)

    def served(self, group: PodGroup) -> bool:
        """Whether it has as much as it needs to start."""
        has = self._session.ready_or_waiting(group.key) + self._session.modest(group.key)
        return not self._gangs or has >= group.min_member

    def overused(self, queue: str) -> bool:
        """Whether a queue may not ask at all: it has all that it deserves, of every resource."""
        by_request = self._session.cluster.settings.plugin is SharePlugin.PROPORTION
        return by_request and less_equal(self._session.of.deserved[queue], self._session.allocated[queue])

    def may_take(self, queue: str, ask: VolcanoPod) -> bool:
        """Whether a queue may take from others for a pod."""
        session = self._session
        if not session.cluster.queues[queue].open:
            return False
        if session.cluster.settings.plugin is SharePlugin.CAPACITY:
            return self._capacity.may_take(queue, ask)
        return within(session.allocated[queue], session.of.deserved[queue], session.requests[ask.pod.uid])

    def taken(self, ask: VolcanoPod, pods: Pods) -> Pods:
        """Those that may go for a pod: in the first tier with an answer those that all of its plugins name.

        One that names nobody ends its tier. Where those named so far have nobody in common, they are forgotten.
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
        """Those that their PodGroup does not need; who is first to be looked at goes."""
        left = {one.group: self._session.ready(one.group) for one in pods}
        found = []
        for one in pods:
            if left[one.group] > self._session.group(one).min_member:
                left[one.group] -= 1
                found.append(one)
        return found

    def _conformance(self, _ask: VolcanoPod, pods: Pods) -> Pods:
        return [one for one in pods if one.pod.namespace != _SYSTEM and one.pod.priority_class not in _CRITICAL]

    def _within_budgets(self, _ask: VolcanoPod, pods: Pods) -> Pods:
        """A pod without labels is never named, nor is a budget without a selector heeded."""
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
        """Those of queues above what they deserve in any resource; who is first to be looked at goes."""
        session, found = self._session, []
        allocated: dict[str, Fine] = {}
        for one in pods:
            queue = session.group(one).queue
            held = allocated.setdefault(queue, session.allocated[queue])
            if not less_equal(held, session.of.deserved[queue]):
                allocated[queue] = less(held, session.requests[one.pod.uid])
                found.append(one)
        return found
