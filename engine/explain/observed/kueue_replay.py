"""Compares Kueue's preemptions with the answer of its own rules, in words; names Workloads of every tenant."""

from collections.abc import Iterable, Iterator, Sequence

from engine.explain.decision.shares import readable
from engine.model.message import Message, Name, gettext_noop, ngettext_noop
from engine.observation.evictions import KnownBy, PreemptedWorkload, WorkloadReplay

SAME = gettext_noop(
    "Decided again by the policy “%(policy)s”, on Kueue’s quota as it was just before, the answer is the same: these "
    "workloads, for these reasons."
)
OTHER_REASONS = gettext_noop(
    "Decided again by the policy “%(policy)s”, on Kueue’s quota as it was just before, the answer is the same "
    "workloads, but for other reasons."
)
OTHERS = gettext_noop(
    "Decided again by the policy “%(policy)s”, on Kueue’s quota as it was just before, the answer is other workloads."
)
NOBODY = gettext_noop(
    "Decided again by the policy “%(policy)s”, on Kueue’s quota as it was just before, nobody is preempted: %(mode)s, "
    "as Kueue calls it."
)
KNOWN: dict[KnownBy, str] = {
    KnownBy.CONFIG: gettext_noop("Kueue’s own ConfigMap says that it preempts in this way."),
    KnownBy.REASONS: gettext_noop(
        "That Kueue preempts in this way is told by its reasons: its ConfigMap was not there to be read."
    ),
    KnownBy.ASSUMED: gettext_noop(
        "Whether Kueue shares fairly is not known, as its ConfigMap was not there to be read: the classic way is taken "
        "for it."
    ),
}
ONLY_THEIRS = ngettext_noop(
    "Ours would have left %(workloads)s where it was.", "Ours would have left %(workloads)s where they were."
)
ONLY_OURS = gettext_noop("Ours would have taken %(workloads)s.")
GOES = gettext_noop("Ours takes %(workload)s of the ClusterQueue %(queue)s (Kueue: %(why)s).")
GOES_ON = gettext_noop(
    "Ours takes %(workload)s of the ClusterQueue %(queue)s, which was on its way out already (Kueue: %(why)s)."
)
AND_MORE = ngettext_noop("And %(count)s more.", "And %(count)s more.")
FLAVORS = gettext_noop("The workload would get: %(flavors)s.")
SHARES = gettext_noop("Shares before anybody went: %(shares)s.")
WHY_NOT_KNOWN = gettext_noop(
    "Why is not known. It may have seen its quota a moment earlier or later, or know what is not modelled here: "
    "topologies, admission checks, what LocalQueues used before, settings that are off unless turned on."
)
NOT_SPARED = gettext_noop("What would have spared it is not worked out: there were too many workloads to go through.")
_NAMED_UP_TO = 5


def kueue_replay_lines(weighed: WorkloadReplay) -> Iterator[Message]:
    """Yield the replay's answer, how its rules are known, its victims with their reasons, and where the two differ."""
    yield _answer(weighed)
    yield Message(KNOWN[weighed.known_by])
    for one in weighed.ours[:_NAMED_UP_TO]:
        of = {"workload": Name(one.key), "queue": Name(one.queue), "why": one.why}
        yield Message(GOES_ON if one.leaving else GOES, of)
    more = len(weighed.ours) - _NAMED_UP_TO
    if more > 0:
        yield Message(AND_MORE[0], {"count": more}, plural=AND_MORE[1], count=more)
    if weighed.flavors and (weighed.ours or weighed.mode == "Fit"):
        yield Message(FLAVORS, {"flavors": Name(", ".join(_flavors(weighed)))})
    if weighed.shares:
        yield Message(SHARES, {"shares": _shares(weighed)})
    yield from _differing(weighed)


def _answer(weighed: WorkloadReplay) -> Message:
    if not weighed.ours:
        return Message(NOBODY, {"policy": weighed.policy, "mode": weighed.mode})
    if weighed.only_theirs or weighed.only_ours:
        return Message(OTHERS, {"policy": weighed.policy})
    return Message(OTHER_REASONS if weighed.other_reasons else SAME, {"policy": weighed.policy})


def _differing(weighed: WorkloadReplay) -> Iterator[Message]:
    if weighed.agrees:
        return
    if weighed.ours and (left := weighed.only_theirs):
        yield Message(ONLY_THEIRS[0], {"workloads": _names(left)}, plural=ONLY_THEIRS[1], count=len(left))
    if weighed.only_ours:
        yield Message(ONLY_OURS, {"workloads": _names(weighed.only_ours)})
    yield Message(WHY_NOT_KNOWN)


def _shares(weighed: WorkloadReplay) -> Name:
    return Name(", ".join(f"{name} {readable(text)}" for name, text in weighed.shares.items()))


def _flavors(weighed: WorkloadReplay) -> Iterable[str]:
    """Yield the flavor of each resource, by pod set if there are several."""
    for name, granted in weighed.flavors.items():
        told = " ".join(f"{resource}={flavor}" for resource, flavor in granted.items())
        yield f"{name}: {told}" if len(weighed.flavors) > 1 else told


def _names(gone: Sequence[PreemptedWorkload]) -> Name:
    shown = [one.key for one in gone[:_NAMED_UP_TO]]
    return Name(", ".join([*shown, "…"] if len(gone) > len(shown) else shown))
