"""`python -m tests.enforce.contest --kept-by taint --decisions 200 --seed 1`: who gets the room that we make?

A worker enforces beside a kube-scheduler that gives any free room to whoever comes first, and there are many who
would come. What came of every decision, as JSON and as a row of the table in docs/holding-the-room.md.
"""

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec

from engine.cluster.acting.outcomes import ReservationMethod
from tests.enforce.contest_ground import Ground, RealGround, SimulatedGround
from tests.enforce.contest_load import Load
from tests.enforce.contest_result import Result, carried_out, result_of
from tests.enforce.contest_scene import PRIORITIES, Scene
from tests.enforce.worker import Worker
from tests.waiting import wait_for

BIND_MARGIN_S = 15
"""kube-scheduler looks again at a pod that it could not place after ten seconds at the latest."""
_AT_ONCE = 10_000
BUDGETS = {f"evictions_per_{what}": _AT_ONCE for what in ("minute", "pass", "queue", "namespace", "node")}
_NOT_LOST = ("bound", "superseded")
"""After the latter an ask is decided for anew at once."""
_LOOK_S = 0.25
_LONGEST_END_S = 60.0
Tell = Callable[[str], None]


def contest(
    ground: Ground,
    folder: Path,
    scene: Scene,
    *,
    kept_by: ReservationMethod,
    decisions: int,
    seed: int,
    tell: Tell = lambda _: None,
) -> Result:
    """Let a worker fight until so many decisions have been begun, and every one of them has ended."""
    limits = {**BUDGETS, "reserved_nodes": scene.nodes, "bind_margin_s": BIND_MARGIN_S, "min_run_s": 0}
    folder.mkdir()
    worker = Worker(folder / "worker")
    worker.set_up(
        kubeconfig=ground.kubeconfig, tree=scene.tree(folder / "queues.yaml"), room_kept_by=str(kept_by), **limits
    )
    with closing(ground.wire()) as wire:
        load = Load(wire, scene, seed)
        wait_for(load.full, "A full cluster")
        worker.start()
        try:
            began = time.monotonic()
            _fight(worker, load, decisions, tell)
            took_s = time.monotonic() - began
            return result_of(worker, wire, ground.evictions(), kept_by=kept_by, seed=seed, took_s=took_s)
        finally:
            worker.stop()


def _fight(worker: Worker, load: Load, decisions: int, tell: Tell) -> None:
    told_s = ended_s = 0.0
    while True:
        rows = carried_out(worker)
        more = sum(1 for row in rows if row["deadline"]) < decisions
        if more:
            ended_s = time.monotonic() + _LONGEST_END_S
        settled = all(row["state"] == "closed" for row in rows)
        if not more and (settled or time.monotonic() > ended_s):
            return
        lost = {row["ask_uid"] for row in rows if row["state"] == "closed" and row["ending"] not in _NOT_LOST}
        load.step(lost=lost, asks=more, settled=settled)
        if time.monotonic() > told_s:
            told_s = time.monotonic() + 5
            endings = Counter(row["ending"] or "open" for row in rows)
            tell(", ".join(f"{count} {ending}" for ending, count in endings.items()))
        time.sleep(_LOOK_S)


def main() -> None:
    """KeptBy one contest and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.enforce.contest", description=__doc__)
    parser.add_argument(
        "--kept-by", type=ReservationMethod, choices=list(ReservationMethod), default=ReservationMethod.TAINT
    )
    parser.add_argument("--decisions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=Scene().nodes)
    parser.add_argument("--asks", type=int, default=Scene().asks, help="of a wave, or at a time")
    parser.add_argument("--stream", action="store_true", help="asks come and end all the time, instead of in waves")
    parser.add_argument("--newcomers", nargs="*", choices=PRIORITIES, default=PRIORITIES, help="their priorities")
    parser.add_argument("--simulator", action="store_true", help="instead of a real control plane")
    parser.add_argument("--folder", type=Path, help="where everything is kept, to look at it afterwards")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # in order, with all that it has started
    scene = Scene(nodes=options.nodes, asks=options.asks, stream=options.stream, newcomers=options.newcomers)
    opened = SimulatedGround.opened if options.simulator else RealGround.opened
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made) / "contest"
        folder.mkdir()
        with opened(folder / "cluster", scene.documents()) as ground:
            result = contest(
                ground,
                folder / "product",
                scene,
                kept_by=options.kept_by,
                decisions=options.decisions,
                seed=options.seed,
                tell=lambda text: print(text, file=sys.stderr),
            )
    print(msgspec.json.encode(result).decode())
    print(result.table_row())


if __name__ == "__main__":
    main()
