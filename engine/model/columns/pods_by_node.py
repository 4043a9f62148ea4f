"""A mapping from node names to their pods that is filled lazily, as a pass looks at few nodes."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.model.columns.node_columns import Columns
    from engine.model.objects.kubernetes import Pod


class PodsByNode(Mapping[str, "tuple[Pod, ...]"]):
    """Node name -> the pods bound to it, sorted by namespace and name, terminating pods included."""

    def __init__(self, columns: "Columns") -> None:
        self._columns = columns
        self._known: dict[str, tuple[Pod, ...]] = {}

    def __getitem__(self, node: str) -> "tuple[Pod, ...]":
        found = self._known.get(node)
        if found is None:
            columns, place = self._columns, self._columns.place[node]
            pods, rows = columns.on(place), columns.rows(place)
            order = columns.pod_places[rows.start : rows.stop].argsort().tolist()
            found = self._known[node] = tuple([pods[at] for at in order])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns.place)

    def __len__(self) -> int:
        return len(self._columns.place)
