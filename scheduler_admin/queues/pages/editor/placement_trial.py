"""Which leaf a pod would get by a draft's rules: tried out, with whatever is typed of the pod."""

from dataclasses import dataclass
from typing import Self

from django.http import QueryDict

from engine.model.objects import Pod
from engine.model.queue_tree import QueueTree
from engine.model.snapshot.queue_assignment import queue_of

_LONGEST = 300
"""Of each, in characters."""


@dataclass(frozen=True)
class Trial:
    """A pod as the page's address tells of it; without a namespace none is tried."""

    namespace: str = ""
    label: str = ""
    user: str = ""
    groups: str = ""
    annotation: str = ""
    """What the namespace's annotation names."""

    @classmethod
    def read(cls, query: QueryDict) -> Self:
        """From a page's query."""
        return cls(**{name: query.get(f"try_{name}", "").strip()[:_LONGEST] for name in cls.__dataclass_fields__})

    def leaf(self, tree: QueueTree) -> str:
        """The leaf that it would get, which may come into being with it; empty: none."""
        groups = tuple(self.groups.replace(",", " ").split())
        pod = Pod(uid="", name="", namespace=self.namespace, queue_label=self.label, user=self.user, groups=groups)
        return queue_of(pod, tree, self.annotation) or ""


NO_TRIAL = Trial()
