"""A mapping from node names to their pods that is filled lazily, as a pass looks at few nodes."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from engine.model.columns.pod_fields import sort_key

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
            pods = self._columns.on(self._columns.place[node])
            found = self._known[node] = tuple(sorted(pods, key=sort_key))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns.place)

    def __len__(self) -> int:
        return len(self._columns.place)
