"""What people have stopped: pauses and windows, as they hold at a moment."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Self

from django.db.models import Q

from engine.model.decision import Interlock
from engine.model.queue_paths import is_inside
from scheduler_admin.clusters.models import Cluster, Pause, Window
from scheduler_admin.clusters.safeguards.holds import Hold, ms
from scheduler_admin.clusters.safeguards.hours import open_until


class Stops:
    """The pauses and windows of a cluster, those of all clusters included. Deny beats allow."""

    def __init__(self, pauses: Iterable[Pause], windows: Iterable[Window], now: datetime) -> None:
        self._pauses = [pause for pause in pauses if pause.until is None or now < pause.until]
        windows = list(windows)
        self._denying = list(open_windows(windows, Window.Kind.DENY, now))
        self._allowing = [window for window, _until in open_windows(windows, Window.Kind.ALLOW, now)]
        self._allowed = [window for window in windows if window.kind == Window.Kind.ALLOW]

    @classmethod
    def of(cls, cluster: Cluster, now: datetime) -> Self:
        """As the database has them now: two queries."""
        here = Q(cluster=cluster) | Q(cluster=None)
        return cls(Pause.objects.filter(here), Window.objects.filter(here), now)

    def interlock(self, queues: Collection[str]) -> Interlock | None:
        """What keeps an eviction back that concerns these queues (paths), the asker's or a victim's; None: nothing."""
        paused = [pause for pause in self._pauses if _concerns(pause, queues)]
        if paused:
            return Interlock.PAUSED if any(not pause.queue for pause in paused) else Interlock.QUEUE_PAUSED
        if any(_concerns(window, queues) for window, _until in self._denying):
            return Interlock.DENY_WINDOW
        return None if all(self._allows(queue) for queue in queues) else Interlock.ALLOW_WINDOW

    @property
    def paused_queues(self) -> tuple[str, ...]:
        """The queues that are paused, by their paths; a pause of everything is none of a queue."""
        return tuple(sorted({pause.queue for pause in self._pauses if pause.queue}))

    def _allows(self, queue: str) -> bool:
        """Whether one of the allow windows that hold for a queue is open; true where there is none."""
        known = any(_concerns(window, [queue]) for window in self._allowed)
        return not known or any(_concerns(window, [queue]) for window in self._allowing)

    def holds(self) -> list[Hold]:
        """For people to read, what holds now: pauses, deny windows, and places whose allow windows are all closed."""
        return [*self._paused(), *self._denied(), *self._not_allowed()]

    def _paused(self) -> Iterator[Hold]:
        for pause in self._pauses:
            name = Interlock.QUEUE_PAUSED if pause.queue else Interlock.PAUSED
            until = ms(pause.until) if pause.until else None
            yield Hold(
                interlock=name,
                queue=pause.queue,
                since_ms=ms(pause.at),
                until_ms=until,
                by=pause.by,
                reason=pause.reason,
                everywhere=pause.cluster_id is None,
            )

    def _denied(self) -> Iterator[Hold]:
        for window, until in self._denying:
            everywhere = window.cluster_id is None
            yield Hold(
                interlock=Interlock.DENY_WINDOW,
                queue=window.queue,
                until_ms=ms(until),
                by=window.by,
                reason=window.reason,
                everywhere=everywhere,
            )

    def _not_allowed(self) -> Iterator[Hold]:
        for queue in sorted({window.queue for window in self._allowed}):
            of_place = [window for window in self._allowed if window.queue == queue]
            if not self._allows(queue):
                reason, by = of_place[0].reason, of_place[0].by
                yield Hold(interlock=Interlock.ALLOW_WINDOW, queue=queue, by=by, reason=reason)


def open_windows(windows: Iterable[Window], kind: Window.Kind, now: datetime) -> Iterator[tuple[Window, datetime]]:
    """Those of a kind that are open, with when they end. Where clocks change, in doubt nothing is evicted."""
    for window in windows:
        if window.kind == kind:
            deny = kind == Window.Kind.DENY
            until = open_until(window.hours, now, when_clocks_change="longer" if deny else "shorter")
            if until is not None:
                yield window, until


def _concerns(stop: Pause | Window, queues: Collection[str]) -> bool:
    return not stop.queue or any(is_inside(queue, stop.queue) for queue in queues)
