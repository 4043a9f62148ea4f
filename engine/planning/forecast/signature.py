"""What of a cluster's state decides how it goes on, without names and ages: by it a state that came before is known."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

import msgspec

from engine.model.objects import Pod
from engine.planning.forecast.outcome import origin

_encoder = msgspec.msgpack.Encoder(order="deterministic")


class Shapes:
    """Pods by what they are alike in, told apart by a number. One that came back is of the shape that it was of."""

    def __init__(self) -> None:
        self._of: dict[str, int] = {}
        """Origin -> number."""
        self._numbers: dict[bytes, int] = {}

    def signature(self, pods: Iterable[Pod]) -> bytes:
        """Of which shape the pods are, where, and who came, started and began to wait before, with or after whom."""
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
            self._of[first] = self._numbers.setdefault(_encoder.encode(_alike(pod)), len(self._numbers))
        return self._of[first]


def _alike(pod: Pod) -> Pod:
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
    """In which order moments come, equal ones alike; -1: never."""
    ranks = {moment: rank for rank, moment in enumerate(sorted({one for one in times if one is not None}))}
    return [-1 if one is None else ranks[one] for one in times]
