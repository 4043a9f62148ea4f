"""What a victim's side learns of the preemptor: decided here, for pages, the API, exports and Events alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import msgspec

from engine.observation.preemption_loops import named
from engine.planning.forecast import EvictionGroup
from scheduler_admin.accounts.models import Site
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.accounts.selectors import site
from scheduler_admin.decisions.models import Decision, Turn


@dataclass(frozen=True)
class Preemptor:
    """An ask as far as a reader may know it; empty is not told."""

    queue: str = ""
    uid: str = ""
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True)
class SeenLoop:
    """A loop of preemptions as far as a reader may know it."""

    turns: tuple[Turn, ...]
    own: tuple[Turn, ...]
    """Those of them that are the reader's."""

    @property
    def name(self) -> str:
        """Its queues, round to where it began."""
        return named([turn.queue for turn in self.turns])

    @property
    def facts(self) -> dict[str, Any]:
        """For programs."""
        return {"cycle": self.name, "members": [turn.facts for turn in self.turns]}


@dataclass(frozen=True)
class Redaction:
    """What one reader is told of others' asks."""

    scope: Scope
    told: str
    """Site.Preemptor: how much the site tells."""

    @classmethod
    def of(cls, scope: Scope) -> Self:
        """For who has this scope; nothing of it is a stranger's, such as whoever reads an Event."""
        return cls(scope, Site.Preemptor.NAME if scope.everything else site().preemptor)

    def owns(self, row: Decision) -> bool:
        """Whether the ask is the reader's to see."""
        return self.scope.has_pod(row.ask_namespace, row.ask_queue)

    def tells_queue(self, queue: str) -> bool:
        """Whether the queue of an ask that is not the reader's is told; what they see anyway always is."""
        return self.told != Site.Preemptor.NONE or self.scope.has_path(queue)

    def losing(self, namespace: str, queue: str) -> tuple[str, str]:
        """Namespace and queue of a pod that went: who got room by it learns the queue, if that."""
        if self.scope.has_pod(namespace, queue):
            return namespace, queue
        return "", queue if self.tells_queue(queue) else ""

    def gaining(self, namespace: str, queue: str) -> tuple[str, str]:
        """Namespace and queue of an ask, as its decision tells them."""
        if self.scope.has_pod(namespace, queue) or self.told == Site.Preemptor.NAME:
            return namespace, queue
        return "", queue if self.tells_queue(queue) else ""

    def preemptor(self, row: Decision) -> Preemptor:
        """A decision's ask."""
        own = self.owns(row)
        name = own or self.told == Site.Preemptor.NAME
        return Preemptor(
            queue=row.ask_queue if own or self.tells_queue(row.ask_queue) else "",
            uid=row.ask_uid if name or self.told == Site.Preemptor.UID else "",
            namespace=row.ask_namespace if name else "",
            name=row.ask_name if name else "",
        )

    def loop(self, turns: Sequence[Turn]) -> SeenLoop:
        """A loop: of others at most the queue, where they took from the reader's or gave way to them."""
        own = [self.scope.has_pod(turn.namespace, turn.queue) for turn in turns]
        before, after = [own[-1], *own], [*own[1:], own[0]]
        seen = tuple(
            turn if own[place] else self._other(turn, took=before[place], gave=after[place])
            for place, turn in enumerate(turns)
        )
        return SeenLoop(seen, tuple(turn for turn, mine in zip(turns, own, strict=True) if mine))

    def _other(self, turn: Turn, *, took: bool, gave: bool) -> Turn:
        """Somebody else's turn: who ``took`` from the reader, ``gave`` way to them, both, or neither."""
        told = self.scope.has_path(turn.queue) or ((took or gave) and self.tells_queue(turn.queue))
        return replace(
            turn,
            queue=turn.queue if told else "",
            namespace="",
            application="",
            times=turn.times if gave else None,
            decision=turn.decision if gave else None,
        )

    def groups(self, found: Iterable[EvictionGroup]) -> list[EvictionGroup]:
        """What a forecast says of the reader's pods, without the queues for which they would go that are not told."""
        return [
            one if self.tells_queue(one.asker_queue) else msgspec.structs.replace(one, asker_queue="") for one in found
        ]
