"""One soak: work comes and goes, faults befall the product and are healed, and after each all must be as it should."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime

import psutil

from tests.soak.checks import accepted, ailing, unread, unsettled, wrongs
from tests.soak.faults import befalls
from tests.soak.figures import Figures
from tests.soak.ground import CALM, Ground
from tests.soak.plan import Round, moves, rounds

RECOVERY_S = 120.0
"""So long it may take at most until all is well: a lease and a claim of 15 s, a broker tried again after up to 30 s,
and, where requests to act have failed, a minute until one is tried again."""
SETTLING_S = 180.0
_POLL_S = 0.5

Say = Callable[[str], object]


class Soak:
    """Of one seed, over one ground."""

    def __init__(self, ground: Ground, figures: Figures, say: Say) -> None:
        self._ground, self._figures, self._say = ground, figures, say
        self._ended = threading.Event()

    def run(self, minutes: float) -> None:
        """Go on for so long, then let all come to rest; what was found stands in the figures."""
        began = time.monotonic()
        beside = [threading.Thread(target=work, daemon=True) for work in (self._move, self._follow)]
        for thread in beside:
            thread.start()
        for one in rounds(self._figures.seed, self._figures.database):
            if time.monotonic() - began + one.quiet_s + one.lasts_s > minutes * 60 or self._figures.wrong:
                break
            self._round(one)
        self._ended.set()
        for thread in beside:
            thread.join(30)
        self._settle()
        self._figures.minutes = (time.monotonic() - began) / 60

    def _round(self, one: Round) -> None:
        names = ", ".join(map(str, one.faults))
        time.sleep(one.quiet_s)
        with ExitStack() as faults:
            for fault in one.faults:
                faults.enter_context(befalls(self._ground, fault))
                self._figures.faults[str(fault)] += 1
            healed_at = time.monotonic() + one.lasts_s
            if not {"web", "database"} & {fault.target for fault in one.faults}:
                self._read_pages(names)
            time.sleep(max(0.0, healed_at - time.monotonic()))
        took = self._recover(names)
        self._figures.wrong += wrongs(self._ground)
        memory = self._memory()
        self._say(f"{names}: {one.lasts_s:.0f} s, well after {took:.1f} s; worker {memory:.0f} MB")

    def _read_pages(self, names: str) -> None:
        """Pages stay readable, whatever else is lost."""
        trouble = unread(self._ground)
        self._figures.pages[500 if trouble else 200] += 1
        if trouble:
            self._figures.wrong.append(f"{names}: {trouble}")

    def _recover(self, names: str) -> float:
        """Seconds until all is well, without anybody's doing."""
        since, began = datetime.now(UTC), time.monotonic()
        while why := ailing(self._ground, since):
            if time.monotonic() - began > RECOVERY_S:
                self._figures.wrong.append(f"{names}: not well after {RECOVERY_S:.0f} s, as {why}")
                break
            time.sleep(_POLL_S)
        took = time.monotonic() - began
        self._figures.took(names, took)
        return took

    def _memory(self) -> float:
        used = psutil.Process(self._ground.pid("engine")).memory_info().rss / 1_000_000
        self._figures.memory.append(used)
        return used

    def _settle(self) -> None:
        """All have room now: whatever was begun comes to its end, and nothing of ours stays in the cluster."""
        for queue, replicas in CALM.items():
            self._ground.cluster.scale(queue, queue, replicas)
        began = time.monotonic()
        while why := unsettled(self._ground) or unread(self._ground):
            if time.monotonic() - began > SETTLING_S:
                self._figures.wrong.append(f"at the end {why}")
                break
            time.sleep(_POLL_S)
        self._figures.wrong += wrongs(self._ground)
        self._figures.evictions = accepted(self._ground.cluster.audit()).total()
        rows = self._ground.store.rows(
            "SELECT state, ending FROM history_decision WHERE outcome = 'preempt' AND source = 'engine'"
        )
        self._figures.endings = Counter(row["ending"] or row["state"] for row in rows)

    def _move(self) -> None:
        """Work comes and goes."""
        for move in moves(self._figures.seed):
            if self._ended.wait(move.after_s):
                return
            self._ground.cluster.scale(move.queue, move.queue, move.replicas)
            self._figures.moves += 1

    def _follow(self) -> None:
        """Measure how far passes are apart."""
        former: datetime | None = None
        while not self._ended.wait(_POLL_S):
            try:
                [row] = self._ground.store.rows("SELECT pass_at FROM clusters_clusterstatus")
            except Exception:  # noqa: BLE001 - the database is away, which is a fault of ours
                continue
            at = datetime.fromisoformat(str(row["pass_at"]))
            if former is not None:
                self._figures.worst_gap_s = max(self._figures.worst_gap_s, (at - former).total_seconds())
            former = at
