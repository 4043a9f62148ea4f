"""A small cluster for every departure of YuniKorn from its design, as docs/policies/yunikorn.md shows it."""

import msgspec

from engine.model.objects import HostPort, Node, Pod, Taint
from engine.model.queue_tree import PriorityPolicy, QueueTree
from engine.model.snapshot import Snapshot
from engine.policies.yunikorn import Quirk
from tests.builders import MINUTE, NOW, OPTED_OUT, ask, daemonset_ask, node, pod, queue, snapshot, tree


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """Pods are given from the oldest to the newest; the one without a node is the ask."""

    tree: QueueTree
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    theirs: tuple[str, ...]
    """Who goes under YuniKorn's rules."""
    without: tuple[str, ...]
    """Who would go if the one departure were none."""

    def snapshot(self) -> Snapshot:
        """The cluster; all but the ask were created a second after each other."""
        aged = [
            one if one.node is None else msgspec.structs.replace(one, created_ms=1000 * i)
            for i, one in enumerate(self.pods, 1)
        ]
        return snapshot(self.tree, self.nodes, aged, OPTED_OUT)


def ran(names: str, leaf: str, *, cpu: int = 1, on: str = "n1", **settings: object) -> list[Pod]:
    """Pods of one size in one leaf, each of an application of its own unless ``app`` says otherwise."""
    return [pod(name, queue=leaf, cpu=cpu, node=on, **settings) for name in names.split()]  # type: ignore[arg-type]


