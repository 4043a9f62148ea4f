"""Builds the trace of a decision by quota: what is short, which queues borrow how much, and why workloads are kept."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from engine.model.decision import PodFacts, PodReason, PodVerdict, QueueFigures, QuotaFigures, ShareFigures, Trace
from engine.model.quantities import PODS, Amounts, add, subtract
from engine.model.queue_tree import QueueTree
from engine.model.quota import FlavorResource, QuotaUsage, Workload, share_of
from engine.model.quota.pod_workloads import GroupedWorkloads
from engine.model.quota.tree_reading import FLAVOR
from engine.policies.cohort.exclusions import ExclusionReasons
from engine.policies.cohort.pass_reuse import quota_index_of
from engine.policies.cohort.search.fair import Strategy
from engine.policies.cohort.workload_decision import WorkloadVerdict
from engine.policies.common.queue_usage import UsageChange

_MAX_LISTED = 20
"""The maximum number of kept workloads that are reported individually; the others are only counted."""


class WorkloadDecision:
    """The decision for a workload, with the data it is based on."""

    def __init__(
        self,
        at: GroupedWorkloads,
        tree: QueueTree,
        ask: Workload,
        verdict: WorkloadVerdict,
        strategies: Sequence[Strategy] | None,
    ) -> None:
        self.at, self.tree, self.ask, self.verdict = at, tree, ask, verdict
        self.usage, self.nodes = quota_index_of(at).usage, at.formed.tree
        self.node = self.nodes.queue[ask.queue]
        self._fair = strategies is not None

    @cached_property
    def asked(self) -> dict[FlavorResource, int]:
        """Return the amounts of quota that the workload requests, without zero amounts.

        The number of pods is included if the queues have a quota of pods.
        """
        found: dict[FlavorResource, int] = {}
        for one in self.ask.pod_sets:
            for name, amount in (*one.requests.items(), (PODS, 1)):
                if amount and name in self.at.formed.resources:
                    found[FLAVOR, name] = found.get((FLAVOR, name), 0) + amount * one.count
        return found

    @cached_property
    def short(self) -> list[FlavorResource]:
        """Return the flavors and resources of which too little quota is available."""
        return [of for of, amount in sorted(self.asked.items()) if amount > self.usage.available(self.node, of)]

    @property
    def decisive(self) -> str:
        """Return the queue and the first resource that is short."""
        return f"{self.ask.queue} {self.short[0][1]}" if self.short else self.ask.queue

    @property
    def beyond(self) -> str:
        """Return the queue and the first resource that the workload requests more of than the queue could ever have.

        The text is empty if there is no such resource.
        """
        most = self.nodes.potential[self.node]
        found = next((name for (_, name), amount in self.asked.items() if amount > most.get((FLAVOR, name), 0)), "")
        return f"{self.ask.queue} {found}" if found else ""

    @cached_property
    def stays(self) -> dict[str, PodReason]:
        """Return the reason for every kept workload by its uid, including workloads the search never considered."""
        staying = ExclusionReasons(
            self.at, self.usage, self.ask, self.asked, self.short, self.verdict.search, fair=self._fair
        )
        return {one.uid: staying.why(one) for one in self._others}

    @cached_property
    def _others(self) -> list[Workload]:
        gone = {target.workload.uid for target in self.verdict.search.targets}
        return [one for one in self.at.cluster.workloads if one.uid not in gone and one.uid != self.ask.uid]

    @property
    def candidates(self) -> int:
        """Return the number of pods that might have been preempted, judging by rules and priority."""
        return sum(len(self.at.pods(one)) for one in self.might_go)

    @cached_property
    def might_go(self) -> list[Workload]:
        """Return the workloads that might have been preempted, beginning with those that are."""
        might = {PodReason.NOT_NEEDED, PodReason.SHARE, PodReason.NOT_WHILE_BORROWING}
        return [*self._gone, *(one for one in self._others if self.stays[one.uid] in might)]

    @property
    def _gone(self) -> list[Workload]:
        return [target.workload for target in self.verdict.search.targets]

    def trace(self, *, admitted: bool) -> Trace:
        """Return the trace of the decision; ``admitted`` is whether the pending workload is given quota."""
        figures = tuple(self._figures(admitted=admitted))
        short = tuple(self._short())
        if not short:
            return Trace(queues=figures)
        back = {one.uid for one in self.verdict.search.put_back}
        nearest = sorted(self._others, key=lambda one: (one.uid not in back, one.priority, one.uid))
        listed = [one for one in nearest if one.uid in back or self.stays[one.uid] is not PodReason.NO_HELP]
        counts = Counter(self.stays[one.uid] for one in self._others for _ in self.at.pods(one) if one.uid not in back)
        return Trace(
            queues=figures,
            short=short,
            shares=tuple(self._shares(admitted=admitted)) if self._fair else (),
            reprieved=tuple(self._verdicts([one for one in listed if one.uid in back])),
            excluded=tuple(self._verdicts([one for one in listed if one.uid not in back][:_MAX_LISTED])),
            candidates=self.candidates,
            excluded_counts={str(reason): count for reason, count in sorted(counts.items())},
        )

    def _verdicts(self, workloads: Sequence[Workload]) -> Iterator[PodVerdict]:
        for one in workloads:
            for pod in self.at.pods(one):
                yield PodVerdict(pod=PodFacts.of(pod), reason=self.stays[one.uid], detail=one.queue)

    def _short(self) -> Iterator[QuotaFigures]:
        for of in self.short:
            yield QuotaFigures(
                queue=self.ask.queue,
                resource=of[1],
                asked=self.asked[of],
                available=self.usage.available(self.node, of),
                nominal=self.nodes.quota(self.node, of).nominal,
                used=self.usage.used(self.node, of),
            )

    def _figures(self, *, admitted: bool) -> Iterator[QueueFigures]:
        """Yield the figures of the pending workload's queue and its ancestors, then those of the victims' queues."""
        asked = {name: amount for (_, name), amount in self.asked.items()} if admitted else {}
        gone = self._gone if admitted else []
        queues = (self.ask.queue, *(one.queue for one in gone))
        paths = dict.fromkeys(path for queue in queues for path in self.tree.lineage(queue))
        freed = UsageChange(self.tree)
        for one in gone:
            freed.add(one.queue, _amounts_by_resource(one))
        for path in paths:
            before = _without_zeros({name: self._used(path, name) for name in self.at.formed.resources})
            after = add(before, asked if self.tree.contains(path, self.ask.queue) else {})
            after = subtract(after, freed.by_queue.get(path, {}))
            queue = self.tree[path]
            yield QueueFigures(
                path=path, before=before, after=_without_zeros(after), guaranteed=queue.guaranteed, max=queue.max
            )

    def _used(self, path: str, resource: str) -> int:
        """Return what all leaf queues at or below ``path`` use of a resource."""
        leaves = (self.nodes.queue[below] for below in self.tree.walk(path) if below in self.nodes.queue)
        return sum(self.usage.used(leaf, (FLAVOR, resource)) for leaf in leaves)

    def _shares(self, *, admitted: bool) -> Iterator[ShareFigures]:
        leaves = [self.nodes.queue[queue] for queue in (self.ask.queue, *(one.queue for one in self._gone))]
        sides = dict.fromkeys(node for leaf in leaves for node in (leaf, *self.nodes.above(leaf)))
        nodes = [node for node in sides if self.nodes.parents[node] is not None]
        before = {node: share_of(self.usage, node) for node in nodes}
        then = self._afterwards() if admitted else self.usage
        after = {node: share_of(then, node).text for node in nodes}
        for node in nodes:
            weight = f"{float(self.nodes.weights[node]):g}"
            yield ShareFigures(
                queue=self.nodes.names[node],
                text=before[node].text,
                after=after[node],
                resource=before[node].resource,
                borrowed=before[node].borrowed,
                lendable=before[node].lendable,
                weight=weight,
            )

    def _afterwards(self) -> QuotaUsage:
        """Return the quota usage once the decision has been carried out."""
        usage = self.usage.copy()
        usage.add(self.node, self.asked)
        for one in self._gone:
            usage.add(self.nodes.queue[one.queue], one.usage, -1)
        return usage


def _amounts_by_resource(one: Workload) -> Amounts:
    return {name: amount for (_, name), amount in one.usage.items()}


def _without_zeros(amounts: Mapping[str, int]) -> Amounts:
    """Return the amounts without zeros, sorted by name."""
    return {name: amount for name, amount in sorted(amounts.items()) if amount}
