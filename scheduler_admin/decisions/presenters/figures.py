"""A queue before and after a decision, lane by lane, ready for the bars."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from engine.explain.decision.figures import figures, queues_of, requested_amounts
from engine.model.decision import Decision, QueueFigures
from engine.model.message import short_name
from engine.model.quantities import PODS, column
from engine.observation.evictions import Observed


@dataclass(frozen=True)
class Lane:
    """One resource of one queue; ``after`` is None where nothing changes."""

    resource: str
    before: int
    after: int | None
    guaranteed: int | None
    max: int | None


@dataclass(frozen=True)
class QueueLanes:
    """A queue and which side of the decision it is on: asked, claimed or gave."""

    path: str
    name: str
    side: str
    lanes: list[Lane]

    @property
    def side_text(self) -> str:
        """The side in words."""
        return {"asked": _("requesting queue"), "claimed": _("source of the guarantee"), "gave": _("victim’s queue")}[
            self.side
        ]


@dataclass(frozen=True)
class ShareLine:
    """One resource of one queue under policy ``deserved``; ``after`` is None where nobody goes."""

    queue: str
    resource: str
    requested: int
    used: int
    after: int | None
    deserved: int
    reserved: int
    hard: int | None


def sides(decision: Decision) -> list[QueueLanes]:
    """The asker's queue, those whose guarantee it claims, then those that give way; as far as there are figures."""
    own = [decision.ask.queue]
    claimed = [path for path in decision.trace.entitling.values() if path not in own]
    refused = decision.detail.partition(" ")[0]
    claimed += [refused] if figures(decision, refused) and refused not in own else []
    gave = [path for path in queues_of(decision) if path not in own]
    placed = {**dict.fromkeys(gave, "gave"), **dict.fromkeys(claimed, "claimed"), **dict.fromkeys(own, "asked")}
    order = [*own, *dict.fromkeys(claimed), *(path for path in gave if path not in claimed)]
    found = [lanes_of(decision, path, placed[path]) for path in order]
    return [each for each in found if each is not None]


def lanes_of(decision: Decision, path: str, side: str) -> QueueLanes | None:
    """One queue's lanes: what was asked or taken, of which it uses, is promised or is limited in something."""
    standing = figures(decision, path)
    if standing is None or decision.trace.deserved:  # guarantees are not what is measured there: see ShareLine
        return None
    held = {name for verdict in decision.victims for name, amount in verdict.pod.requests.items() if amount > 0}
    wanted = set(requested_amounts(decision)) | (held if side == "gave" else set())
    lanes = [_lane(standing, name, changes=decision.evicts) for name in _ordered(wanted - {PODS})]
    return QueueLanes(path, short_name(path), side, [lane for lane in lanes if lane is not None])


def share_lines(decision: Decision) -> list[ShareLine]:
    """What queues on both sides use and deserve of what is asked; nothing under other policies."""
    return [
        ShareLine(
            queue=one.queue,
            resource=name,
            requested=one.requested.get(name, 0),
            used=one.used.get(name, 0),
            after=one.after.get(name, 0) if decision.evicts else None,
            deserved=one.deserved.get(name, 0),
            reserved=one.reserved.get(name, 0),
            hard=one.hard.get(name),
        )
        for one in decision.trace.deserved
        for name in sorted(requested_amounts(decision), key=column)
    ]


def observed_sides(seen: Observed) -> list[QueueLanes]:
    """The asker's queue, then those that gave way, as far as there are figures."""
    own = seen.ask.queue if seen.ask else ""
    gave = [one.pod.queue for one in seen.victims if one.pod.queue != own]
    found = [observed_lanes(seen, own, "asked"), *(observed_lanes(seen, path, "gave") for path in dict.fromkeys(gave))]
    return [each for each in found if each is not None]


def observed_lanes(seen: Observed, path: str, side: str) -> QueueLanes | None:
    """One queue's lanes: what was asked or taken; None where its usage then is not known, or is nothing."""
    standing = next((one for one in seen.queues if one.path == path), None)
    if standing is None:
        return None
    names = {name for one in seen.victims for name, amount in one.pod.requests.items() if amount > 0}
    names |= set(seen.ask.requests) if seen.ask else set()
    changes = standing.before != standing.after
    found = (_lane(standing, name, changes=changes) for name in _ordered(names - {PODS}))
    lanes = [lane for lane in found if lane is not None]
    return QueueLanes(path, short_name(path), side, lanes) if lanes else None


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=column)


def _lane(standing: QueueFigures, resource: str, *, changes: bool) -> Lane | None:
    before, after = standing.before.get(resource, 0), standing.after.get(resource, 0)
    guaranteed, limit = standing.guaranteed.get(resource), standing.max.get(resource)
    if not before and not after and guaranteed is None and limit is None:
        return None
    return Lane(resource, before, after if changes else None, guaranteed, limit)
