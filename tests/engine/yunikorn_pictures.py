"""The scenarios as pictures in letters, as docs/policies/yunikorn.md has them."""

from collections.abc import Iterator

from engine.model.objects import Node, Pod
from engine.model.quantities import CPU, Amounts, format_amount
from engine.model.queue_tree import PreemptionPolicy, PriorityPolicy, Queue
from engine.model.snapshot import Snapshot
from tests.builders import NOW
from tests.engine.yunikorn_scenarios import Scenario


def picture(scenario: Scenario) -> str:
    """Queues with their bars, nodes with their pods, the pending pod, and the victims with the quirk and without."""
    at = scenario.snapshot()
    limited = [queue for queue in scenario.tree.queues.values() if queue.max and CPU not in queue.max]
    resource = "memory" if limited else CPU
    head = [("queue", "guaranteed", "max", resource, "")]
    queues = [_queue(scenario, at, path, resource) for path in scenario.tree.walk() if path != "root"]
    lines = [*_table([*head, *queues]), "", *(_node(at, node, resource) for node in at.nodes)]
    lines += [_pending(ask) for ask in at.asks]
    ends = (("YuniKorn", scenario.theirs), ("without the quirk", scenario.without))
    return "\n".join([*lines, "", *(f"{who}: {_goes(names)}" for who, names in ends)])


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    kept = [column for column in zip(*rows, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in kept]
    for row in zip(*kept, strict=True):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _queue(scenario: Scenario, at: Snapshot, path: str, resource: str) -> tuple[str, ...]:
    queue = scenario.tree[path]
    unit = 1000 if resource == CPU else 1
    used = at.usage(scenario.tree)[path].get(resource, 0) // unit
    promised = queue.guaranteed.get(resource, 0) // unit
    bar = "█" * min(used, promised) + "▓" * max(0, used - promised) + "░" * max(0, promised - used)
    return (_short(path), _amount(resource, queue.guaranteed), _amount(resource, queue.max), bar, _settings(queue))


def _settings(queue: Queue) -> str:
    words = {
        "fence": queue.preemption_policy is PreemptionPolicy.FENCE,
        "preemption disabled": queue.preemption_policy is PreemptionPolicy.DISABLED,
        "priority fence": queue.priority_policy is PriorityPolicy.FENCE,
    }
    return ", ".join(word for word, holds in words.items() if holds)


def _node(at: Snapshot, node: Node, resource: str) -> str:
    pods = sorted(at.pods_by_node.get(node.name, ()), key=lambda pod: pod.created_ms)
    held = [f"{pod.name} {_amount(resource, pod.requests)}{_words(pod)}" for pod in pods]
    free = at.free(node).get(resource, 0)
    held += [f"{format_amount(resource, free)} free"] if free > 0 and resource == CPU else []
    taints = [f"taint {taint.key}" for taint in node.taints] + (["cordoned"] if node.unschedulable else [])
    return f"{node.name}: {', '.join(held)}" + (f" ({', '.join(taints)})" if taints else "")


def _pending(ask: Pod) -> str:
    return f"pending pod in {_short(ask.queue)}: {_amount(CPU, ask.requests)} cpu{_words(ask, ask)}"


def _words(pod: Pod, ask: Pod | None = None) -> str:
    words = {
        "of a DaemonSet": pod.daemonset,
        f"for {pod.required_node}": pod.required_node is not None,
        "terminating": pod.terminating,
        f"priority {pod.priority}": pod.priority != 0,
        "opted out by its class": pod.opted_out,
        "opted out by its own annotation": pod.own_opt_out is True,
        "port 80": bool(pod.host_ports),
        f"created {(NOW - pod.created_ms) // 1000} s ago": ask is not None and pod.created_ms > 0,
        f"unschedulable for {(NOW - (pod.unschedulable_ms or 0)) // 1000} s": ask is not None and pod.created_ms > 0,
    }
    told = [word for word, holds in words.items() if holds]
    return f" ({', '.join(told)})" if told else ""


def _goes(names: tuple[str, ...]) -> str:
    return f"evicts {', '.join(sorted(names)) or 'nothing'}"


def _amount(resource: str, amounts: Amounts) -> str:
    return format_amount(resource, amounts[resource]) if resource in amounts else ""


def _short(path: str | None) -> str:
    return (path or "").removeprefix("root.")
