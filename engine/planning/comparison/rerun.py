"""Runs a stretch of recorded time again, with another tree or policy deciding.

What no decision changes is taken from the record: which pods were created and when, how long each ran, which ones were
deleted, which nodes there were. A pod that did not end in the record keeps running. The effects of decisions are
computed again as in a forecast: a pending pod that fits gets a node, victims exit at once and the preemptor gets their
capacity, victims with a controller come back and start over. There are no safeguards and no disruption budgets that
hold back decisions.
"""

from collections import deque
from collections.abc import Callable, Iterable
from heapq import heappop, heappush

import msgspec

from engine.model.decision import PodFacts
from engine.model.objects import Pod
from engine.model.snapshot import Snapshot
from engine.planning.comparison.compared_sides import ComparedSide, ServedPods
from engine.planning.comparison.figures import SideFigures
from engine.planning.comparison.outcome_counts import OutcomeCounts
from engine.planning.comparison.pod_lives import Life
from engine.planning.comparison.queue_demand import QueueDemand
from engine.planning.comparison.recording import RecordedStep, Recording, is_pending
from engine.planning.forecast import Round, origin
from engine.planning.forecast.rolling import RollingCluster
from engine.planning.forecast.scheduling import placement_attempts
from engine.planning.journal import PassInputs
from engine.planning.scheduling_pass import plan

PASSES = 5
"""The most passes at one time; they continue only while they move something."""


def rerun_recording(
    recording: Recording, side: ComparedSide, *, each: Callable[[], None] = lambda: None
) -> SideFigures:
    """Return what would have happened under a side. ``each``: called at every step."""
    run = _Run(recording, side)
    for number, step in enumerate(recording.steps, 1):
        run.run_step(step, number)
        each()
    return run.figures()


