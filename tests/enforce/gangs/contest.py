"""`python -m tests.enforce.gangs.contest --decisions 100 --seed 1`: is room made for whole gangs, or for nobody?

A worker enforces beside the real kube-scheduler of the release with groups of pods, which gives any free room to
whoever comes first, while pods of gangs and nodes vanish. What came of every decision, as JSON.
"""

import argparse
import json
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Self

import msgspec

from tests.controlplane import binaries
from tests.controlplane.wire import Wire
from tests.enforce.contest import BIND_MARGIN_S, BUDGETS
from tests.enforce.contest_ground import RealGround
from tests.enforce.gangs.load import GangLoad, reservations
from tests.enforce.gangs.result import GangResult, gang_decisions, result_of
from tests.enforce.gangs.scene import GangScene
from tests.enforce.worker import Worker
from tests.waiting import PATIENCE_S, wait_for

_LOOK_S = 0.25
_LONGEST_END_S = 90.0
_NOT_LOST = ("bound", "superseded")
"""After the latter a gang is decided for anew at once."""
Tell = Callable[[str], None]


class NodeWatch:
    """Follows the nodes' taints: a node that changes hands has to have been free between."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._of = dict[str, list[str]]()
        self.stolen: list[str] = []
        self._thread = threading.Thread(target=self._follow, name="node-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._wire.close()
        self._thread.join(PATIENCE_S)

    def _follow(self) -> None:
        for line in self._wire.lines("/api/v1/nodes?watch=true"):
            event = json.loads(line)
            name, now = event["object"]["metadata"]["name"], reservations(event["object"])
            before = self._of.get(name, [])
            if event["type"] == "DELETED":
                now = []
            elif len(now) > 1 or (before and now and before != now):
                self.stolen.append(f"{name}: {before} {now}")
            self._of[name] = now


def contest(
    ground: RealGround,
    folder: Path,
    scene: GangScene,
    *,
    decisions: int,
    seed: int,
    tell: Tell = lambda _: None,
) -> GangResult:
    """Let a worker act until so many decisions for gangs have been begun, and every one of them has ended."""
    limits = {**BUDGETS, "reserved_nodes": scene.nodes, "bind_margin_s": BIND_MARGIN_S, "min_run_s": 0}
    folder.mkdir()
    worker = Worker(folder / "worker")
    worker.set_up(kubeconfig=ground.kubeconfig, tree=scene.tree(folder / "queues.yaml"), **limits)
    with closing(ground.wire()) as wire, NodeWatch(ground.wire()) as nodes:
        load = GangLoad(wire, scene, seed)
        wait_for(load.full, "A full cluster")
        worker.start()
        try:
            began = time.monotonic()
            _fight(worker, load, decisions, tell)
            load.close()
            took_s = time.monotonic() - began
        finally:
            worker.stop()
        return result_of(
            worker,
            wire,
            ground.evictions(),
            placed=load.nodes,
            stolen=nodes.stolen,
            vanished=load.vanished,
            seed=seed,
            took_s=took_s,
        )


def _fight(worker: Worker, load: GangLoad, decisions: int, tell: Tell) -> None:
    told_s = ended_s = 0.0
    while True:
        rows = gang_decisions(worker)
        more = sum(1 for row in rows if row["deadline"]) < decisions
        if more:
            ended_s = time.monotonic() + _LONGEST_END_S
        settled = all(row["state"] == "closed" for row in rows)
        if not more and (settled or time.monotonic() > ended_s):
            return
        closed = [row for row in rows if row["state"] == "closed"]
        load.step_gangs(
            lost={row["ask_group"] for row in closed if row["ending"] not in _NOT_LOST}, asks=more, settled=settled
        )
        if time.monotonic() > told_s:
            told_s = time.monotonic() + 5
            tell(", ".join(f"{count} {ending}" for ending, count in Counter(_word(row) for row in rows).items()))
        time.sleep(_LOOK_S)


def _word(row: dict[str, object]) -> str:
    return str(row["ending"] or row["state"])


def main() -> None:
    """Hold one contest and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.enforce.gangs.contest", description=__doc__)
    parser.add_argument("--decisions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=GangScene().nodes)
    parser.add_argument("--gangs", type=int, default=GangScene().asks, help="of a wave")
    parser.add_argument("--faults", type=float, default=GangScene().faults, help="0 to 1: how often something vanishes")
    parser.add_argument("--folder", type=Path, help="where everything is kept, to look at it afterwards")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # in order, with all that it has started
    scene = GangScene(nodes=options.nodes, asks=options.gangs, faults=options.faults)
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made) / "contest"
        folder.mkdir()
        with RealGround.opened(folder / "cluster", scene.documents(), release=binaries.GROUPS_RELEASE) as ground:
            result = contest(
                ground,
                folder / "product",
                scene,
                decisions=options.decisions,
                seed=options.seed,
                tell=lambda text: print(text, file=sys.stderr, flush=True),
            )
    print(msgspec.json.encode(result).decode())
    print(f"Troubles: {result.troubles or 'none'}")


if __name__ == "__main__":
    main()
