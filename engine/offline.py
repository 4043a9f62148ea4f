"""Cases decided without a cluster: nodes, pods, queues and an asker in one JSON document."""

from datetime import datetime
from typing import Any

import msgspec

from engine.decision import Decision, Outcome, PodReason, Reason, encode
from engine.formats.kubernetes import cluster_state
from engine.formats.kueue.cluster import quota_cluster
from engine.formats.volcano.cluster import volcano_cluster
from engine.formats.yunikorn import Partition, read
from engine.optimal import known, optimal
from engine.policies import DIALECTS, UnknownPolicyError, cohort, deserved, policy, priority, volcano, yunikorn
from engine.queues import BARE, QueueTree
from engine.quota import QuotaCluster, Workload
from engine.resources import format_amounts
from engine.snapshot import ClusterState, Namespace, Pod, Snapshot


class CaseError(ValueError):
    """A case that can't be decided. ``str()`` of it is a sentence."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A case as recorded; fields that no policy reads are passed over."""

    name: str
    policy: str
    dialect: str = ""
    now: str
    objects: list[dict[str, Any]]
    queues: dict[str, Any] | None = None
    asker: str | list[str] | None = None
    fair_sharing: dict[str, Any] | None = None
    """How Kueue shares; without it classically."""
    queue: list[str] | None = None
    """The pods (``namespace/name``) in the scheduler's queue; the asker alone where the case does not say."""


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy needs for one decision."""

    snapshot: Snapshot
    tree: QueueTree
    ask: Pod
    unread: tuple[str, ...] = ()
    """Why objects of the case could not be read."""


_decoder = msgspec.json.Decoder(Case)


def read_case(line: bytes) -> Case:
    """A case given as JSON. Raises msgspec.DecodeError, a ValueError."""
    return _decoder.decode(line)


def name_of(line: bytes) -> str:
    """The name of a case as far as it can be read, for saying which one failed."""
    try:
        return str(msgspec.json.decode(line).get("name", ""))
    except (msgspec.DecodeError, AttributeError, UnicodeDecodeError, RecursionError):
        return ""


def answer(line: bytes, *, dialect: str | None = None, trace: bool = False, least: bool = False) -> dict[str, Any]:
    """Decide one case, given as JSON, in the form of an answer; ``dialect`` overrides the case's own.

    ``least``: with the least victims that there are beside the policy's own.

    Raises ValueError (CaseError, a decoder's error, an import's) with a sentence when it can't be read or decided.
    """
    case = read_case(line)
    if case.policy in {cohort.POLICY, cohort.FAIR_SHARE}:
        return _of_workload(case)
    if (case.policy, dialect or case.dialect) == (deserved.POLICY, volcano.DIALECT):
        return _of_queues(case)
    dialect = dialect or case.dialect or DIALECTS.get(case.policy, ("",))[0]
    theirs = dialect == yunikorn.DIALECT
    partition = read(case.queues).partition if theirs and case.queues is not None else Partition()
    parameters = yunikorn.Parameters(preemption=partition.preemption)
    try:
        decide = policy(case.policy, dialect, msgspec.to_builtins(parameters) if theirs else {})
    except UnknownPolicyError as error:
        raise CaseError(str(error)) from error
    if least and not known(case.policy, dialect):
        raise CaseError(f"the least victims are not worked out for policy {case.policy}, dialect {dialect}")
    if case.asker is None and theirs:
        return _enforced(case, enforced=partition.preemption and partition.quota_preemption, trace=trace)
    at = situation(case)
    decision = decide(at.snapshot, at.tree, at.ask)
    form = _form(case, at, decision, trace=trace)
    if at.unread:
        form["unread"] = list(at.unread)
    if trace and theirs:
        effects = yunikorn.effects(at.snapshot, at.tree, at.ask, decision, parameters)
        form["trace"]["quirks"] = msgspec.to_builtins(effects)
    return form | {"optimal": msgspec.to_builtins(optimal(at.snapshot, at.tree, at.ask, decision))} if least else form


def _enforced(case: Case, *, enforced: bool, trace: bool) -> dict[str, Any]:
    """Without an asker: who goes because a queue's max was lowered."""
    state, tree, _ = _cluster(case)
    snapshot = state.snapshot(tree, now_ms=_milliseconds(case.now))
    found = yunikorn.enforce(snapshot, snapshot.tree) if enforced else ()
    victims = [pod.key for one in found for pod in one.victims]
    form = {
        "name": case.name,
        "policy": case.policy,
        "dialect": yunikorn.DIALECT,
        "outcome": Outcome.PREEMPT if victims else Outcome.NO_CANDIDATE,
        "reason": Reason.LOWERED_MAX,
        "node": None,
        "victims": [{"name": name, "reason": Reason.LOWERED_MAX} for name in victims],
        "figures": {"queues": yunikorn.reckoning(snapshot, snapshot.tree, None)},
    }
    effects = yunikorn.quota_effects(snapshot, snapshot.tree) if enforced and trace else ()
    return form | {"trace": {"quirks": msgspec.to_builtins(effects)}} if trace else form


