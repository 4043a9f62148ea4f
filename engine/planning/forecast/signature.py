"""Computes what determines how a cluster's state continues, without names and ages, to recognize repeated states."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

import msgspec

from engine.model.objects import Pod
from engine.planning.forecast.outcome import origin

_encoder = msgspec.msgpack.Encoder(order="deterministic")


class Shapes:
    """Classes of equivalent pods, numbered. A pod that came back keeps its class."""

    def __init__(self) -> None:
        self._of: dict[str, int] = {}
        """Original uid -> number of the class."""
        self._numbers: dict[bytes, int] = {}

    def signature(self, pods: Iterable[Pod]) -> bytes:
        """Return a digest of the pods' classes and nodes, and of the orders of their creation, start and first try."""
        ordered = sorted(pods, key=lambda pod: (pod.created_ms, pod.started_ms or 0, pod.key))
        came, started, waits = (
            _ranks(times)
            for times in (
                [pod.created_ms for pod in ordered],
                [pod.started_ms for pod in ordered],
                [pod.unschedulable_ms if pod.node is None else None for pod in ordered],
            )
        )
        rows = [(self._shape(pod), pod.node, *ranks) for pod, *ranks in zip(ordered, came, started, waits, strict=True)]
        return sha256(_encoder.encode(rows)).digest()

    def _shape(self, pod: Pod) -> int:
        first = origin(pod.uid)
        if first not in self._of:
            self._of[first] = self._numbers.setdefault(_encoder.encode(_without_identity(pod)), len(self._numbers))
        return self._of[first]


def _without_identity(pod: Pod) -> Pod:
    return msgspec.structs.replace(
        pod,
        uid="",
        name="",
        created_ms=0,
        started_ms=None,
        node=None,
        unschedulable_ms=None,
        unschedulable_message="",
        disruption="",
        disrupted_ms=None,
        disruption_message="",
        checkpoint_ms=None,
        odd_checkpoint="",
        workload="",
        nominated_node="",
    )


def _ranks(times: Sequence[int | None]) -> list[int]:
    """Return the rank of each time, the same for equal ones; -1 for None."""
    ranks = {moment: rank for rank, moment in enumerate(sorted({time_ms for time_ms in times if time_ms is not None}))}
    return [-1 if time_ms is None else ranks[time_ms] for time_ms in times]
