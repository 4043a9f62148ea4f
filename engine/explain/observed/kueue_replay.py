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


def kueue_replay_lines(replay: WorkloadReplay) -> Iterator[Message]:
    """Yield the replay's answer, how its rules are known, its victims with their reasons, and where the two differ."""
    yield _answer(replay)
    yield Message(KNOWN[replay.known_by])
    for workload in replay.ours[:_NAMED_UP_TO]:
        params = {"workload": Name(workload.key), "queue": Name(workload.queue), "why": workload.why}
        yield Message(GOES_ON if workload.leaving else GOES, params)
    more = len(replay.ours) - _NAMED_UP_TO
    if more > 0:
        yield Message(AND_MORE[0], {"count": more}, plural=AND_MORE[1], count=more)
    if replay.flavors and (replay.ours or replay.mode == "Fit"):
        yield Message(FLAVORS, {"flavors": Name(", ".join(_flavors(replay)))})
    if replay.shares:
        yield Message(SHARES, {"shares": _shares(replay)})
    yield from _differing(replay)


def _answer(replay: WorkloadReplay) -> Message:
    if not replay.ours:
        return Message(NOBODY, {"policy": replay.policy, "mode": replay.mode})
    if replay.only_theirs or replay.only_ours:
        return Message(OTHERS, {"policy": replay.policy})
    return Message(OTHER_REASONS if replay.other_reasons else SAME, {"policy": replay.policy})


def _differing(replay: WorkloadReplay) -> Iterator[Message]:
    if replay.agrees:
        return
    if replay.ours and (only_preempted := replay.only_theirs):
        yield Message(
            ONLY_THEIRS[0], {"workloads": _names(only_preempted)}, plural=ONLY_THEIRS[1], count=len(only_preempted)
        )
    if replay.only_ours:
        yield Message(ONLY_OURS, {"workloads": _names(replay.only_ours)})
    yield Message(WHY_NOT_KNOWN)


def _shares(weighed: WorkloadReplay) -> Name:
    return Name(", ".join(f"{name} {readable(text)}" for name, text in weighed.shares.items()))


def _flavors(replay: WorkloadReplay) -> Iterable[str]:
    """Yield the flavor of each resource, by pod set if there are several."""
    for name, granted in replay.flavors.items():
        flavors = " ".join(f"{resource}={flavor}" for resource, flavor in granted.items())
        yield f"{name}: {flavors}" if len(replay.flavors) > 1 else flavors


def _names(workloads: Sequence[PreemptedWorkload]) -> Name:
    shown = [workload.key for workload in workloads[:_NAMED_UP_TO]]
    return Name(", ".join([*shown, "…"] if len(workloads) > len(shown) else shown))
