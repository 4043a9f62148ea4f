"""Compares a scheduler's preemptions with the answer of its own rules for the same preemptor, in words."""

from collections.abc import Sequence

from engine.explain.decision.quirks import quirk_messages
from engine.explain.decision.reasons import SCHEDULER_SAYS, reason
from engine.explain.observed.kueue_replay import NOT_SPARED, kueue_replay_lines
from engine.model.decision import Decision, PodFacts
from engine.model.message import Message, Name, Param, gettext_noop, ngettext_noop, plural_message, short_name
from engine.observation.evictions import (
    Agreement,
    Cause,
    Compared,
    DecisionReplay,
    EvictionSource,
    NotReplayedReason,
    Observed,
    WorkloadReplay,
    agrees,
    compare_with_replay,
)

SAME = gettext_noop(
    "A replay with the policy “priority” on the cluster just before the preemption gives the same result: "
    "the same node and victims."
)
OTHER_VICTIMS = gettext_noop(
    "A replay with the policy “priority” on the cluster just before the preemption gives the same node, "
    "but other victims."
)
OTHER_NODE = ngettext_noop(
    "A replay with the policy “priority” on the cluster just before the preemption gives another node: "
    "%(node)s, with %(count)s victim.",
    "A replay with the policy “priority” on the cluster just before the preemption gives another node: "
    "%(node)s, with %(count)s victims.",
)
NO_PREEMPTION = gettext_noop(
    "A replay with the policy “priority” on the cluster just before the preemption preempts nothing."
)
FOR_GROUPS: dict[Agreement, str] = {
    Agreement.SAME: gettext_noop(
        "A replay with the policy “priority” on the cluster just before the preemption gives the same result for the "
        "group: the same victims."
    ),
    Agreement.OTHER_VICTIMS: gettext_noop(
        "A replay with the policy “priority” on the cluster just before the preemption gives other victims for the "
        "group."
    ),
}
"""For a group, which gets several nodes."""
ANSWERS: dict[EvictionSource, dict[Agreement, str]] = {
    EvictionSource.KUBE_SCHEDULER: {
        Agreement.SAME: SAME,
        Agreement.OTHER_VICTIMS: OTHER_VICTIMS,
        Agreement.NO_PREEMPTION: NO_PREEMPTION,
    },
    EvictionSource.YUNIKORN: {
        Agreement.SAME: gettext_noop(
            "A replay with YuniKorn’s own rules on the cluster just before the preemption gives the same "
            "result: the same victims."
        ),
        Agreement.OTHER_VICTIMS: gettext_noop(
            "A replay with YuniKorn’s own rules on the cluster just before the preemption gives other victims."
        ),
        Agreement.NO_PREEMPTION: gettext_noop(
            "A replay with YuniKorn’s own rules on the cluster just before the preemption preempts nothing."
        ),
    },
    EvictionSource.VOLCANO: {
        Agreement.SAME: gettext_noop(
            "A replay with Volcano’s own rules on the cluster just before the preemption gives the same "
            "result: the same victims."
        ),
        Agreement.OTHER_VICTIMS: gettext_noop(
            "A replay with Volcano’s own rules on the cluster just before the preemption gives other victims."
        ),
        Agreement.NO_PREEMPTION: gettext_noop(
            "A replay with Volcano’s own rules on the cluster just before the preemption reclaims nothing."
        ),
    },
}
ELSEWHERE: dict[EvictionSource, tuple[str, str]] = {
    EvictionSource.KUBE_SCHEDULER: OTHER_NODE,
    EvictionSource.YUNIKORN: ngettext_noop(
        "A replay with YuniKorn’s own rules on the cluster just before the preemption gives another node: "
        "%(node)s, with %(count)s victim.",
        "A replay with YuniKorn’s own rules on the cluster just before the preemption gives another node: "
        "%(node)s, with %(count)s victims.",
    ),
    EvictionSource.VOLCANO: ngettext_noop(
        "A replay with Volcano’s own rules on the cluster just before the preemption gives another node: "
        "%(node)s, with %(count)s victim.",
        "A replay with Volcano’s own rules on the cluster just before the preemption gives another node: "
        "%(node)s, with %(count)s victims.",
    ),
}
FOR_WHOM = gettext_noop(
    "By its rules, this makes room for %(pods)s of the queue %(queue)s, which is below its deserved share."
)
NOT_OVER_MAX = gettext_noop("In the tree here, no enforced max of %(queue)s was exceeded.")
ONLY_THEIRS = ngettext_noop("The replay would have spared %(pods)s.", "The replay would have spared %(pods)s.")
ONLY_OURS = gettext_noop("The replay would have preempted %(pods)s.")
CAUSES: dict[Cause, str] = {
    Cause.TIE: gettext_noop("kube-scheduler values both the same and picks either."),
    Cause.SAMPLE: gettext_noop(
        "By default, kube-scheduler checks only a tenth of the nodes (at least 100), starting at a random "
        "one. Among %(nodes)s nodes, it may not have checked the one that the replay found."
    ),
    Cause.MOMENT: gettext_noop(
        "The reason is unknown. kube-scheduler’s snapshot may be slightly older or newer, or it uses what "
        "is not modeled here: extenders, device claims, volume limits, or another profile."
    ),
}
CAUSES_OF_YUNIKORN: dict[Cause, str] = {
    Cause.TIE: gettext_noop("YuniKorn values both the same, so its result is random and differs from run to run."),
    Cause.MOMENT: gettext_noop(
        "The reason is unknown. YuniKorn’s snapshot may be slightly older or newer, or it runs with "
        "another tree than the one assigned here. It may also use what it does not publish: reserved "
        "nodes, or limits of users and groups."
    ),
}
CAUSES_OF_VOLCANO: dict[Cause, str] = {
    Cause.TIE: gettext_noop(
        "Volcano checks nodes and their pods in random order, so its result differs from run to run."
    ),
    Cause.MOMENT: gettext_noop(
        "The reason is unknown. Volcano’s snapshot may be slightly older or newer, or it may use plugins "
        "that are not modeled here."
    ),
}
_CAUSES = {EvictionSource.YUNIKORN: CAUSES_OF_YUNIKORN, EvictionSource.VOLCANO: CAUSES_OF_VOLCANO}
NOT_REPLAYED: dict[NotReplayedReason, str] = {
    NotReplayedReason.NO_ASK: gettext_noop("Not replayed: the preemptor is unknown, or only its name is known."),
    NotReplayedReason.GROUP: gettext_noop(
        "Not replayed: the preemption was for a group of groups of pods, which no policy here decides."
    ),
    NotReplayedReason.RESIZE: gettext_noop(
        "Not replayed: the preemption was for the resize of a running pod, which no policy here decides."
    ),
    NotReplayedReason.NOT_SEEN: gettext_noop(
        "Not replayed: the state of the cluster just before was not observed or is no longer known."
    ),
    NotReplayedReason.OTHER_RULES: gettext_noop("Not replayed: the rules behind this decision are not built in."),
    NotReplayedReason.TOO_MANY: gettext_noop(
        "Not replayed: there were so many preemptions at once that it would have taken too long."
    ),
}
QUIRKS_UNKNOWN = gettext_noop(
    "Which of them changed the result is not calculated: with this many pods it would take too long."
)
OF_A_MAX = gettext_noop(
    "What would have spared it is not calculated: no pod was waiting for its room, but the max of a queue was enforced."
)
OTHER_ANSWER = gettext_noop(
    "What would have spared it is unknown: a replay with its scheduler’s own rules on the cluster just "
    "before gives another result."
)
NOBODY_NAMED = gettext_noop(
    "What would have spared it is not calculated: Volcano does not report for whom it was reclaimed, and "
    "its rules only allow a guess."
)
NOT_KEPT = gettext_noop(
    "What would have spared it can’t be calculated: the state of the cluster just before is no longer stored."
)
_NAMED_UP_TO = 5


