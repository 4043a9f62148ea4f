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
    "Decided again by the policy “priority”, on the cluster as it was just before, the answer is the same: this node "
    "and these victims."
)
OTHER_VICTIMS = gettext_noop(
    "Decided again by the policy “priority”, on the cluster as it was just before, the answer is the same node, but "
    "other victims."
)
OTHER_NODE = ngettext_noop(
    "Decided again by the policy “priority”, on the cluster as it was just before, the answer is another node: "
    "%(node)s, with %(count)s victim.",
    "Decided again by the policy “priority”, on the cluster as it was just before, the answer is another node: "
    "%(node)s, with %(count)s victims.",
)
NO_PREEMPTION = gettext_noop(
    "Decided again by the policy “priority”, on the cluster as it was just before, nothing is preempted."
)
ANSWERS: dict[EvictionSource, dict[Agreement, str]] = {
    EvictionSource.KUBE_SCHEDULER: {
        Agreement.SAME: SAME,
        Agreement.OTHER_VICTIMS: OTHER_VICTIMS,
        Agreement.NO_PREEMPTION: NO_PREEMPTION,
    },
    EvictionSource.YUNIKORN: {
        Agreement.SAME: gettext_noop(
            "Decided again by YuniKorn’s own rules, on the cluster as it was just before, the answer is the same: "
            "these victims."
        ),
        Agreement.OTHER_VICTIMS: gettext_noop(
            "Decided again by YuniKorn’s own rules, on the cluster as it was just before, the answer is other victims."
        ),
        Agreement.NO_PREEMPTION: gettext_noop(
            "Decided again by YuniKorn’s own rules, on the cluster as it was just before, nothing is preempted."
        ),
    },
    EvictionSource.VOLCANO: {
        Agreement.SAME: gettext_noop(
            "Decided again by Volcano’s own rules, on the cluster as it was just before, the answer is the same: "
            "these victims."
        ),
        Agreement.OTHER_VICTIMS: gettext_noop(
            "Decided again by Volcano’s own rules, on the cluster as it was just before, the answer is other victims."
        ),
        Agreement.NO_PREEMPTION: gettext_noop(
            "Decided again by Volcano’s own rules, on the cluster as it was just before, nothing is reclaimed."
        ),
    },
}
ELSEWHERE: dict[EvictionSource, tuple[str, str]] = {
    EvictionSource.KUBE_SCHEDULER: OTHER_NODE,
    EvictionSource.YUNIKORN: ngettext_noop(
        "Decided again by YuniKorn’s own rules, on the cluster as it was just before, the answer is another node: "
        "%(node)s, with %(count)s victim.",
        "Decided again by YuniKorn’s own rules, on the cluster as it was just before, the answer is another node: "
        "%(node)s, with %(count)s victims.",
    ),
    EvictionSource.VOLCANO: ngettext_noop(
        "Decided again by Volcano’s own rules, on the cluster as it was just before, the answer is another node: "
        "%(node)s, with %(count)s victim.",
        "Decided again by Volcano’s own rules, on the cluster as it was just before, the answer is another node: "
        "%(node)s, with %(count)s victims.",
    ),
}
FOR_WHOM = gettext_noop("By its rules that makes room for %(pods)s, of the queue %(queue)s, below what it deserves.")
NOT_OVER_MAX = gettext_noop("By the tree here no max that is to be enforced was exceeded in %(queue)s.")
ONLY_THEIRS = ngettext_noop(
    "Ours would have left %(pods)s where it was.", "Ours would have left %(pods)s where they were."
)
ONLY_OURS = gettext_noop("Ours would have taken %(pods)s.")
CAUSES: dict[Cause, str] = {
    Cause.TIE: gettext_noop("Both are worth the same to kube-scheduler, and then it takes any."),
    Cause.SAMPLE: gettext_noop(
        "Unless it is told otherwise, kube-scheduler looks at a tenth of the nodes only, and at no fewer than 100, "
        "from a random one on: of %(nodes)s nodes it need not have come across ours."
    ),
    Cause.MOMENT: gettext_noop(
        "Why is not known. It may have seen the cluster a moment earlier or later, or know what is not modelled here: "
        "extenders, claims of devices, limits on volumes, another profile."
    ),
}
CAUSES_OF_YUNIKORN: dict[Cause, str] = {
    Cause.TIE: gettext_noop(
        "Both are worth the same to YuniKorn, whose answer is then a matter of chance: it differs from run to run."
    ),
    Cause.MOMENT: gettext_noop(
        "Why is not known. It may have seen the cluster a moment earlier or later, run by another tree than the one "
        "that is assigned here, or know what is not told: nodes that it keeps for others, users’ and groups’ limits."
    ),
}
CAUSES_OF_VOLCANO: dict[Cause, str] = {
    Cause.TIE: gettext_noop(
        "In which order Volcano looks at nodes, and at the pods of one, is chance: its answer differs from run to run."
    ),
    Cause.MOMENT: gettext_noop(
        "Why is not known. It may have seen the cluster a moment earlier or later, or be set to plugins that are not "
        "modelled here."
    ),
}
_CAUSES = {EvictionSource.YUNIKORN: CAUSES_OF_YUNIKORN, EvictionSource.VOLCANO: CAUSES_OF_VOLCANO}
NOT_REPLAYED: dict[NotReplayedReason, str] = {
    NotReplayedReason.NO_ASK: gettext_noop(
        "It was not decided again: for which pod it was is not known, or no more of that than the name."
    ),
    NotReplayedReason.GROUP: gettext_noop(
        "It was not decided again: it was for a group of pods, and the policy “priority” decides for one at a time."
    ),
    NotReplayedReason.NOT_SEEN: gettext_noop(
        "It was not decided again: how the cluster was just before was not seen, or was no longer known."
    ),
    NotReplayedReason.OTHER_RULES: gettext_noop(
        "It was not decided again: the rules that it was decided by are not built in here."
    ),
    NotReplayedReason.TOO_MANY: gettext_noop(
        "It was not decided again: there were so many preemptions at once that it would have taken too long."
    ),
}
QUIRKS_UNKNOWN = gettext_noop(
    "Which of them changed this was not worked out: where there are so many pods it would take too long."
)
OF_A_MAX = gettext_noop(
    "What would have spared it is not worked out: nobody asked for its room, the max of a queue was enforced."
)
OTHER_ANSWER = gettext_noop(
    "What would have spared it can’t be told: decided again by its scheduler’s own rules, on the cluster as it was "
    "just before, the answer is another."
)
NOBODY_NAMED = gettext_noop(
    "What would have spared it is not worked out: for whom it went, Volcano does not tell, and its rules only suppose."
)
NOT_KEPT = gettext_noop(
    "What would have spared it can’t be worked out: how the cluster was just before is not kept, or no longer."
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
    return Message(ANSWERS[source][comparison.agreement])


def _names(pods: Sequence[PodFacts]) -> Name:
    shown = [pod.key for pod in pods[:_NAMED_UP_TO]]
    return Name(", ".join([*shown, "…"] if len(pods) > len(shown) else shown))
