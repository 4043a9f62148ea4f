"""Forecasts what happens to a cluster that is given as manifests, under a tree that is given as a document."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from engine.cli.cases import add_namespaces
from engine.explain import reason
from engine.formats import registry
from engine.formats.import_result import Imported
from engine.formats.kubernetes.decode import DecodedManifests, cluster_state
from engine.formats.tree_json.document import read_form
from engine.formats.yunikorn import read
from engine.model.decision import PodFacts
from engine.model.notes import ImportFailure
from engine.model.queue_tree import ROOT_ONLY, QueueTree
from engine.model.snapshot import ClusterState, Safeguards
from engine.model.snapshot.resource_quotas import quota_limits
from engine.planning.forecast import Eviction, Forecast, Settling, forecast
from engine.planning.journal import PassInputs
from engine.policies import (
    audit_terms,
    fence,
    foreign_dialects,
    guarded,
    known_dialects,
    policy,
    priority,
    within_quotas,
)


class ForecastReport(msgspec.Struct, frozen=True, kw_only=True):
    """A forecast with the cluster and the policy from which it began."""

    policy: str
    dialect: str
    pods: int
    nodes: int
    ignored: tuple[str, ...]
    """``Kind namespace/name`` of each manifest that no policy reads."""
    unread: tuple[str, ...]
    """A sentence for each manifest that can't be read."""
    forecast: Forecast


class GivenTree(NamedTuple):
    """A tree with its policy, dialect and parameters; empty where its document does not name them."""

    tree: QueueTree | None = None
    policy: str = ""
    dialect: str = ""
    parameters: Mapping[str, Any] = {}

    def by(self, policy: str, dialect: str) -> "GivenTree":
        """Return this tree with the named policy and dialect; the parameters are kept only if neither changes."""
        current = _with_defaults(self.policy, self.dialect)
        requested = _with_defaults(
            policy or self.policy, dialect or ("" if policy and policy != current[0] else self.dialect)
        )
        return self if requested == current else self._replace(policy=requested[0], dialect=requested[1], parameters={})


def _with_defaults(policy: str, dialect: str) -> tuple[str, str]:
    """Return a policy and a dialect with defaults: policy ``fence``, and the first dialect of the policy."""
    policy = policy or fence.POLICY
    return policy, dialect or known_dialects().get(policy, ("",))[0]


def tree_of_document(document: Any) -> GivenTree:
    """Return the tree of a parsed document: a queues.yaml of YuniKorn, or the product's own format.

    Raises ImportFailure.
    """
    if not isinstance(document, Mapping) or "queues" not in document:
        return GivenTree(read(document if isinstance(document, Mapping) else {}).tree)  # raises with what is wrong
    reading = read_form(document)
    if reading.tree is None or reading.failed:
        raise ImportFailure(reading.notes)
    return GivenTree(reading.tree, reading.policy or "", reading.dialect or "", reading.parameters or {})


def tree_of_import(imported: Imported) -> GivenTree:
    """Return the tree of an imported document; a document of another system is decided by that system's policy."""
    terms = imported.terms
    policy = terms.get("policy") or registry.policy_of_format(imported.form)
    return GivenTree(imported.tree, policy, terms.get("dialect", ""), terms.get("parameters", {}))


def forecast_manifests(
    objects: Iterable[Mapping[str, Any]], given_tree: GivenTree, moment: PassInputs | None = None
) -> ForecastReport:
    """Forecast the cluster of these manifests; the default is policy ``fence`` and the first dialect of a policy.

    ``moment``: the inputs of the pass; without them, its time is the latest time in the manifests. The manifests are
    the whole cluster: a namespace that is not among them has no labels. Raises DecodeError for a manifest that can't be
    read, LookupError for a policy that is not known or that needs a tree, msgspec.ValidationError for parameters that
    the policy does not have.
    """
    policy_name = given_tree.policy or fence.POLICY
    dialect = given_tree.dialect or known_dialects().get(policy_name, ("",))[0]
    decide = policy(policy_name, dialect, given_tree.parameters)
    if given_tree.tree is None and policy_name != priority.POLICY:
        raise LookupError(f"Policy {policy_name} needs a queue tree.")
    state, ignored, unread = whole_cluster(objects)
    if moment:
        state.scheduler, state.group_scheduling = moment.scheduler, moment.group_scheduling
    within = guarded(policy_name, dialect, acting=False)
    quotas = quota_limits(state.quotas.values()) if within_quotas(policy_name, dialect) else {}
    result = forecast(
        state,
        moment or PassInputs(now_ms=latest_ms(state), quotas=quotas, safeguards=Safeguards() if within else None),
        given_tree.tree or ROOT_ONLY,
        decide,
        terms=audit_terms(policy_name, dialect, given_tree.parameters),
        foreign=dialect in foreign_dialects(),
    )
    return ForecastReport(
        policy=policy_name,
        dialect=dialect,
        pods=len(state.pods),
        nodes=len(state.nodes),
        ignored=ignored,
        unread=unread,
        forecast=result,
    )