def replay_lines(observed: Observed) -> tuple[Message, ...]:
    """Return the scheduler's own message, its rules' answer, and where the two differ, with the cause if it is known.

    Nothing for evictions by other components than schedulers.
    """
    if observed.weighed is not None:
        return tuple(kueue_replay_lines(observed.weighed))
    comparison = compare_with_replay(observed)
    if observed.hindsight is None or comparison is None:
        return (Message(NOT_REPLAYED[observed.untold]),) if observed.untold else ()
    scheduler_message = (
        [Message(SCHEDULER_SAYS, {"message": observed.hindsight.said})] if observed.hindsight.said else []
    )
    return (*scheduler_message, *_differing(comparison, observed, observed.hindsight))


def no_counterfactuals_reason(observed: Observed, *, is_stored: bool) -> tuple[Message, ...]:
    """Return why no change that would have spared a scheduler's victim is shown; nothing where one can be computed.

    ``is_stored``: whether the cluster as it was just before is still stored.
    """
    if observed.over_max:
        return (Message(OF_A_MAX),)
    if observed.weighed is not None:
        return _unspared_by_quota(observed.weighed)
    if observed.hindsight is None:
        return (Message(NOT_REPLAYED[observed.untold]),) if observed.untold else ()
    if observed.source is EvictionSource.VOLCANO:
        return (Message(NOBODY_NAMED),)
    if not agrees(observed):
        return (Message(OTHER_ANSWER),)
    return () if is_stored else (Message(NOT_KEPT),)


