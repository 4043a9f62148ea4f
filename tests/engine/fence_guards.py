"""For every guard of policy fence a cluster in which nothing but that guard keeps a wrong victim from being chosen."""

from collections.abc import Iterable
from typing import Any

import msgspec

from engine.audit import Invariant
from engine.model.objects import DisruptionBudget, Node, Pod, SchedulingGroup, Taint
from engine.model.queue_tree import Queue, QueueTree
from engine.model.snapshot import Protection, Reservation, Safeguards, Snapshot
from tests.builders import (
    MINUTE,
    NOW,
    OPTED_OUT,
    ask,
    budget,
    daemonset_ask,
    node,
    pod,
    pod_group,
    queue,
    reservation,
    snapshot,
    tree,
)

Objects = Iterable[Node | Pod | Reservation | DisruptionBudget | SchedulingGroup]


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A tree, what is in the cluster beside one node of a core on which ``t`` runs, and the law that is in danger.

    ``want`` asks for the core. Prod is promised it, Test nothing, so that it would get it but for the guard.
    """

    law: Invariant
    queues: dict[str, Queue] = {}
    asker: dict[str, Any] = {}
    victim: dict[str, Any] = {}
    node: dict[str, Any] = {}
    others: tuple[Node | Pod | Reservation | DisruptionBudget | SchedulingGroup, ...] = ()
    agent: bool = False
    """Whether the asker is a DaemonSet's."""
    alone: bool = False
    """Whether there is nothing but ``others``."""
    protection: Protection | None = None
    safeguards: Safeguards | None = None

    def world(self) -> tuple[Snapshot, QueueTree]:
        """The cluster, each time anew."""
        shape = tree({"prod": queue("1"), "test": queue(), **self.queues})
        own = {"queue": "prod", **self.asker}
        asker = daemonset_ask("want", on="n1", **own) if self.agent else ask("want", **own)
        running = pod("t", node="n1", **{"queue": "test", **self.victim})
        plain: list[Node | Pod] = [] if self.alone else [node("n1", 1, **self.node), running]
        at = snapshot(
            shape, plain, asker, self.others, OPTED_OUT, protection=self.protection, safeguards=self.safeguards
        )
        return at, shape


def _elsewhere(name: str, **settings: Any) -> tuple[Node, Pod]:
    """A pod on a full node of its own, on which nobody may be taken."""
    return node("n9", 1, taints=(Taint("only"),)), pod(name, node="n9", **settings)


