"""Usage as the laws of policy ``fence`` count it, and a decision's figures before and after."""

from collections.abc import Iterable, Mapping

from engine.model.decision import QueueFigures
from engine.model.objects import Pod
from engine.model.quantities import Amounts, add, subtract, total
from engine.model.queue_tree import QueueTree
from engine.model.snapshot import Snapshot


class Ledger:
    """What every queue uses, on the asker's side and on the victims' side. Amounts by queue path, rolled up."""

    def __init__(self, snapshot: Snapshot, tree: QueueTree) -> None:
        self.tree = tree
        bound = [pod for pod in snapshot.pods if pod.node is not None and pod.queue is not None]
        bound_uids = {pod.uid for pod in bound}
        reserved = [held for held in snapshot.reservations if held.ask_uid not in bound_uids and held.queue in tree]
        self.asking = tree.roll_up(
            _sum(
                [(pod.queue or "", pod.requests) for pod in bound] + [(held.queue, held.requests) for held in reserved]
            )
        )
        """Bound pods plus the room that open decisions reserve: what an asker is measured by."""
        self.giving = tree.roll_up(_sum((pod.queue or "", pod.requests) for pod in bound if not pod.terminating))
        """Bound pods less those on their way out: what a victim's queue is measured by."""

    def keeps_guarantees(self, ask: Pod, victims: Iterable[Pod]) -> str | None:
        """Law 2: the first queue that the victims' going would leave below its guarantee, None when none is.

        Checked for every resource that a victim requests, in its leaf and all above. A queue above the asker too gets
        the ask in return, and may stay as far below as it was.
        """
        asker_lineage = set(self.tree.lineage(ask.queue or self.tree.root))
        for path, gone in self._gone(victims).items():
            guaranteed = self.tree[path].guaranteed
            for resource, amount in gone.items():
                if resource not in guaranteed or amount == 0:
                    continue
                before = self.giving[path].get(resource, 0)
                after, floor = before - amount, guaranteed[resource]
                if path in asker_lineage:
                    after, floor = after + ask.requests.get(resource, 0), min(floor, before)
                if after < floor:
                    return path
        return None

    def may_lose(self, ask: Pod, path: str, resource: str) -> int:
        """How much of what is guaranteed a queue may lose by law 2; less than nothing where it is below already."""
        before, floor = self.giving[path].get(resource, 0), self.tree[path].guaranteed[resource]
        if path in self.tree.lineage(ask.queue or self.tree.root):
            return before + ask.requests.get(resource, 0) - min(floor, before)
        return before - floor

    def at_most(self, ask: Pod, leaf: str, wanted: Mapping[str, int]) -> Amounts:
        """So much of ``wanted`` a leaf can give before it, or a queue above it alone, is down at its guarantee."""
        shared = set(self.tree.lineage(ask.queue or self.tree.root))
        given = dict(wanted)
        for path in self.tree.lineage(leaf):
            for resource, promised in self.tree[path].guaranteed.items():
                if path not in shared and resource in given:
                    given[resource] = min(given[resource], max(0, self.giving[path].get(resource, 0) - promised))
        return given

    def over_max(self, ask: Pod, victims: Iterable[Pod]) -> bool:
        """Whether the ask would exceed the max of its leaf or of a queue above, once the victims are gone."""
        gone = self._gone(victims)
        return any(
            self._excess(path, subtract(ask.requests, gone.get(path, {})), ask.requests) is not None
            for path in self.tree.lineage(ask.queue or self.tree.root)
        )

    def resource_over_max(self, path: str, requests: Mapping[str, int]) -> str | None:
        """The first resource in which one queue would exceed its own max with ``requests`` on top."""
        return self._excess(path, requests, requests)

    def _excess(self, path: str, change: Mapping[str, int], asked: Mapping[str, int]) -> str | None:
        for resource, limit in self.tree[path].max.items():
            if asked.get(resource, 0) > 0 and self.asking[path].get(resource, 0) + change.get(resource, 0) > limit:
                return resource
        return None

    def _gone(self, victims: Iterable[Pod]) -> dict[str, Amounts]:
        gone: dict[str, Amounts] = {}
        for victim in victims:
            for path in self.tree.lineage(victim.queue or self.tree.root):
                gone[path] = add(gone.get(path, {}), victim.requests)
        return gone


def ledger_of(snapshot: Snapshot, tree: QueueTree) -> Ledger:
    """The snapshot's ledger under a tree, worked out once: the asks of a pass share it."""
    kept: Ledger | None = snapshot.__dict__.get("_ledger")
    if kept is None or kept.tree is not tree:
        kept = snapshot.__dict__["_ledger"] = Ledger(snapshot, tree)
    return kept


def _sum(amounts: Iterable[tuple[str, Amounts]]) -> dict[str, Amounts]:
    by_leaf: dict[str, list[Amounts]] = {}
    for leaf, requests in amounts:
        by_leaf.setdefault(leaf, []).append(requests)
    return {leaf: total(many) for leaf, many in by_leaf.items()}


def figures(ledger: Ledger, ask: Pod, victims: Iterable[Pod]) -> tuple[QueueFigures, ...]:
    """The ask's queue and all above it, then each victim's and all above, before and after.

    The asker's lineage is measured on the asker's side, the others on the victims' side.
    """
    victims = tuple(victims)
    own = ledger.tree.lineage(ask.queue) if ask.queue else ()
    others = {path: None for victim in victims for path in ledger.tree.lineage(victim.queue or "") if path not in own}
    gone = ledger._gone(victims)
    asked = ask.requests if victims else {}
    found = []
    for path in (*own, *others):
        before = ledger.asking[path] if path in own else ledger.giving[path]
        after = subtract(add(before, asked) if path in own else before, gone.get(path, {}))
        queue = ledger.tree[path]
        some = [{name: held for name, held in amounts.items() if held} for amounts in (before, after)]
        found.append(QueueFigures(path=path, before=some[0], after=some[1], guaranteed=queue.guaranteed, max=queue.max))
    return tuple(found)