def _unspared_by_quota(weighed: WorkloadReplay) -> tuple[Message, ...]:
    if not weighed.agrees:
        return (Message(OTHER_ANSWER),)
    return (Message(NOT_SPARED),) if weighed.spared is None else ()


def quirk_effects(observed: Observed) -> tuple[tuple[Message, ...], ...]:
    """Return where YuniKorn's departures from its own design changed its answer, each in one or more sentences."""
    replay = observed.hindsight
    if replay is None or observed.source is not EvictionSource.YUNIKORN:
        return ()
    if replay.quirks is None:
        return ((Message(QUIRKS_UNKNOWN),),)
    return tuple(quirk_messages(effect, replay.decision) for effect in replay.quirks)


def _differing(comparison: Compared, observed: Observed, replay: DecisionReplay) -> list[Message]:
    source, lines = observed.source, [_answer(comparison, observed.source, replay)]
    if comparison.agreement is Agreement.NO_PREEMPTION and observed.over_max:
        lines.append(Message(NOT_OVER_MAX, {"queue": short_name(observed.over_max)}))
    elif source is EvictionSource.VOLCANO and replay.decision.evicts:
        lines.append(_preemptors(replay.decision))
    elif comparison.agreement is Agreement.NO_PREEMPTION and source is not EvictionSource.VOLCANO:
        lines.append(reason(replay.decision))
    if comparison.agreement is Agreement.OTHER_VICTIMS and comparison.only_theirs:
        count, pods = len(comparison.only_theirs), _names(comparison.only_theirs)
        lines.append(Message(ONLY_THEIRS[0], {"pods": pods}, plural=ONLY_THEIRS[1], count=count))
    if comparison.agreement in (Agreement.OTHER_VICTIMS, Agreement.OTHER_NODE) and comparison.only_ours:
        lines.append(Message(ONLY_OURS, {"pods": _names(comparison.only_ours)}))
    if comparison.cause is not None:
        template = _CAUSES.get(source, CAUSES)[comparison.cause]
        params: dict[str, Param] = {"nodes": str(replay.nodes)} if "%(nodes)s" in template else {}
        lines.append(Message(template, params))
    return lines


def _preemptors(decision: Decision) -> Message:
    """Return the preemptors by Volcano's rules, which Volcano itself does not report."""
    pods = _names((decision.ask, *decision.together))
    return Message(FOR_WHOM, {"pods": pods, "queue": Name(decision.detail)})


def _answer(comparison: Compared, source: EvictionSource, replay: DecisionReplay) -> Message:
    if comparison.agreement is Agreement.OTHER_NODE:
        decision = replay.decision
        return plural_message(ELSEWHERE[source], len(decision.to_evict), node=Name(decision.node or ""))
    if replay.decision.group and comparison.agreement in FOR_GROUPS:
        return Message(FOR_GROUPS[comparison.agreement])
    return Message(ANSWERS[source][comparison.agreement])


def _names(pods: Sequence[PodFacts]) -> Name:
    shown = [pod.key for pod in pods[:_NAMED_UP_TO]]
    return Name(", ".join([*shown, "…"] if len(pods) > len(shown) else shown))