def situation(case: Case) -> Situation:
    """The case's snapshot, with nothing protected, its tree, and its asker.

    An asker that no scheduler has tried yet counts as tried when it was created. Raises ValueError.
    """
    state, tree, unread = _cluster(case)
    asker = _the_one(case.asker)
    pod = next((pod for pod in state.pods.values() if pod.key == asker), None)
    if pod is None:
        raise CaseError("; ".join([f"asker {asker} is not among the objects", *unread]))
    if pod.unschedulable_ms is None:
        state.pods[pod.uid] = msgspec.structs.replace(pod, unschedulable_ms=pod.created_ms)
    frozen = state.snapshot(tree, now_ms=_milliseconds(case.now))
    queue = {asker, *(case.queue or ())}
    queued = frozenset(one.uid for one in state.pods.values() if one.key in queue)
    snapshot = msgspec.structs.replace(frozen, queued=queued)
    ask = next((placed for placed in snapshot.asks if placed.uid == pod.uid), None)
    if ask is None:
        raise CaseError(f"asker {asker} is not pending")
    return Situation(snapshot=snapshot, tree=snapshot.tree, ask=ask, unread=unread)


def _cluster(case: Case) -> tuple[ClusterState, QueueTree, tuple[str, ...]]:
    """The state, the tree, and why objects could not be read."""
    if case.queues is None and case.policy != priority.POLICY:
        raise CaseError("the case has no queues")
    tree = BARE if case.queues is None else read(case.queues).tree
    state, _, unread = cluster_state(case.objects)
    add_namespaces(state)
    return state, tree, unread


def add_namespaces(state: ClusterState) -> None:
    """What is given holds the whole cluster: of a namespace that it does not tell of there are no labels to know."""
    for name in {pod.namespace for pod in state.pods.values()}.difference(state.namespaces):
        state.namespaces[name] = Namespace(name=name)


def _the_one(asker: str | list[str] | None) -> str:
    if asker is None:
        raise CaseError("the case has no asker")
    if isinstance(asker, str):
        return asker
    if len(asker) != 1:
        raise CaseError(f"the case has {len(asker)} askers, one can be decided")
    return asker[0]