def _one_node(
    queues: QueueTree, *pods: list[Pod] | Pod, theirs: str, without: str, free: int = 0, beside: tuple[Node, ...] = ()
) -> Scenario:
    flat = [one for some in pods for one in (some if isinstance(some, list) else [some])]
    held = sum(one.requests["cpu"] for one in flat if one.node == "n1")
    return Scenario(
        tree=queues,
        nodes=(node("n1", held // 1000 + free), *beside),
        pods=tuple(flat),
        theirs=tuple(theirs.split()),
        without=tuple(without.split()),
    )


PROD_AND_TEST = tree({"prod": queue("4"), "test": queue()})

SCENARIOS: dict[Quirk, Scenario] = {
    Quirk.WHOLE_ASK: _one_node(
        tree({"prod": queue("5"), "test": queue("5")}),
        ran("p1 p2", "prod", cpu=2),
        ran("t1 t2 t3 t4", "test", cpu=2),
        ask("a", queue="prod", cpu=2),
        theirs="",
        without="t4",
    ),
    Quirk.VICTIMS_CHARGED: _one_node(
        PROD_AND_TEST,
        ran("t1", "test", cpu=6),
        ask("a", queue="prod", cpu=2),
        theirs="",
        without="t1",
    ),
    Quirk.LEAF_BELOW: _one_node(
        tree({"prod": queue("4"), "test": queue("5")}),
        ran("t1 t2 t3", "test", cpu=2),
        ask("a", queue="prod", cpu=2),
        theirs="t3",
        without="",
    ),
    Quirk.PARENT_BELOW: _one_node(
        tree({"prod": queue("4"), "team": queue("6"), "team.x": queue("2"), "team.y": queue("2")}),
        ran("x1 x2", "team.x", cpu=2),
        ran("y1", "team.y", cpu=2),
        ask("a", queue="prod", cpu=2),
        theirs="x2",
        without="",
    ),
    Quirk.INSIDE_CLAIM: _one_node(
        tree({"team": queue("6"), "team.x": queue(), "team.y": queue("1")}),
        ran("y1 y2", "team.y", cpu=2),
        ask("a", queue="team.x", cpu=2),
        theirs="y2",
        without="",
    ),
    Quirk.LEAVING_UNCOUNTED: Scenario(
        tree=tree({"prod": queue("3"), "test": queue()}),
        nodes=(node("n1", 4), node("n2", 2, unschedulable=True)),
        pods=(
            *ran("p1", "prod", cpu=2, on="n2", terminating=True),
            *ran("t1 t2", "test", cpu=2),
            ask("a", queue="prod", cpu=2),
        ),
        theirs=("t2",),
        without=(),
    ),
    Quirk.MAX_FENCE: Scenario(
        tree=tree({"team": queue(max="4"), "team.x": queue("3"), "team.y": queue(), "test": queue()}),
        nodes=(node("n1", 2), node("n2", 2)),
        pods=(
            *ran("x1", "team.x", on="n2"),
            *ran("y1", "team.y", on="n2"),
            *ran("y2", "team.y"),
            *ran("t1", "test"),
            ask("a", queue="team.x", cpu=2),
        ),
        theirs=(),
        without=("t1", "y2"),
    ),
    Quirk.NAME_PREFIX: _one_node(
        tree({"web": queue("4"), "web-test": queue("4")}),
        ran("w1", "web", cpu=2),
        ask("a", queue="web-test", cpu=2),
        theirs="w1",
        without="",
    ),
    Quirk.PRIORITIES_BEND: _one_node(
        tree({"prod": queue("4"), "test": queue(priority_policy=PriorityPolicy.FENCE)}),
        ran("t1 t2", "test", cpu=2, priority=100),
        ask("a", queue="prod", cpu=2),
        theirs="t2",
        without="",
    ),
    Quirk.OWN_ANNOTATION: _one_node(
        PROD_AND_TEST,
        ran("t1 t2", "test", app="web"),
        ran("t3", "test", app="web", own_opt_out=True),
        ask("a", queue="prod"),
        theirs="t2",
        without="t3",
    ),
    Quirk.OPTED_OUT_TAKEN: _one_node(
        PROD_AND_TEST,
        ran("t1", "test", priority_class="keep"),
        ask("a", queue="prod"),
        theirs="t1",
        without="",
    ),
    Quirk.DISABLED_PREEMPTS: _one_node(
        tree({"prod": queue("4", disabled=True), "test": queue()}),
        ran("t1", "test"),
        ask("a", queue="prod"),
        theirs="t1",
        without="",
    ),
    Quirk.DELAY_FROM_CREATION: _one_node(
        PROD_AND_TEST,
        ran("t1", "test"),
        ask("a", queue="prod", created_ms=NOW - MINUTE, unschedulable_ms=NOW - 5000),
        theirs="t1",
        without="",
    ),
    Quirk.TWO_VICTIMS: _one_node(
        PROD_AND_TEST,
        ran("t1 t2 t3 t4", "test"),
        ask("a", queue="prod", cpu=3),
        theirs="t3 t4",
        without="t2 t3 t4",
    ),
    Quirk.LEAVING_HOLD: _one_node(
        PROD_AND_TEST,
        ran("t1", "test", cpu=2),
        ran("t2", "test", cpu=2, terminating=True),
        ask("a", queue="prod", cpu=2),
        theirs="t1",
        without="",
    ),
    Quirk.FREE_SPACE_IGNORED: _one_node(
        PROD_AND_TEST,
        ran("t1", "test"),
        ask("a", queue="prod", cpu=2),
        theirs="",
        without="t1",
        free=1,
    ),
    Quirk.NO_REPRIEVE: _one_node(
        PROD_AND_TEST,
        ran("t1", "test", cpu=2),
        ran("t2", "test"),
        ask("a", queue="prod", cpu=2),
        theirs="t1 t2",
        without="t1",
    ),
    Quirk.AMOUNTS_ALONE: _one_node(
        PROD_AND_TEST,
        ran("t1", "test", host_ports=(HostPort(80),)),
        ran("t2", "test"),
        ask("a", queue="prod", host_ports=(HostPort(80),)),
        theirs="t2",
        without="t1 t2",
    ),
    Quirk.OTHER_NODES: Scenario(
        tree=tree({"team": queue(max="4"), "team.x": queue("2"), "team.y": queue()}),
        nodes=(node("n1", 4), node("n2", 2)),
        pods=(*ran("y1", "team.y", cpu=2), *ran("y2 y3", "team.y", on="n2"), ask("a", queue="team.x", cpu=2)),
        theirs=("y2", "y3"),
        without=("y1",),
    ),
    Quirk.MAX_UNCHECKED: _one_node(
        tree({"team": queue(max="4"), "team.x": queue("2"), "team.y": queue()}),
        ran("y1 y2 y3 y4 y5 y6", "team.y"),
        ask("a", queue="team.x"),
        theirs="y6",
        without="y4 y5 y6",
    ),
    Quirk.DAEMONSET_BELOW: _one_node(
        tree({"infra": queue(), "test": queue("2")}),
        ran("t1 t2", "test"),
        daemonset_ask("a", queue="infra", on="n1"),
        theirs="t2",
        without="",
        beside=(node("n2"),),
    ),
    Quirk.DAEMONSET_UNBOUNDED: _one_node(
        tree({"infra": queue(fence=True), "test": queue()}),
        ran("t1", "test"),
        daemonset_ask("a", queue="infra", on="n1"),
        theirs="t1",
        without="",
        beside=(node("n2"),),
    ),
    Quirk.DAEMONSET_SPREE: _one_node(
        tree({"infra": queue(), "test": queue()}),
        ran("t1 t2", "test"),
        daemonset_ask("a", queue="infra", cpu=2, on="n1"),
        theirs="t1 t2",
        without="t2",
        beside=(node("n2"),),
        free=1,
    ),
    Quirk.DAEMONSET_REGARDLESS: Scenario(
        tree=tree({"infra": queue(), "test": queue()}),
        nodes=(node("n1", 1, taints=(Taint("gpu"),)), node("n2")),
        pods=(*ran("t1", "test"), daemonset_ask("a", queue="infra", on="n1")),
        theirs=("t1",),
        without=(),
    ),
    Quirk.DAEMONSET_BY_AFFINITY: _one_node(
        PROD_AND_TEST,
        ran("t1", "test", controller="DaemonSet/agent"),
        ask("a", queue="prod"),
        theirs="t1",
        without="",
    ),
    Quirk.QUOTA_DEAREST_FIRST: _one_node(
        tree({"test": queue(max="2", quota_delay_ms=0)}),
        ran("t1", "test", app="web"),
        ran("t2", "test", app="web", priority_class="keep"),
        ran("t3", "test", app="web"),
        theirs="t2",
        without="t3",
    ),
    Quirk.QUOTA_COUNTS_UNDERUSE: _one_node(
        tree(
            {
                "team": queue(max={"memory": 3}, quota_delay_ms=0),
                "team.x": queue({"cpu": 2, "memory": 4}),
                "team.y": queue({"cpu": 1, "memory": 1}),
            }
        ),
        ran("x1", "team.x", cpu=3, resources={"memory": 1}),
        ran("y1 y2 y3 y4", "team.y", resources={"memory": 1}),
        theirs="x1 y1",
        without="y1 y2",
    ),
}
