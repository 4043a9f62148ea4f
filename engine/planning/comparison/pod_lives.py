"""Extracts from a record what is independent of decisions: when pods were created, how long they ran, and deletions."""

from collections import deque
from collections.abc import Collection, Mapping

import msgspec

from engine.model.objects import Pod


class Life(msgspec.Struct, kw_only=True):
    """A pod with all pods that were created in its place after it had been evicted."""

    pod: Pod
    """The first of these pods as it was when it became pending, or at the beginning of the record."""
    came_ms: int
    run_ms: int | None = None
    """How long it runs until it ends by itself; None: no end was seen, it keeps running."""
    deleted_ms: int | None = None
    """When it was deleted by a user or controller; None: never."""
    saved_ms: list[int] = []
    """The running times after which it wrote checkpoints."""

    @property
    def key(self) -> str:
        """Return the uid of the first pod."""
        return self.pod.uid

    def checkpoint_ms(self, started_ms: int, now_ms: int) -> int | None:
        """Return the last checkpoint of a run that started at a time, if it saves at the recorded running times."""
        return max((started_ms + ms for ms in self.saved_ms if started_ms + ms <= now_ms), default=None)


class Lives:
    """Follows the pods of a record. ``evicted``: the uids of the pods that are known to have been preempted."""

    def __init__(self, evicted: Collection[str]) -> None:
        self.lives: list[Life] = []
        self._evicted = evicted
        self._of: dict[str, Life] = {}
        """A pod's uid -> its life, for all pods that were ever seen."""
        self._ended: set[str] = set()
        """Pods (uids) that are finished: their end, or what evicted them, was seen."""
        self._vacant: dict[tuple[str, str], deque[Life]] = {}
        """Namespace and controller -> the pods that it will create again."""

    def key(self, uid: str) -> str:
        """Return the key that all pods of one life share."""
        life = self._of.get(uid)
        return uid if life is None else life.key

    def see(self, before: Mapping[str, Pod], after: Mapping[str, Pod], at_ms: int) -> None:
        """Record the change from some pods (by uid) to others; removed pods come first, as others replace them."""
        for uid, pod in before.items():
            if uid not in after and uid in self._of and uid not in self._ended:
                self._removed(pod, at_ms)
        for uid, pod in after.items():
            if before.get(uid) is not pod and uid in self._of and uid not in self._ended:
                self._changed(pod, at_ms)
                self._save(pod)
        for uid, pod in after.items():
            if before.get(uid) is not pod and uid not in self._of:
                self._new(pod, at_ms)

    def _removed(self, pod: Pod, at_ms: int) -> None:
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
        """Return whether a pod was forced to end rather than finished or deleted: preempted, evicted, its node lost."""
        return bool(pod.disruption) or pod.uid in self._evicted

    def _vacate(self, pod: Pod) -> None:
        self._ended.add(pod.uid)
        if pod.controller:
            self._vacant.setdefault((pod.namespace, pod.controller), deque()).append(self._of[pod.uid])

    def _new(self, pod: Pod, at_ms: int) -> None:
        """Record a pod that becomes pending, or existed from the beginning."""
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
        """Record a checkpoint; ignore one from before the start, or from the future."""
        if pod.checkpoint_ms is not None and pod.started_ms is not None:
            ran_ms, known = pod.checkpoint_ms - pod.started_ms, self._of[pod.uid].saved_ms
            if ran_ms >= 0 and ran_ms not in known:
                known.append(ran_ms)