UNDECIDABLE = {
    "no-queue": Scene(law=Invariant.MAY_PREEMPT, asker={"queue": "nowhere"}, agent=True),
    "unread-rules": Scene(law=Invariant.MAY_PREEMPT, asker={"unread_rules": ("spread",)}),
    "placeholder": Scene(
        law=Invariant.MAY_PREEMPT,
        asker={"scheduler": "yunikorn", "app": "spark", "task_group": "executor"},
        others=_elsewhere(
            "tg-0",
            queue="prod",
            cpu=0,
            app="spark",
            scheduler="yunikorn",
            task_group="executor",
            scheduling_group="yunikorn:spark",
        ),
    ),
}
ASKS = {
    "preemption-policy-never": Scene(law=Invariant.MAY_PREEMPT, asker={"never_preempts": True}),
    "preemption-disabled": Scene(law=Invariant.DISABLED, queues={"prod": queue("1", disabled=True)}),
    "unread": Scene(law=Invariant.MAY_PREEMPT, others=_elsewhere("dark", queue="prod", cpu=0, unread=True)),
    "no-guarantee": Scene(law=Invariant.ENTITLED, queues={"prod": queue()}),
    "at-guarantee": Scene(law=Invariant.ENTITLED, others=_elsewhere("p", queue="prod")),
    "over-max": Scene(law=Invariant.MAX, queues={"prod": queue("2", max="1")}, others=_elsewhere("p", queue="prod")),
}
WAITS = {
    "not-tried": Scene(law=Invariant.MAY_PREEMPT, asker={"unschedulable_ms": None}),
    "delay": Scene(law=Invariant.MAY_PREEMPT, asker={"unschedulable_ms": NOW - MINUTE // 2 + 1}),
}
PODS = {
    "no-queue": Scene(law=Invariant.SHIELDED, victim={"queue": "nowhere"}),
    "daemonset": Scene(law=Invariant.SHIELDED, victim={"controller": "DaemonSet/agent"}),
    "shielded": Scene(law=Invariant.SHIELDED, victim={"mirror": True}, protection=Protection()),
    "same-queue": Scene(law=Invariant.APPLICATION, asker={"queue": "test"}, agent=True),
    "same-application": Scene(law=Invariant.APPLICATION, asker={"app": "spark"}, victim={"app": "spark"}),
    "outside-fence": Scene(law=Invariant.FENCE, queues={"prod": queue("1", fence=True)}),
    "preemption-disabled": Scene(law=Invariant.DISABLED, queues={"test": queue(disabled=True)}),
    "higher-priority": Scene(law=Invariant.PRIORITY, victim={"priority": 1}),
    "entitled-subtree": Scene(
        law=Invariant.ENTITLED,
        queues={"t": queue("2"), "t.a": queue(), "t.b": queue()},
        asker={"queue": "t.a"},
        victim={"queue": "t.b"},
    ),
    "opted-out": Scene(law=Invariant.OPT_OUT, victim={"priority_class": "keep"}),
}
ROWS = {
    "terminating": Scene(
        law=Invariant.ONE_NODE,
        asker={"cpu": 2},
        queues={"prod": queue("2")},
        alone=True,
        others=(
            node("n1", 2),
            pod("going", queue="test", node="n1", created_ms=2, terminating=True),
            pod("stays", queue="test", node="n1"),
        ),
    ),
}
_TWO_TO_TAKE = (
    node("n1", 1),
    pod("first", queue="test.a", node="n1", created_ms=2, labels={"app": "kept"}),
    node("n2", 1),
    pod("second", queue="test.b", node="n2"),
)
"""Of which the first, as the younger one, is the one to go."""
_TWO_LEAVES = {"test.a": queue(), "test.b": queue()}
ROWS |= {
    "paused": Scene(
        law=Invariant.PAUSED,
        queues=_TWO_LEAVES,
        alone=True,
        others=_TWO_TO_TAKE,
        safeguards=Safeguards(paused=("root.test.a",)),
    ),
    "outside-scope": Scene(
        law=Invariant.SCOPE,
        queues=_TWO_LEAVES,
        alone=True,
        others=_TWO_TO_TAKE,
        safeguards=Safeguards(queues=("root.prod", "root.test.b")),
    ),
    "over-budget": Scene(
        law=Invariant.BUDGETS,
        queues=_TWO_LEAVES,
        alone=True,
        others=(*_TWO_TO_TAKE, budget(0, app="kept")),
        safeguards=Safeguards(),
    ),
    "whole-group": Scene(
        law=Invariant.GUARANTEE,  # all of the group goes, and its queue has nothing left
        queues={"test": queue("1")},
        victim={"scheduling_group": "ring"},
        others=(*_elsewhere("other", queue="test", scheduling_group="ring"), pod_group("ring", whole=True)),
    ),
}
SPARE = {"guarantee": Scene(law=Invariant.GUARANTEE, queues={"test": queue("1")})}
NODES = {
    "reserved": Scene(law=Invariant.FITS, others=(reservation(ask("first", queue="test"), node="n1"),)),
    "not-ready": Scene(law=Invariant.FITS, node={"ready": False}),
    "refused": Scene(law=Invariant.FITS, node={"taints": (Taint("only"),)}),
}
ROOM = {
    "node": Scene(
        law=Invariant.FITS,
        asker={"resources": {"memory": 1}},
        alone=True,
        others=(
            node("n1", 1, resources={"memory": 1}),
            pod("t", queue="test", node="n1"),
            pod("large", queue="test", node="n1", cpu=0, resources={"memory": 1}),
        ),
    ),
    "max": Scene(
        law=Invariant.MAX,
        queues={"t": queue(max="1"), "t.a": queue("1"), "t.b": queue()},
        asker={"queue": "t.a"},
        others=_elsewhere("b", queue="t.b"),
    ),
}
SETS = {
    "minimal": Scene(
        law=Invariant.MINIMAL,
        asker={"cpu": 2},
        queues={"prod": queue("2")},
        alone=True,
        others=(
            node("n1", 3),
            pod("small", queue="test", node="n1", created_ms=2),
            pod("large", queue="test", node="n1", cpu=2),
        ),
    ),
}
SCENES = {
    ("eligibility", "UNDECIDABLE"): UNDECIDABLE,
    ("eligibility", "GUARDS"): ASKS,
    ("eligibility", "WAITS"): WAITS,
    ("candidates", "GUARDS"): PODS,
    ("candidates", "ROW_GUARDS"): ROWS,
    ("preemptable_amounts", "GUARDS"): SPARE,
    ("node_candidates", "GUARDS"): NODES,
    ("constraints", "SOURCES"): ROOM,
    ("victim_selection", "GUARDS"): SETS,
}
"""Module and table of the policy's package -> guard -> scene."""
