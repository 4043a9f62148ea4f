"""The map in words: the lead, what a box says of itself, and the rows of the table."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engine.explain import Message, border_clause, border_label
from engine.model.queue_tree import PreemptionPolicy
from engine.tree.reach import OPEN, Border, Fences
from scheduler_admin.core.translation import text
from scheduler_admin.core.words import names
from scheduler_admin.counts.selectors.pairs import Pair
from scheduler_admin.decisions.models import Decision
from scheduler_admin.fences.folding import Drawn
from scheduler_admin.fences.scene import Scene


@dataclass(frozen=True)
class Lead:
    """The sentence above the map. ``kind``: ``none`` is chosen, or what is reaches ``all``, ``some`` or ``nothing``.

    ``because``: what stops it elsewhere. ``fence_lets_in``: some reach it through a fence from outside; ``let_in``:
    which, unless all do. ``reaches_others``, ``others_reach``: so do queues that the reader may not see. ``alone``:
    there is no other queue. ``itself``: its asks may take from the queue itself. ``fence``: the one that holds it in.
    ``fences``: how many the reader may see. ``partial``: there are queues that the reader may not see. ``kept``,
    ``kept_count``: the reader's queues inside fences of those.
    """

    kind: str
    name: str = ""
    reached: str = ""
    because: Message | None = None
    askers: str = ""
    asker_count: int = 0
    let_in: str = ""
    fence_lets_in: bool = False
    reaches_others: bool = False
    others_reach: bool = False
    alone: bool = False
    itself: bool = False
    fence: str = ""
    fences: int = 0
    partial: bool = False
    kept: str = ""
    kept_count: int = 0


@dataclass(frozen=True)
class Side:
    """One direction of a row: how many leaves of the box the border is open for, why, and pods that went."""

    open: int
    of: int
    because: Message | None
    pods: int
    odd: bool


@dataclass(frozen=True)
class Row:
    """A box of the map in the table."""

    box: Drawn
    name: str
    url: str
    own: bool
    out: Side
    into: Side


@dataclass(frozen=True)
class Odd:
    """Pods that went through a shut border, and who decided so."""

    source: str
    asker: str
    victim: str
    pods: int
    because: Message


def lead(scene: Scene) -> Lead:
    """What matters now, seen from the chosen queue."""
    if not scene.chosen:
        return _lead_of_all(scene)
    around = scene.around
    reached = [path for path, each in around.items() if each.out.allowed]
    shut = [each.out for each in around.values() if not each.out.allowed]
    hidden = [each.out for each in scene.unseen if not each.out.allowed]
    askers = [path for path, each in around.items() if each.into.allowed]
    through = [path for path in askers if scene.lets_in(around[path].into)]
    return Lead(
        kind="nothing" if not reached else "some" if shut or hidden else "all",
        name=scene.name(scene.chosen),
        reached=names([scene.name(path) for path in reached], 4),
        because=_most_frequent(shut or [each for each in hidden if scene.tree.contains(each.queue, scene.chosen)]),
        askers=names([scene.name(path) for path in askers], 4),
        asker_count=len(askers),
        let_in=names([scene.name(path) for path in through], 2) if through != askers else "",
        fence_lets_in=bool(through),
        reaches_others=any(each.out.allowed for each in scene.unseen),
        others_reach=any(each.into.allowed for each in scene.unseen),
        alone=not around and not scene.unseen,
        fence=scene.name(scene.fence(scene.chosen) or ""),
        itself=_open_to_itself(scene),
    )


def _lead_of_all(scene: Scene) -> Lead:
    kept = [top.path for top in scene.tops if scene.fence(top.path) not in (None, top.path)]
    return Lead(
        "none",
        fences=sum(scene.fence(path) == path for path in scene.seen),
        partial=scene.partial,
        kept=names([scene.name(path) for path in kept], 4),
        kept_count=len(kept),
        reaches_others=any(victim not in scene.seen for _asker, victim in scene.open_borders),
        others_reach=any(asker not in scene.seen for asker, _victim in scene.open_borders),
    )


def _most_frequent(borders: Collection[Border]) -> Message | None:
    """The clause that says why most borders are as they are; several reasons may say the same."""
    reasons = [(each.reason, each.queue) for each in borders]
    alike = dict(zip(reasons, borders, strict=True))  # few: most of some thousand borders are alike
    clauses = {reason: border_clause(border) for reason, border in alike.items()}
    times = Counter[str]()
    for reason, many in Counter(reasons).items():
        times[repr(clauses[reason])] += many
    commonest = max(times, key=times.__getitem__, default=None)
    return next((clause for clause in clauses.values() if repr(clause) == commonest), None)


def tag(scene: Scene, box: Drawn) -> str:
    """What is said beside the name: a fence, or that preemption is turned off."""
    if box.rest or box.path == scene.tree.root or scene.rules.fences is Fences.NONE:
        return ""
    match scene.tree[box.path].preemption_policy:
        case PreemptionPolicy.FENCE:
            return _("fence on leaf queue") if scene.tree.is_leaf(box.path) else _("fence")
        case PreemptionPolicy.DISABLED:
            return _("disabled")
        case _:
            return ""


def title(box: Drawn) -> str:
    """The name of a box."""
    if not box.rest:
        return box.path.rpartition(".")[2]
    return ngettext("%(n)s more queue", "%(n)s more queues", len(box.leaves)) % {"n": len(box.leaves)}


def count(box: Drawn) -> str:
    """How many queues a folded box holds."""
    return ngettext("%(n)s queue", "%(n)s queues", len(box.leaves)) % {"n": len(box.leaves)}


def state(scene: Scene, box: Drawn) -> list[str]:
    """What a box says of itself: towards the chosen queue and back, each with why; without one, whom it reaches."""
    if not scene.chosen:
        return _on_its_own(scene, box)
    if box.path == scene.chosen and not box.rest:
        return [_("chosen"), _itself(scene)]
    if scene.is_inside(box):
        return [_("inside the chosen queue")]
    around = [scene.around[leaf] for leaf in box.leaves if leaf in scene.around]
    if not around:
        return []
    out, into = [each.out for each in around], [each.into for each in around]
    return [
        _said(out, _("preemptable: %(why)s"), _("not preemptable: %(why)s"), _("preemptable: %(n)s of %(all)s")),
        _said(
            into, _("can preempt it: %(why)s"), _("can’t preempt it: %(why)s"), _("can preempt it: %(n)s of %(all)s")
        ),
    ]


def _open_to_itself(scene: Scene) -> bool:
    return scene.rules.open_to_itself(scene.tree, scene.chosen)


def _itself(scene: Scene) -> str:
    why = text(border_label(scene.border_of(scene.chosen, scene.chosen).reason))
    said = _("can preempt itself: %(why)s") if _open_to_itself(scene) else _("can’t preempt itself: %(why)s")
    return said % {"why": why}


def _said(borders: Sequence[Border], open_: str, shut: str, several: str) -> str:
    reasons = Counter([each.reason for each in borders])
    allowed = sum(many for reason, many in reasons.items() if reason in OPEN)
    if len(reasons) == 1 and allowed in (0, len(borders)):
        return (open_ if allowed else shut) % {"why": text(border_label(next(iter(reasons))))}
    return several % {"n": allowed, "all": len(borders)}


def _on_its_own(scene: Scene, box: Drawn) -> list[str]:
    if len(box.leaves) != 1 or box.folded or not scene.counts_borders:
        return []
    leaf = box.leaves[0]
    reaches = [victim for asker, victim in scene.open_borders if asker == leaf]
    reached = [asker for asker, victim in scene.open_borders if victim == leaf]
    return [
        _counted(scene, reaches, ngettext("can preempt %(n)s queue", "can preempt %(n)s queues", len(reaches))),
        _counted(scene, reached, ngettext("preemptable by %(n)s queue", "preemptable by %(n)s queues", len(reached))),
    ]


def _counted(scene: Scene, leaves: Sequence[str], said: str) -> str:
    """How many leaves, and how many of them the reader may not see."""
    others = sum(leaf not in scene.seen for leaf in leaves)
    counted = said % {"n": len(leaves)}
    return _("%(counted)s (%(n)s of other tenants)") % {"counted": counted, "n": others} if others else counted


def lets_nothing_out(scene: Scene) -> str:
    """What holds of every fence."""
    if scene.rules.fences is Fences.BOTH_WAYS:
        return _("no lending or preemption across")
    return _("no preemption out")


def at_the_fence(scene: Scene, path: str, leaves: Sequence[str]) -> str:
    """What is said at the lower edge of a fenced parent: whom its fence stops and whom it lets in."""
    if scene.rules.fences is Fences.BOTH_WAYS:
        return lets_nothing_out(scene)
    if not scene.chosen:
        return _("preemption out: none; in: others")
    chosen = scene.name(scene.chosen)
    if scene.tree.contains(path, scene.chosen):
        let_in = names(_let_in(scene, path), 2)
        return _("preemption out: none; in: %(queues)s") % {"queues": let_in} if let_in else lets_nothing_out(scene)
    if any(scene.around[leaf].out.allowed for leaf in leaves if leaf in scene.around):
        return _("preemption out: none; in: %(queues)s") % {"queues": chosen}
    return _("no preemption out; does not stop %(queue)s") % {"queue": chosen}


def _let_in(scene: Scene, fence: str) -> list[str]:
    """Whom a fence lets in to the chosen queue: those that the reader may see by name."""
    askers = [asker for asker, each in scene.around.items() if each.into.allowed]
    outside = [scene.name(asker) for asker in askers if not scene.tree.contains(fence, asker)]
    others = any(each.into.allowed and not scene.tree.contains(fence, each.path) for each in scene.unseen)
    return [*outside, _("other tenants’ queues")] if others else outside


def rows(scene: Scene) -> list[Row]:
    """The boxes of the map as rows, both directions, what concerns the chosen queue most first."""
    if not scene.chosen:
        return []
    inside = set(scene.leaves).intersection(scene.tree.walk(scene.chosen))
    went = _Went.between(scene, inside, out=True), _Went.between(scene, inside, out=False)
    found = [_row(scene, box, *went) for box in scene.boxes]
    return sorted(found, key=lambda row: (row.own, -(row.out.open > 0) - (row.into.open > 0)))


@dataclass(frozen=True)
class _Went:
    """Pods that went for the chosen queue, or out of it, by the leaf at the other end; and ends of what is odd."""

    pods: Mapping[str, int]
    odd: Collection[str]

    @classmethod
    def between(cls, scene: Scene, inside: AbstractSet[str], *, out: bool) -> "_Went":
        """What went between leaves of the chosen queue and others. ``out``: for the chosen queue, else out of it."""
        pods, odd = Counter[str](), set[str]()
        own, other = (0, 1) if out else (1, 0)
        for flow in scene.between.flows:
            for asker, victims in flow.victims.items():
                if out and asker in inside:
                    pods.update(victims)
                elif not out:
                    pods[asker] += sum(victims[leaf] for leaf in victims.keys() & inside)
            odd.update(pair[other] for pair in flow.odd_ones if pair[own] in inside)
        return cls(pods, odd)


def _row(scene: Scene, box: Drawn, out: _Went, into: _Went) -> Row:
    own = scene.is_inside(box)
    around = [scene.around[leaf] for leaf in box.leaves if leaf in scene.around]
    itself = [scene.border_of(scene.chosen, scene.chosen)] if own and _open_to_itself(scene) else []
    name = scene.name(box.path)
    return Row(
        box=box,
        name=f"{name}: {title(box)}" if box.rest else name,
        url=scene.choice.opening(box.path) if box.rest else scene.choice.address(queue=box.path),
        own=own,
        out=_side(box, [*itself, *(each.out for each in around)], out),
        into=_side(box, [*itself, *(each.into for each in around)], into),
    )


def _side(box: Drawn, borders: Sequence[Border], went: _Went) -> Side:
    allowed = [each for each in borders if each.reason in OPEN]
    return Side(
        open=len(allowed),
        of=len(borders),
        because=_most_frequent(allowed or borders),
        pods=sum(went.pods.get(leaf, 0) for leaf in box.leaves) if went.pods else 0,
        odd=bool(went.odd) and any(leaf in went.odd for leaf in box.leaves),
    )


def odd(scene: Scene, most: int = 6) -> list[Odd]:
    """What went through shut borders, who decided it, and why the border is shut; of the chosen queue, if any."""
    sources = dict(Decision.Source.choices)

    def is_wanted(pair: Pair) -> bool:
        return not scene.chosen or any(scene.tree.contains(scene.chosen, path) for path in (pair.asker, pair.victim))

    return [
        Odd(
            source=str(sources.get(pair.source, pair.source)),
            asker=scene.name(pair.asker),
            victim=scene.name(pair.victim),
            pods=pods,
            because=border_clause(scene.border_of(pair.asker, pair.victim)),
        )
        for pair, pods in scene.between.odd(most, is_wanted)
    ]
