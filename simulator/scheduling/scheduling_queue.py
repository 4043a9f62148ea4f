"""The three states of a pending pod in the queue: active, backing off, or unschedulable until something changes.

Source: PriorityQueue of kube-scheduler 1.36 (pkg/scheduler/backend/queue).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.model.decision import NodeReason
from engine.model.objects import Pod
from simulator.clock import SimulationClock, Timers

FIRST_BACKOFF = 1.0
LONGEST_BACKOFF = 10.0
LONGEST_WAIT = 300.0
"""After this many seconds a pod is retried even without a helpful event (kube-scheduler's default)."""


@dataclass(slots=True)
class QueuedPod:
    """A pending pod and its history with the scheduler."""

    pod: Pod
    queued: float
    number: int
    attempts: int = 0
    backoff_ends: float = 0.0
    reasons: frozenset[NodeReason] = frozenset()

    @property
    def group(self) -> tuple[str, str]:
        """Return the namespace and name of the PodGroup that the pod is scheduled with; the name may be empty."""
        return self.pod.namespace, self.pod.scheduling_group


@dataclass(slots=True)
class SchedulingQueue:
    """Pods by uid: in `active`, in `backing_off` or in `unschedulable`. `wake` is called when `active` gets one."""

    clock: SimulationClock
    wake: Callable[[], None]
    active: dict[str, QueuedPod] = field(default_factory=dict)
    backing_off: dict[str, QueuedPod] = field(default_factory=dict)
    unschedulable: dict[str, QueuedPod] = field(default_factory=dict)
    timers: Timers = field(init=False)
    _number: int = 0

    def __post_init__(self) -> None:
        """Take timers from the clock."""
        self.timers = Timers(self.clock)

    @property
    def _places(self) -> tuple[dict[str, QueuedPod], ...]:
        return self.active, self.backing_off, self.unschedulable

    def find(self, uid: str) -> QueuedPod | None:
        """Return a waiting pod, in whichever state it is."""
        return self.active.get(uid) or self.backing_off.get(uid) or self.unschedulable.get(uid)

    def add(self, pod: Pod) -> None:
        """Add a new pod for its first attempt."""
        self._number += 1
        self._activate(QueuedPod(pod, self.clock.monotonic(), self._number))

    def discard(self, uid: str) -> None:
        """Remove a pod."""
        for place in self._places:
            place.pop(uid, None)
        self.timers.cancel(uid)

    @property
    def ready(self) -> bool:
        """Return whether any pod may be tried now."""
        return bool(self.active or self.backing_off)

    def pop(self) -> QueuedPod | None:
        """Remove and return the next pod: the highest priority, then the longest wait.

        When no pod is active, it is a pod in back-off whose back-off ends first (to the second), then in the same
        order: back-off lets other pods go first, but no pod waits while the scheduler is idle (kube-scheduler's
        SchedulerPopFromBackoffQ, since 1.33).
        """
        if not self.ready:
            return None
        if self.active:
            first = min(self.active.values(), key=_turn)
            del self.active[first.pod.uid]
        else:
            first = min(self.backing_off.values(), key=lambda item: (int(item.backoff_ends), *_turn(item)))
            del self.backing_off[first.pod.uid]
            self.timers.cancel(first.pod.uid)
        first.attempts += 1
        return first

    def take_group(self, group: tuple[str, str]) -> list[QueuedPod]:
        """Remove and return all pods of a PodGroup, in whichever state they are: they are tried together."""
        taken = [item for place in self._places for item in place.values() if item.group == group]
        for waiting in taken:
            self.discard(waiting.pod.uid)
            waiting.attempts += 1
        return taken

    def hold(self, waiting: QueuedPod) -> None:
        """Return a pod to the queue untried: it waits until an event helps."""
        waiting.attempts -= 1
        self.unschedulable[waiting.pod.uid] = waiting

    def fail(self, waiting: QueuedPod, reasons: frozenset[NodeReason]) -> None:
        """Return a pod without a node to the queue: it waits until an event helps, and at least for its back-off.

        Source: PriorityQueue.AddUnschedulableIfNotPresent and backoffQueue.calculateBackoffDuration of kube-scheduler.
        """
        now = self.clock.monotonic()
        waiting.queued, waiting.reasons = now, reasons
        waiting.backoff_ends = now + min(FIRST_BACKOFF * 2 ** min(waiting.attempts - 1, 10), LONGEST_BACKOFF)
        self.unschedulable[waiting.pod.uid] = waiting
        self.timers.set(waiting.pod.uid, LONGEST_WAIT, lambda: self.retry(waiting))

    def helped(self, helps: Callable[[QueuedPod], bool]) -> None:
        """Retry the pods that an event may have helped, after their back-off."""
        for waiting in [item for item in self.unschedulable.values() if helps(item)]:
            self.retry(waiting)

    def retry(self, waiting: QueuedPod) -> None:
        """Move an unschedulable pod back into the queue, at once or when its back-off is over."""
        uid = waiting.pod.uid
        if self.unschedulable.pop(uid, None) is None:
            return
        remaining = waiting.backoff_ends - self.clock.monotonic()
        if remaining <= 0:
            self._activate(waiting)
            return
        self.backing_off[uid] = waiting
        self.timers.set(uid, remaining, lambda: self._over(waiting))
        self.wake()

    def _over(self, waiting: QueuedPod) -> None:
        if self.backing_off.pop(waiting.pod.uid, None) is not None:
            self._activate(waiting)

    def _activate(self, waiting: QueuedPod) -> None:
        self.timers.cancel(waiting.pod.uid)
        self.active[waiting.pod.uid] = waiting
        self.wake()


def _turn(waiting: QueuedPod) -> tuple[int, float, int]:
    return (-waiting.pod.priority, waiting.queued, waiting.number)