def whole_cluster(objects: Iterable[Mapping[str, Any]]) -> DecodedManifests:
    """Return the cluster that consists of exactly these manifests. Raises DecodeError."""
    manifests = cluster_state(objects)
    add_namespaces(manifests.state)
    return manifests


def latest_ms(state: ClusterState) -> int:
    """Return the latest time that any pod of the cluster has."""
    times = ((pod.created_ms, pod.started_ms, pod.unschedulable_ms) for pod in state.pods.values())
    return max((time for pod in times for time in pod if time is not None), default=0)


def report_lines(report: ForecastReport) -> Iterator[str]:
    """Yield the text of a report: the evictions of each round, how the forecast ends, and why pods still wait."""
    result = report.forecast
    yield f"Pods: {report.pods}. Nodes: {report.nodes}. Policy: {report.policy}, dialect {report.dialect}."
    if report.ignored:
        yield f"Ignored objects, which no policy reads: {len(report.ignored)}."
    for sentence in report.unread:
        yield f"Unreadable object, which counts as unknown: {sentence}"
    for round_ in result.rounds:
        if not round_.moves:
            continue
        yield f"Round {round_.number}:"
        for placed in round_.placed:
            yield f"  {_pod_label(placed.ask)} gets {placed.node}{_evicted_for(round_.evictions, placed.ask)}"
        bound = {placed.ask.uid for placed in round_.placed}
        for decision in round_.preemptions:
            if decision.ask.uid not in bound:
                yield f"  {_pod_label(decision.ask)} gets no node{_evicted_for(round_.evictions, decision.ask)}"
    yield from _end(result)


def _evicted_for(evictions: Iterable[Eviction], preemptor: PodFacts) -> str:
    victims = [_pod_label(eviction.victim) for eviction in evictions if eviction.ask.uid == preemptor.uid]
    return f"; preempted for it: {', '.join(victims)}" if victims else ""


def _end(result: Forecast) -> Iterator[str]:
    total = result.total
    yield (
        f"Preempted pods: {total.pods}. Applications with preempted pods: {total.applications}. "
        f"Pending pods that get a node: {len(result.placed)}. Pods that stay pending: {len(result.waiting)}."
    )
    for considered in result.waiting:
        yield f"  {_pod_label(considered.decision.ask)}: {reason(considered.decision)!s}"
    if result.settles is Settling.STABLE:
        yield f"No more changes after round {result.passes}." if result.passes else "Nothing changes."
    elif result.loop is not None:
        yield f"Preemption loop: the queues {', '.join(result.loop.queues)} keep preempting each other's pods."
    else:
        yield f"There are still changes after {len(result.rounds)} rounds, where the forecast stops."


def _pod_label(pod: PodFacts) -> str:
    return f"{pod.namespace}/{pod.name} ({pod.queue or 'no queue'})"


def report_data(report: ForecastReport) -> dict[str, Any]:
    """Return a report as data for JSON output."""
    result = report.forecast
    rounds = [
        {
            "round": round_.number,
            "evictions": [{"for": item.ask, "victim": item.victim} for item in round_.evictions],
            "placed": [{"ask": item.ask, "node": item.node} for item in round_.placed],
        }
        for round_ in result.rounds
        if round_.moves
    ]
    waiting = [
        {"ask": considered.decision.ask, "outcome": considered.decision.outcome, "reason": considered.decision.reason}
        for considered in result.waiting
    ]
    return {
        "policy": report.policy,
        "dialect": report.dialect,
        "settles": result.settles,
        "passes": result.passes,
        "loop": result.loop,
        "rounds": rounds,
        "waiting": waiting,
        "ignored": report.ignored,
        "unread": report.unread,
    }