class _Run:
    def __init__(self, recording: Recording, side: ComparedSide) -> None:
        self._side, self._served, self._tally = side, ServedPods(side), OutcomeCounts()
        self._rolling = RollingCluster(recording.state, recording.moment)
        self._lives = {life.key: life for life in recording.lives}
        self._to_create = deque(life for life in recording.lives if life.key not in recording.state.pods)
        self._to_delete = deque(
            sorted((life.deleted_ms, life.key) for life in recording.lives if life.deleted_ms is not None)
        )
        self._ends: list[tuple[int, str]] = []
        """When pods (uid) end by themselves: a heap."""
        for life in recording.lives:
            if life.key in recording.state.pods and life.pod.node is not None:
                self._will_end(life, life.key, life.pod.started_ms or recording.since_ms)
        self._demand: QueueDemand | None = None

    def run_step(self, step: RecordedStep, number: int) -> None:
        """Bring the cluster to a time, decide there, and count it until the next step."""
        first = number == 1
        before = self._rolling.moment
        later = PassInputs(now_ms=step.at_ms, notices=before.notices, quotas=before.quotas)
        now = msgspec.structs.replace(before, now_ms=step.at_ms) if first else later
        self._rolling.moment = msgspec.structs.replace(now, protection=step.protection)
        moved = self._take_over(step, first=first) | self._apply_lives()
        if first:  # the effects of open decisions come before anything else
            moved |= self._decide(number)
        if moved or first or self._waiting():
            moved |= self._schedule_until_settled(number)
        if moved or self._demand is None:
            self._demand = self._current_demand()
        self._tally.add_state(self._demand, self._waiting(), at_ms=step.at_ms, for_ms=step.for_ms)

    def _take_over(self, step: RecordedStep, *, first: bool) -> bool:
        """Take over the cluster's objects except pods from the record; remove the pods of removed nodes.

        Controllers create their pods again. Returns whether anything changed. At first the objects are there already,
        with the reservations of open decisions.
        """
        if first or not step.columns:
            return False
        for name, column in step.columns.items():
            setattr(self._rolling.state, name, dict(column))
        state = self._rolling.state
        for pod in [pod for pod in state.pods.values() if pod.node is not None and pod.node not in state.nodes]:
            del state.pods[pod.uid]
            if pod.controller and not (pod.daemonset or pod.terminating or pod.finished):
                self._rolling.recreate(pod)
        return True

    def _apply_lives(self) -> bool:
        """Apply the pods' ends, deletions and creations up to now; return whether there were any."""
        now_ms, pods = self._rolling.moment.now_ms, self._rolling.state.pods
        ended: list[str] = []
        while self._ends and self._ends[0][0] <= now_ms:
            _, uid = heappop(self._ends)
            if uid in pods:  # not one that was evicted in the meantime
                ended.append(origin(uid))
        while self._to_delete and self._to_delete[0][0] <= now_ms:
            ended.append(self._to_delete.popleft()[1])
        ended_origins = set(ended)
        for uid in [uid for uid in pods if origin(uid) in ended_origins]:
            del pods[uid]
        created = False
        while self._to_create and self._to_create[0].came_ms <= now_ms:
            life, created = self._to_create.popleft(), True
            if life.deleted_ms is None or life.deleted_ms > now_ms:
                pods[life.key] = _as_pending(life)
        return bool(ended) or created

    def _schedule_until_settled(self, number: int) -> bool:
        """Let the scheduler place pods, then run passes that make room; return whether anything moved."""
        moved = self._schedule()
        for _ in range(PASSES):
            if not self._waiting() or not self._decide(number):
                break
            moved = True
            self._schedule()
        return moved

    def _schedule(self) -> bool:
        if not self._waiting():
            return False
        snapshot = self._snapshot()
        in_turn = sorted(snapshot.asks, key=lambda pod: pod.turn)
        bound = self._rolling.bind(placement_attempts(snapshot, in_turn, self._rolling.state))
        self._serve([uid for uid, _ in bound])
        return bool(bound)

    def _decide(self, number: int) -> bool:
        """Run a pass and carry it out; return whether anything moved."""
        rolling, side = self._rolling, self._side
        snapshot = self._snapshot()
        considered = plan(snapshot, snapshot.tree, side.decide, terms=side.terms, hold=self._served.hold)
        exited, placed = rolling.carry_out(snapshot, considered, number)
        inputs = rolling.moment  # no decision is open any more
        rolling.moment = PassInputs(
            now_ms=snapshot.now_ms, protection=inputs.protection, notices=inputs.notices, quotas=inputs.quotas
        )
        round_ = Round(number=number, now_ms=snapshot.now_ms, considered=tuple(considered), placed=placed, left=exited)
        for decision in round_.preemptions:
            self._served.note(decision)
            self._tally.decisions += 1
        for eviction in round_.evictions:
            self._evict(eviction.victim, snapshot)
        self._serve([placed_pod.ask.uid for placed_pod in placed])
        return round_.moves

    def _evict(self, victim: PodFacts, snapshot: Snapshot) -> None:
        key = origin(victim.uid)
        life = self._lives.get(key)
        if life is not None and victim.started_ms is not None:
            saved_ms = life.checkpoint_ms(victim.started_ms, snapshot.now_ms)
            victim = msgspec.structs.replace(victim, checkpoint_ms=saved_ms)
        self._tally.evict(key, victim, at_ms=snapshot.now_ms)

    def _serve(self, uids: Iterable[str]) -> None:
        for uid in uids:
            key = origin(uid)
            self._tally.serve(key)
            if key in self._lives:
                self._will_end(self._lives[key], uid, self._rolling.moment.now_ms)

    def _will_end(self, life: Life, uid: str, started_ms: int) -> None:
        if life.run_ms is not None:
            heappush(self._ends, (started_ms + life.run_ms, uid))

    def _waiting(self) -> set[str]:
        return {origin(uid) for uid, pod in self._rolling.state.pods.items() if is_pending(pod)}

    def _current_demand(self) -> QueueDemand:
        snapshot = self._snapshot()
        return QueueDemand(snapshot.tree, snapshot.capacity, snapshot.pods)

    def _snapshot(self) -> Snapshot:
        return self._rolling.moment.snapshot(self._rolling.state, self._side.tree)

    def figures(self) -> SideFigures:
        """Return the figures after the last step."""
        assert self._demand is not None
        return self._tally.figures(self._demand, self._waiting())


def _as_pending(life: Life) -> Pod:
    """Return a pod as it was created, whatever became of it in the record; a mirror pod keeps its node."""
    if life.pod.mirror:
        return life.pod
    return msgspec.structs.replace(
        life.pod,
        node=None,
        created_ms=life.came_ms,
        started_ms=None,
        checkpoint_ms=None,
        nominated_node="",
        unschedulable_ms=life.came_ms,  # the scheduler tries it at once; from then on it waits
        unschedulable_message="",
        disruption="",
        disrupted_ms=None,
    )
