"""Replays a saved decision from its recorded inputs."""

from collections.abc import Iterator
from typing import NamedTuple

from engine.analysis.counterfactuals import Again
from engine.cli.forecast import GivenTree, tree_of_document, whole_cluster
from engine.explain import proposed_decision
from engine.formats.yaml.manifests import load
from engine.model.decision import Decision, encode
from engine.model.message import gettext_noop
from engine.model.queue_tree import ROOT_ONLY, QueueTree
from engine.model.snapshot import ClusterState
from engine.planning.bundle import Bundle, BundleError
from engine.planning.journal import PassInputs, replay
from engine.policies import audit_terms, policy


class ReplayResult(NamedTuple):
    """A recorded decision and the decision that the replay made; None: the pending pod was not considered."""

    decision: Decision
    again: Decision | None

    @property
    def same(self) -> bool:
        """Return whether the replay gave the same decision, byte for byte."""
        return self.again is not None and encode(self.again) == encode(self.decision)


def replay_bundle(bundle: Bundle) -> ReplayResult:
    """Replay the saved decision of a file.

    Raises BundleError for a file without a decision, and what reading a tree or manifests raises.
    """
    if bundle.saved is None or bundle.moment is None or bundle.tree is None:
        raise BundleError(gettext_noop("It contains no decision to replay."))
    state = whole_cluster(document.obj for document in load(bundle.objects)).state
    state.scheduler, state.group_scheduling = bundle.moment.scheduler, bundle.moment.group_scheduling
    given_tree, decision = tree_of_document(bundle.tree), bundle.saved.decision
    decided = _alone if bundle.saved.alone else _in_turn
    return ReplayResult(decision, decided(state, bundle.moment, given_tree, decision.ask.uid))


def _in_turn(state: ClusterState, moment: PassInputs, given_tree: GivenTree, uid: str) -> Decision | None:
    decide = policy(given_tree.policy, given_tree.dialect, given_tree.parameters)
    considered = replay(
        state,
        moment,
        _tree(given_tree),
        decide,
        terms=audit_terms(given_tree.policy, given_tree.dialect, given_tree.parameters),
    )
    return next((audited.decision for audited in considered if audited.decision.ask.uid == uid), None)


def _alone(state: ClusterState, moment: PassInputs, given_tree: GivenTree, uid: str) -> Decision | None:
    snapshot = moment.snapshot(state, _tree(given_tree))
    pending_pod = next((pod for pod in snapshot.asks if pod.uid == uid), None)
    if pending_pod is None:
        return None
    return Again(
        snapshot, snapshot.tree, pending_pod, policy(given_tree.policy, given_tree.dialect, given_tree.parameters)
    ).as_it_was()


def _tree(given_tree: GivenTree) -> QueueTree:
    return ROOT_ONLY if given_tree.tree is None else given_tree.tree


def replay_result_lines(result: ReplayResult) -> Iterator[str]:
    """Yield the text of a replay: the decision, its victims, and whether it equals the recorded decision."""
    if result.again is None:
        yield "The replay makes no decision for the pod."
    else:
        yield " ".join(map(str, proposed_decision(result.again)))
        for verdict in result.again.victims:
            yield f"  {verdict.pod.namespace}/{verdict.pod.name}: {verdict.reason}"
    identical = "The replayed decision is identical to the recorded one."
    yield identical if result.same else "The replayed decision differs from the recorded one."
