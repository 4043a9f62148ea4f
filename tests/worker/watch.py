"""A cluster in memory that passes run over: what is evicted leaves when the test says so."""

import threading
from collections.abc import Callable, Collection, Iterable
from typing import Any

import msgspec

from engine.cluster.acting.outcomes import (
    EvictionOutcome,
    EvictionResult,
    ForgottenPods,
    OperationOutcome,
    PodRef,
    ReservationMethod,
    ReservationTerms,
    Result,
    SweepResult,
)
from engine.cluster.watching.tables import TABLES
from engine.cluster.watching.watcher import Health
from engine.cluster.watching.yunikorn import YuniKornReading
from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from engine.model.objects import (
    Allocation,
    Claim,
    DisruptionBudget,
    GroupScheduling,
    Namespace,
    Node,
    Pod,
    PodGroup,
    Preempted,
    PriorityClass,
    SchedulingGroup,
    Taint,
    Volume,
    Workload,
)
from engine.model.snapshot import ClusterState, ObjectChange
from scheduler_admin.clusters.safeguards.breakers import Writes

PODS = next(table.column for table in TABLES if table.kind == "Pod")
ACCEPTED = EvictionResult(outcome=EvictionOutcome.ACCEPTED)


class Executor:
    """Does what it is told to the state in memory; answers can be put in first. ``did`` has every call in order."""

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self.did: list[str] = []
        self.said: list[tuple[str, str]] = []
        self.marked: list[tuple[str, str]] = []
        self.swept: list[set[str]] = []
        self.forgotten: ForgottenPods | None = None
        """The asks whose reservations each sweep has left."""
        self.reserving = Result(outcome=OperationOutcome.DONE)
        self.reserving_on: dict[str, Result] = {}
        self.withdrawn: list[tuple[str, str]] = []
        """Pods (names) that lost their nomination, and the nodes."""
        self.owners: dict[str, set[str]] = {}
        """Node -> the uids that its taint was to carry."""
        self.releasing = Result(outcome=OperationOutcome.DONE)
        self.sweeping = SweepResult()
        self.before_reserving: Callable[[], object] = lambda: None
        """What others do between the decision and the moment from which its node is kept."""
        self.judging: dict[str, EvictionResult] = {}
        self.evicting: dict[str, EvictionResult] = {}

    def reserve(self, node: str, ask: PodRef, terms: ReservationTerms, *, owner: str = "") -> Result:
        self.before_reserving()
        self.did.append(f"reserve {node} {ask.name}")
        self.terms = terms
        self.owners.setdefault(node, set()).add(owner or ask.uid)
        result = self.reserving_on.get(node, self.reserving)
        if result.done and terms.kept_by is ReservationMethod.TAINT:
            self._taint(node, owner or ask.uid)
        return result

    def release(self, node: str, owner: str, *, waiting: Iterable[PodRef] = ()) -> Result:
        self.did.append(f"release {node}")
        self.withdrawn += [(pod.name, node) for pod in waiting]
        if self.releasing.done:
            self._taint(node)
        return self.releasing

    def _taint(self, name: str, *owners: str) -> None:
        if (node := self.state.nodes.get(name)) is not None:
            others = tuple(taint for taint in node.taints if taint.key != RESERVED_TAINT_KEY)
            ours = tuple(Taint(RESERVED_TAINT_KEY, owner, "NoSchedule") for owner in owners)
            self.state.nodes[name] = msgspec.structs.replace(node, taints=(*others, *ours))

    def sweep(
        self, open_ask_uids: Collection[str], *, thorough: bool = False, forgotten: ForgottenPods | None = None
    ) -> SweepResult:
        self.swept.append(set(open_ask_uids))
        self.forgotten = forgotten
        if thorough:
            self.did.append("sweep")
        return self.sweeping

    def evict(self, victim: PodRef, *, dry_run: bool = False, again: bool = False) -> EvictionResult:
        pod = self.state.pods.get(victim.uid)
        if again and (pod is None or pod.terminating):
            return EvictionResult(outcome=EvictionOutcome.GONE) if pod is None else ACCEPTED
        self.did.append(f"{'judge' if dry_run else 'evict'} {victim.name}")
        answers = self.judging if dry_run else self.evicting
        result = answers.get(victim.name, ACCEPTED)
        if result is ACCEPTED and not dry_run:
            pod = self.state.pods[victim.uid]
            self.state.pods[victim.uid] = msgspec.structs.replace(pod, terminating=True)
        return result

    def event(self, pod: PodRef, reason: str, message: str, type_: str = "Normal") -> Result:
        self.said.append((pod.name, message))
        return Result(outcome=OperationOutcome.DONE)

    def mark(self, victim: PodRef, reason: str, message: str) -> Result:
        self.marked.append((victim.name, reason))
        return Result(outcome=OperationOutcome.DONE)

    @property
    def evicted(self) -> list[str]:
        """The names of the pods that it was told to evict, in order."""
        return [call.partition(" ")[2] for call in self.did if call.startswith("evict ")]


