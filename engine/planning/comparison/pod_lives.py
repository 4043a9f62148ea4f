"""What a record tells of pods whoever decides: when each was wanted, how long it ran, when it was deleted."""

from collections import deque
from collections.abc import Collection, Mapping

import msgspec

from engine.model.objects import Pod


class Life(msgspec.Struct, kw_only=True):
    """One pod with all that were made in its place after it had been made to go."""

    pod: Pod
    """The first of them as it was when it began to ask, or at the beginning of the record."""
    came_ms: int
    run_ms: int | None = None
    """How long it runs until it ends by itself; None: that was not seen, it goes on."""
    deleted_ms: int | None = None
    """When somebody deleted it; None: nobody did."""
    saved_ms: list[int] = []
    """After how much running time it wrote a checkpoint."""

    @property
    def key(self) -> str:
        """The uid of the first."""
        return self.pod.uid

    def checkpoint_ms(self, started_ms: int, now_ms: int) -> int | None:
        """When a run of it that started then has last written a checkpoint, if it does so as it did in the record."""
        return max((started_ms + ms for ms in self.saved_ms if started_ms + ms <= now_ms), default=None)


class Lives:
    """Follows the pods of a record. ``evicted``: the uids of those that are known to have been preempted."""

    def __init__(self, evicted: Collection[str]) -> None:
        self.lives: list[Life] = []
        self._evicted = evicted
        self._of: dict[str, Life] = {}
        """A pod's uid -> its life, of all that ever were seen."""
        self._ended: set[str] = set()
        """Pods (uids) that are done with: their end, or what made them go, was seen."""
        self._vacant: dict[tuple[str, str], deque[Life]] = {}
        """Namespace and controller -> those that it will make again."""

    def key(self, uid: str) -> str:
        """The same for all pods of one life."""
        life = self._of.get(uid)
        return uid if life is None else life.key

    def see(self, before: Mapping[str, Pod], after: Mapping[str, Pod], at_ms: int) -> None:
        """The record goes on from some pods (by uid) to others. Who goes is seen first: others come in their place."""
        for uid, pod in before.items():
            if uid not in after and uid in self._of and uid not in self._ended:
                self._gone(pod, at_ms)
        for uid, pod in after.items():
            if before.get(uid) is not pod and uid in self._of and uid not in self._ended:
                self._changed(pod, at_ms)
                self._save(pod)
        for uid, pod in after.items():
            if before.get(uid) is not pod and uid not in self._of:
                self._new(pod, at_ms)

    def _gone(self, pod: Pod, at_ms: int) -> None:
        if self._forced(pod):
            self._vacate(pod)
        else:
            self._ended.add(pod.uid)
            self._of[pod.uid].deleted_ms = at_ms

    def _changed(self, pod: Pod, at_ms: int) -> None:
        if pod.finished:
            self._ended.add(pod.uid)
            if pod.started_ms is not None and not self._forced(pod):
                self._of[pod.uid].run_ms = max(0, at_ms - pod.started_ms)
            elif self._forced(pod):
                self._vacate(pod)
        elif pod.terminating and self._forced(pod):
            self._vacate(pod)

    def _forced(self, pod: Pod) -> bool:
        """Whether it was made to go rather than ended or deleted: preempted, evicted, its node lost."""
        return bool(pod.disruption) or pod.uid in self._evicted

    def _vacate(self, pod: Pod) -> None:
        self._ended.add(pod.uid)
        if pod.controller:
            self._vacant.setdefault((pod.namespace, pod.controller), deque()).append(self._of[pod.uid])

    def _new(self, pod: Pod, at_ms: int) -> None:
        """One that begins to ask, or was there from the beginning."""
        if pod.gated or pod.finished or pod.terminating:
            return
        vacant = self._vacant.get((pod.namespace, pod.controller))
        if vacant:
            self._of[pod.uid] = vacant.popleft()
        else:
            self._of[pod.uid] = Life(pod=pod, came_ms=at_ms)
            self.lives.append(self._of[pod.uid])
        self._save(pod)

    def _save(self, pod: Pod) -> None:
        """Take down a checkpoint; one from before the start, or that is said to be yet to come, is none."""
        if pod.checkpoint_ms is not None and pod.started_ms is not None:
            ran_ms, known = pod.checkpoint_ms - pod.started_ms, self._of[pod.uid].saved_ms
            if ran_ms >= 0 and ran_ms not in known:
                known.append(ran_ms)