def _milliseconds(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise CaseError(f"now is {text}, which is not a time") from error
    if moment.tzinfo is None:
        raise CaseError(f"now is {text}, without a time zone")
    return round(moment.timestamp() * 1000)


def _figures(at: Situation, decision: Decision) -> dict[str, Any]:
    """Queues before and after, amounts as people type them; or under ``priority`` what every node would give."""
    if decision.policy == priority.POLICY:
        return priority.figures(at.snapshot, at.ask, decision.outcome)
    if decision.dialect == yunikorn.DIALECT:
        return {"queues": yunikorn.reckoning(at.snapshot, at.tree, at.ask.queue)}
    queues = {
        queue.path: {
            "before": format_amounts(queue.before),
            "after": format_amounts(queue.after),
            "guaranteed": format_amounts(queue.guaranteed),
            "max": format_amounts(queue.max),
        }
        for queue in decision.trace.queues
    }
    return {"queues": queues}


def _form(case: Case, at: Situation, decision: Decision, *, trace: bool) -> dict[str, Any]:
    """A decision in the form of an answer."""
    form: dict[str, Any] = {
        "name": case.name,
        "policy": decision.policy,
        "dialect": decision.dialect,
        "outcome": decision.outcome,
        "reason": decision.reason,
        "node": decision.node,
        "victims": [{"name": victim.pod.key, "reason": victim.reason} for victim in decision.victims],
        "figures": _figures(at, decision),
    }
    return form | {"trace": msgspec.json.decode(encode(decision))["trace"]} if trace else form


def quota_situation(case: Case) -> tuple[QuotaCluster, Workload, tuple[cohort.Strategy, ...] | None]:
    """A case of Kueue's policies: the cluster, the workload that waits, and how it shares; None: classically."""
    cluster = quota_cluster(case.objects, now_ms=_milliseconds(case.now))
    asker = _the_one(case.asker)
    ask = next((one for one in cluster.workloads if one.key == asker), None)
    if ask is None:
        raise CaseError(f"asker {asker} is no Workload of the case")
    if ask.queue not in cluster.queues:
        raise CaseError(f"asker {asker} is in no ClusterQueue")
    fair = case.fair_sharing
    if fair is None:
        return cluster, ask, None
    return cluster, ask, tuple(map(cohort.Strategy, fair.get("preemptionStrategies") or cohort.STRATEGIES))


def _of_workload(case: Case) -> dict[str, Any]:
    """Under Kueue's policies: which flavors a workload gets, and which others go."""
    cluster, ask, strategies = quota_situation(case)
    if why := cohort.inadmissible(cluster, ask):
        return {
            "name": case.name,
            "policy": case.policy,
            "dialect": "",
            "outcome": Outcome.NOT_ELIGIBLE,
            "reason": why,
            "node": None,
            "victims": [],
            "figures": {},
        }
    verdict = cohort.decide(cluster, ask, strategies)
    victims = [{"name": one.workload.key, "reason": one.why} for one in verdict.search.targets]
    fits = verdict.mode is cohort.Mode.FIT
    return {
        "name": case.name,
        "policy": case.policy,
        "dialect": "",
        "outcome": Outcome.FITS if fits else Outcome.PREEMPT if victims else Outcome.NO_CANDIDATE,
        "reason": verdict.mode,
        "node": None,
        "victims": victims,
        "figures": cohort.figures(cluster, verdict, fair=strategies is not None),
    }


def _of_queues(case: Case) -> dict[str, Any]:
    """Under Volcano: what its queues deserve, who goes for all that ask in one session, and who gets room where."""
    cluster = volcano_cluster(case.objects)
    turns = volcano.reclaim(cluster)
    victims = [{"name": one.pod.key, "reason": PodReason.OVER_DESERVED} for turn in turns for one in turn.victims]
    nodes = {turn.node for turn in turns}
    return {
        "name": case.name,
        "policy": deserved.POLICY,
        "dialect": volcano.DIALECT,
        "outcome": Outcome.PREEMPT if victims else Outcome.FITS if turns else Outcome.NO_CANDIDATE,
        "reason": Reason.BELOW_DESERVED if victims else Reason.FITS_SOON if turns else Reason.NO_CANDIDATES,
        "node": nodes.pop() if len(nodes) == 1 else None,
        "victims": victims,
        "figures": volcano.figures(cluster) | {"pipelined": {turn.ask.pod.key: turn.node for turn in turns}},
    }