class Watcher:
    """What a pass reads of a cluster."""

    def __init__(self, state: ClusterState) -> None:
        self.now = state
        self.synced, self.staleness_s = True, 0.1
        self.gap_s, self.clock_skew_s = 0.0, 0.0
        self.missing: dict[str, str] = {}
        self.odd: dict[str, str] = {}
        self.uid = ""
        self.stranger = ""
        self.quota_known: bool | None = True
        self.arbitrated = False
        self.groups_served: bool | None = False

    def state(self) -> ClusterState:
        return self.now.copy()

    def pod(self, uid: str) -> Pod | None:
        return self.now.pods.get(uid)

    def nodes(self) -> tuple[Node, ...]:
        return tuple(self.now.nodes.values())

    def last_seen(self, uid: str) -> Pod | None:
        return self.now.pods.get(uid) or self.now.departed.get(uid)

    def health(self) -> Health:
        return Health(
            kinds=(),
            synced=self.synced,
            staleness_s=self.staleness_s,
            clock_skew_s=self.clock_skew_s,
            gap_s=self.gap_s,
            missing=self.missing,
            odd=self.odd,
            stranger=self.stranger,
            quota_known=self.quota_known,
            groups_served=self.groups_served,
            arbitrated=self.arbitrated,
        )


class Allocations:
    """Takes down what it is told to write."""

    def __init__(self) -> None:
        self.trouble = ""
        self.consumers: dict[str, Any] = {}
        self.wanted: dict[str, Allocation] = {}

    def write(self, consumers: dict[str, Any], wanted: dict[str, Allocation], _there: object, _may_act: object) -> int:
        self.consumers, self.wanted = consumers, wanted
        return len(wanted)


class Watch:
    """What a pass needs of a cluster."""

    yunikorn: YuniKornReading | None = None
    gate: GroupScheduling | None = None
    groups_served: bool | None = None

    def __init__(self, *objects: Any) -> None:
        self.state = ClusterState()
        self.watcher = Watcher(self.state)
        self.actuator = Executor(self.state)
        self.writes = Writes()
        self.allocations = Allocations()
        self.busy = threading.Lock()
        self.settled: set[Any] = set()
        self.leading = True
        self.rival = ""
        self.lease_trouble = ""
        self.stopped: str | None = None
        self.appeared: list[str] = []
        self.put(*objects)

    @property
    def missing(self) -> dict[str, str]:
        return self.watcher.missing

    def put(self, *objects: Any) -> None:
        """Add objects, or replace those of the same identity."""
        for one in objects:
            match one:
                case list():
                    self.put(*one)
                case Node():
                    self.state.nodes[one.name] = one
                case SchedulingGroup():
                    self.state.scheduling_groups[one.namespace, one.name] = one
                case Pod():
                    self.state.changes.append(ObjectChange(PODS, one.uid, self.state.pods.get(one.uid), one))
                    self.state.pods[one.uid] = one
                case PriorityClass():
                    self.state.classes[one.name] = one
                case Preempted():
                    self.state.preempted[f"event-{one.uid}"] = one
                case Workload():
                    self.state.workloads[one.uid] = one
                case DisruptionBudget():
                    self.state.budgets[one.namespace, one.name] = one
                case PodGroup():
                    self.state.pod_groups[one.namespace, one.name] = one
                case Namespace():
                    self.state.namespaces[one.name] = one
                case Claim():
                    self.state.claims[one.namespace, one.name] = one
                case Volume():
                    self.state.volumes[one.name] = one

    def gone(self, *names: str) -> None:
        """These pods have exited."""
        for name in names:
            gone = self.state.pods.pop(f"uid-{name}")
            self.state.changes.append(ObjectChange(PODS, gone.uid, gone, None))
            self.state.remember_deleted(gone)

    def bound(self, name: str, node: str) -> None:
        """The scheduler has bound a pod."""
        self.put(msgspec.structs.replace(self.state.pods[f"uid-{name}"], node=node))

    def wait_for_first_read(self) -> bool:
        return False

    def lead(self) -> bool:
        return self.leading

    def leads(self) -> bool:
        return self.leading

    def resign(self) -> None:
        self.leading = False
