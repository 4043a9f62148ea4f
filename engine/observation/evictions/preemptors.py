"""Find for whom pods were evicted: as an Event names the preemptor, or else by the nominations to the victims' node."""

from functools import cached_property

import msgspec

from engine.model.decision import PodFacts
from engine.model.objects import Pod, Preempted, SchedulingGroup
from engine.model.quantities import total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState
from engine.observation.evictions.eviction_sources import CLOCKS_MS, FOR_GROUP, EvictionSource
from engine.observation.evictions.observed import Observed


def is_resized(preemptor: Pod, at_ms: int) -> bool:
    """Return whether a preemption at a time was for the resize of a running pod.

    The pod waits for its resize, or ran long before: any other preemptor gets its node after the preemption. Both
    times may be of different clocks.
    """
    ran_before = preemptor.started_ms is not None and preemptor.started_ms < at_ms - CLOCKS_MS
    return preemptor.node is not None and (preemptor.resize_deferred or ran_before)


class Preemptors:
    """The preemptors that the current cluster shows."""

    def __init__(self, state: ClusterState, tree: QueueTree) -> None:
        self._state, self._tree = state, tree

    def named_in(self, observed: Observed, event: Preempted | None) -> Observed:
        """Return the decision with its preemptor, or with the pods that may have been the preemptor."""
        if event is not None and (event.ask_uid or event.ask_name):
            preemptor = self._of_event(observed, event)
            named = preemptor or self._named_by(event)
            resizes = self._resizes(observed, event)
            return msgspec.structs.replace(observed, ask=named, ask_known=preemptor is not None, for_resize=resizes)
        return self._inferred(observed) if observed.source is EvictionSource.KUBE_SCHEDULER else observed

    def named(self, uid: str, namespace: str, name: str) -> PodFacts:
        """Return the facts of a pod that was never seen; its labels, which may name another queue, are not known."""
        queue = self._tree.leaf_by_namespace.get(namespace, "")
        return PodFacts(uid=uid, namespace=namespace, name=name, queue=queue, application="", priority=0, requests={})

    # As an Event names it

    def _of_event(self, observed: Observed, event: Preempted) -> PodFacts | None:
        if observed.source is EvictionSource.KUEUE:
            return self._workload(event.ask_uid)
        if not observed.for_group:
            return self._pod(event.ask_uid)
        groups = self._state.scheduling_groups.values()
        return next((self._group(group, observed.at_ms) for group in groups if group.uid == event.ask_uid), None)

    def _resizes(self, observed: Observed, event: Preempted) -> bool:
        pod = self._state.known_pod(event.ask_uid)
        return observed.source is EvictionSource.KUBE_SCHEDULER and pod is not None and is_resized(pod, event.at_ms)

    def _named_by(self, event: Preempted) -> PodFacts:
        named = self.named(event.ask_uid, event.ask_namespace, event.ask_name)
        queue = event.ask_queue or named.queue
        return msgspec.structs.replace(named, queue=queue, application=event.ask_application)

    def _pod(self, uid: str) -> PodFacts | None:
        pod = self._state.placed(uid, self._tree)
        return None if pod is None else msgspec.structs.replace(PodFacts.of(pod), node="")

    def _workload(self, uid: str) -> PodFacts | None:
        """Return the Workload that preempted, as facts of a pod; its pods are created later, if at all."""
        workload = self._state.workloads.get(uid)
        if workload is None:
            return None
        named = self.named(uid, workload.namespace, workload.name)
        return msgspec.structs.replace(named, application=workload.owner or workload.name, priority=workload.priority)

    def _group(self, group: SchedulingGroup, at_ms: int) -> PodFacts:
        """Return a group as facts of a pod: with its priority, and all that its pods waited for at a moment.

        Pods that got their node since then are counted too: it was for them that room was made.
        """
        members = self._members.get((group.namespace, group.name), ())
        queues = {self._state.queue_of(pod, self._tree) for pod in members}
        named = self.named(group.uid, group.namespace, group.name)
        return msgspec.structs.replace(
            named,
            queue=(queues.pop() or "") if len(queues) == 1 else named.queue,
            priority=group.priority,
            requests=total(pod.requests for pod in members if not _ran_before(pod, at_ms)),
        )

    @cached_property
    def _members(self) -> dict[tuple[str, str], list[Pod]]:
        members: dict[tuple[str, str], list[Pod]] = {}
        for pod in self._state.pods.values():
            if pod.scheduling_group and not pod.finished:
                members.setdefault((pod.namespace, pod.scheduling_group), []).append(pod)
        return members

    # By nominations

    def _inferred(self, observed: Observed) -> Observed:
        nominated = self._nominated(observed)
        if self._is_for_group(observed):
            return self._with_group(observed, nominated)
        if len(nominated) == 1 and _are_below(observed, nominated[0].priority):
            return msgspec.structs.replace(observed, ask=self._pod(nominated[0].uid), ask_inferred=True)
        return msgspec.structs.replace(observed, nominated=tuple(sorted(pod.key for pod in nominated)))

    def _is_for_group(self, observed: Observed) -> bool:
        """Return whether the conditions of the victims say that they went for a group of pods."""
        victims = [self._state.known_pod(victim.pod.uid) for victim in observed.victims]
        return all(pod is not None and pod.disruption_message.endswith(FOR_GROUP) for pod in victims)

    def _with_group(self, observed: Observed, nominated: list[Pod]) -> Observed:
        """Return the decision with its group, if pods of only one group are nominated to the node."""
        keys = {(pod.namespace, pod.scheduling_group) for pod in nominated if pod.scheduling_group}
        groups = [group for key in keys if (group := self._state.scheduling_groups.get(key)) is not None]
        if len(keys) == len(groups) == 1 and _are_below(observed, groups[0].priority):
            ask = self._group(groups[0], observed.at_ms)
            return msgspec.structs.replace(observed, ask=ask, ask_kind="PodGroup", ask_inferred=True)
        members = sorted(pod.key for pod in nominated if pod.scheduling_group)
        return msgspec.structs.replace(observed, nominated=tuple(members))

    def _nominated(self, observed: Observed) -> list[Pod]:
        """Return the pods that may be the preemptor: nominated to the node, with a higher priority than a victim."""
        lowest = min((victim.pod.priority for victim in observed.victims if victim.known), default=None)
        waiting = self._nominees.get(observed.node, ())
        return [pod for pod in waiting if lowest is not None and pod.priority > lowest]

    @cached_property
    def _nominees(self) -> dict[str, list[Pod]]:
        nominees: dict[str, list[Pod]] = {}
        for pod in self._state.pods.values():
            if pod.nominated_node and pod.node is None:
                nominees.setdefault(pod.nominated_node, []).append(pod)
        return nominees


def _are_below(observed: Observed, priority: int) -> bool:
    return all(victim.known and victim.pod.priority < priority for victim in observed.victims)


def _ran_before(pod: Pod, at_ms: int) -> bool:
    """Return whether a pod had started before a moment; API servers cut the time of a start to seconds."""
    return pod.node is not None and pod.started_ms is not None and pod.started_ms + 1_000 <= at_ms
