"""Compares Kueue's preemptions with the answer of its own rules, in words; names Workloads of every tenant."""

from collections.abc import Iterable, Iterator, Sequence

from engine.explain.decision.shares import readable
from engine.model.message import Message, Name, gettext_noop, ngettext_noop
from engine.observation.evictions import KnownBy, PreemptedWorkload, WorkloadReplay

SAME = gettext_noop(
    "A replay with the policy “%(policy)s” on Kueue’s quota just before the preemption gives the same "
    "result: the same workloads for the same reasons."
)
OTHER_REASONS = gettext_noop(
    "A replay with the policy “%(policy)s” on Kueue’s quota just before the preemption gives the same "
    "workloads, but for other reasons."
)
OTHERS = gettext_noop(
    "A replay with the policy “%(policy)s” on Kueue’s quota just before the preemption gives other workloads."
)
NOBODY = gettext_noop(
    "A replay with the policy “%(policy)s” on Kueue’s quota just before the preemption preempts nothing "
    "(Kueue’s mode %(mode)s)."
)
KNOWN: dict[KnownBy, str] = {
    KnownBy.CONFIG: gettext_noop("Kueue’s ConfigMap sets this way of preempting."),
    KnownBy.REASONS: gettext_noop(
        "This way of preempting is inferred from Kueue’s reasons, because its ConfigMap could not be read."
    ),
    KnownBy.ASSUMED: gettext_noop(
        "Kueue’s ConfigMap could not be read, so it is unknown whether fair sharing is on. Classic "
        "preemption is assumed."
    ),
}
ONLY_THEIRS = ngettext_noop(
    "The replay would have spared %(workloads)s.", "The replay would have spared %(workloads)s."
)
ONLY_OURS = gettext_noop("The replay would have preempted %(workloads)s.")
GOES = gettext_noop("The replay preempts %(workload)s of the ClusterQueue %(queue)s (Kueue: %(why)s).")
GOES_ON = gettext_noop(
    "The replay preempts %(workload)s of the ClusterQueue %(queue)s, which was already terminating (Kueue: %(why)s)."
)
AND_MORE = ngettext_noop("And %(count)s more.", "And %(count)s more.")
FLAVORS = gettext_noop("The workload would get: %(flavors)s.")
SHARES = gettext_noop("Shares before the preemption: %(shares)s.")
WHY_NOT_KNOWN = gettext_noop(
    "The reason is unknown. Kueue’s snapshot may be slightly older or newer, or it uses what is not "
    "modeled here: topologies, admission checks, past usage of LocalQueues, or settings that are off by "
    "default."
)
NOT_SPARED = gettext_noop("What would have spared it is not calculated: there are too many workloads.")
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
