"""The most memory of a process like the engine's worker, step by step: ``python -m benchmarks memory``."""

import msgspec

from benchmarks.follow import load_worker, peak_mb
from benchmarks.scenario_y import NOW_MS, cluster_y, waiting_y
from engine.cluster.watching.runtime import tune_runtime
from engine.model.decision import encode
from engine.planning import journal
from engine.planning.journal import PassInputs
from engine.planning.scheduling_pass import plan
from engine.policies import fence

Figures = dict[str, str | float | int]


def memory(scale: float) -> Figures:
    """Of scenario Y: the product loaded, the state of the cluster, its snapshot, a pass with 1,000 asks, its keyframe.

    Two states at once, as the journal has the one of the pass before, and all documents of the pass.
    """
    load_worker()
    tune_runtime()
    figures: Figures = {"scenario": "memory", "loaded_mb": peak_mb()}
    state, tree = cluster_y(scale)
    before = state.copy()
    figures["state_mb"] = peak_mb()
    moment = PassInputs(now_ms=NOW_MS)
    taken = moment.snapshot(state, tree)
    figures["snapshot_mb"] = peak_mb()
    waiting, tree = waiting_y(scale, at=(taken, tree))
    considered = plan(waiting, tree, fence.decide)
    figures["pass_mb"] = peak_mb()
    documents = [(encode(one.decision).decode(), msgspec.to_builtins(one.laws)) for one in considered]
    figures["documents_mb"] = peak_mb()
    size = sum(len(piece) for piece in journal.encode_pieces(before, moment))  # as the worker does in large clusters
    return figures | {"keyframe_mb": peak_mb(), "documents": len(documents), "keyframe_bytes": size}
