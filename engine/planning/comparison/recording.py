"""Samples a stretch of a cluster's journal in even steps: what happened, and what is independent of decisions.

There are at most STEPS samples, at least a second apart.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from engine.model.decision import PodFacts
from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import ClusterState, Protection
from engine.planning.comparison.figures import SideFigures
from engine.planning.comparison.outcome_counts import OutcomeCounts
from engine.planning.comparison.pod_lives import Life, Lives
from engine.planning.comparison.queue_demand import QueueDemand
from engine.planning.forecast.rolling import without_reservations
from engine.planning.journal import PassInputs

STEPS = 1_000
SHORTEST_MS = 1_000
COLUMNS = (
    *("nodes", "classes", "budgets", "namespaces", "claims", "volumes"),
    *("scheduling_groups", "composite_groups", "pod_groups"),
)
"""The objects that a side takes from the record as they were; it manages its own pods."""


class EmptyRecordError(LookupError):
    """Nothing was recorded in the time. ``str()`` is a sentence."""


class RecordedStep(msgspec.Struct, frozen=True, kw_only=True):
    """A sampled time, and what of the cluster has changed since the previous one, except pods."""

    at_ms: int
    for_ms: int
    """The duration until the next step, or the end."""
    columns: Mapping[str, dict[Any, Any]]
    protection: Protection


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """All that a side needs to run a stretch of time again."""

    state: ClusterState
    """The state at the beginning."""
    moment: PassInputs
    steps: tuple[RecordedStep, ...]
    """The steps; the first is the beginning."""
    lives: tuple[Life, ...]
    """The pods' lives, in the order in which they began."""
    figures: SideFigures
    """What actually happened."""

    @property
    def since_ms(self) -> int:
        """Return when the recording begins: later than requested, where nothing was recorded at first."""
        return self.steps[0].at_ms


def record(
    frames: Iterable[tuple[ClusterState, PassInputs]],
    tree: QueueTree,
    *,
    since_ms: int,
    until_ms: int,
    evicted: Mapping[str, object],
    each: Callable[[], None] = lambda: None,
) -> Recording:
    """Read a stretch of a journal.

    ``tree``: the tree in force then, by which what happened is measured. ``evicted``: the pods that were preempted in
    the time (uid) -> their decision, by any name. ``each``: called at every step. Raises EmptyRecordError, and what
    reading the frames raises.
    """
    recorder, due, step_ms = _Recorder(tree, evicted), 0, 0
    for at_ms, state, moment in _stretch(frames, since_ms, until_ms):
        if not step_ms:
            due, step_ms = at_ms, _step_ms(at_ms, until_ms)
        while due < at_ms:
            recorder.record_step(due, min(step_ms, until_ms - due))
            due += step_ms
            each()
        if due >= until_ms:  # the last step has begun: sides take no more steps either
            break
        recorder.advance(state, moment, at_ms)
    if not step_ms:
        raise EmptyRecordError("No data was recorded in this period.")
    while due < until_ms:
        recorder.record_step(due, min(step_ms, until_ms - due))
        due += step_ms
        each()
    return recorder.recording()


def step_count(since_ms: int, until_ms: int) -> int:
    """Return the number of steps of a time, where it is recorded from its beginning."""
    return -(-(until_ms - since_ms) // _step_ms(since_ms, until_ms))


def _step_ms(since_ms: int, until_ms: int) -> int:
    return max(SHORTEST_MS, -(-(until_ms - since_ms) // STEPS))


def _stretch(
    frames: Iterable[tuple[ClusterState, PassInputs]], since_ms: int, until_ms: int
) -> Iterator[tuple[int, ClusterState, PassInputs]]:
    """Yield the states in a time, each with its beginning."""
    held: tuple[int, ClusterState, PassInputs] | None = None
    for state, moment in frames:
        if moment.now_ms >= until_ms:
            break
        if held is not None and moment.now_ms > since_ms:
            yield held
        held = (max(since_ms, moment.now_ms), state.copy(), moment)
    if held is not None:
        yield held


class _Recorder:
    def __init__(self, tree: QueueTree, evicted: Mapping[str, object]) -> None:
        self._tree, self._evicted = tree, evicted
        self._lives, self._tally = Lives(evicted), OutcomeCounts()
        self._evicted_uids: set[str] = set()
        self._steps: list[RecordedStep] = []
        self._columns: dict[str, dict[Any, Any]] = {}
        self._first: tuple[ClusterState, PassInputs] | None = None
        self._state, self._moment = ClusterState(), PassInputs(now_ms=0)
        self._demand: QueueDemand | None = None
        """The demand of the current state, once it was computed."""

    def advance(self, state: ClusterState, moment: PassInputs, at_ms: int) -> None:
        """Continue with another state of the cluster from a time on."""
        before = self._state.pods
        if self._first is None:
            self._first = state, moment
            before = state.pods  # pods that exist already are neither placed nor evicted
            self._lives.see({}, state.pods, at_ms)
        else:
            self._lives.see(before, state.pods, at_ms)
        for uid in self._evicted:
            if uid in before and uid not in self._evicted_uids and _is_ending(before[uid], state.pods.get(uid)):
                self._evict(uid, at_ms)
        for uid, pod in state.pods.items():
            if pod.node is not None and before.get(uid) is not pod and _unbound(before.get(uid)):
                self._tally.serve(self._lives.key(uid))
        self._state, self._moment, self._demand = state, moment, None

    def _evict(self, uid: str, at_ms: int) -> None:
        self._evicted_uids.add(uid)
        pod = self._state.placed(uid, self._tree)
        assert pod is not None
        self._tally.evict(self._lives.key(uid), PodFacts.of(pod), at_ms=at_ms)
        self._tally.decisions = len({self._evicted[evicted] for evicted in self._evicted_uids})

    def record_step(self, at_ms: int, for_ms: int) -> None:
        """Record the state at a time, and for how long it counts."""
        if self._demand is None:
            snapshot = self._moment.snapshot(self._state, self._tree)
            self._demand = QueueDemand(snapshot.tree, snapshot.capacity, snapshot.pods)
        self._tally.add_state(self._demand, self._waiting(), at_ms=at_ms, for_ms=for_ms)
        columns = {name: self._column(name) for name in COLUMNS}
        differing = {name: column for name, column in columns.items() if self._columns.get(name) != column}
        protection = self._moment.protection
        self._steps.append(RecordedStep(at_ms=at_ms, for_ms=for_ms, columns=differing, protection=protection))
        self._columns = columns

    def _column(self, name: str) -> dict[Any, Any]:
        return without_reservations(self._state.nodes) if name == "nodes" else getattr(self._state, name)

    def _waiting(self) -> set[str]:
        return {self._lives.key(uid) for uid, pod in self._state.pods.items() if is_pending(pod)}

    def recording(self) -> Recording:
        """Return what was read; there was at least one step."""
        assert self._first is not None
        assert self._demand is not None
        return Recording(
            state=self._first[0],
            moment=self._first[1],
            steps=tuple(self._steps),
            lives=tuple(self._lives.lives),
            figures=self._tally.figures(self._demand, self._waiting()),
        )


def is_pending(pod: Pod) -> bool:
    """Return whether a pod waits for a node."""
    return pod.node is None and not (pod.gated or pod.finished or pod.terminating)


def _is_ending(before: Pod, after: Pod | None) -> bool:
    return not before.terminating and (after is None or after.terminating or after.finished)


def _unbound(pod: Pod | None) -> bool:
    return pod is None or pod.node is None
