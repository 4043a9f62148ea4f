"""What a tree that was sent would do: what it changes, what is odd about it, what it preempts."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from django.utils.translation import gettext as _

from engine.formats.tree_json.document import write_queue
from engine.model.quantities import format_amount
from engine.model.queue_tree import QueueTree
from engine.planning.forecast import Eviction, EvictionCount, Loop, PlacedPod, UnreachedGuarantee, group_evictions
from engine.planning.journal import CorruptJournalError
from scheduler_admin.accounts.scopes import Scope
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.journal.selectors.forecasts import Outlook, TooMuchWorkError, forecast_tree, too_much_work
from scheduler_admin.journal.selectors.orphans import orphans, sentence
from scheduler_admin.queues.api.documents import Sent
from scheduler_admin.queues.api.lint import findings
from scheduler_admin.queues.api.proposals import Proposal
from scheduler_admin.queues.services.hierarchies import Terms


def outcome(proposal: Proposal, clusters: Sequence[Cluster], scope: Scope) -> dict[str, Any]:
    """All there is to say before a tree is put in force; clusters are those that use its hierarchy."""
    return {
        "changed": proposal.changed,
        "revision": proposal.number,
        "imported_document": _mapped(proposal.sent, scope),
        "changes": proposal.diff(),
        "findings": findings(proposal.sent, clusters, scope),
        "forecasts": [outlook(cluster, proposal.sent.tree, proposal.sent.terms, scope) for cluster in clusters],
    }


def _mapped(sent: Sent, scope: Scope) -> dict[str, Any] | None:
    """What a document's queues become, those of a scope; None where it is of our own form."""
    if sent.native is None:
        return None
    return {
        "format": sent.native.format,
        "queues": [_became(sent, path) for path in sent.tree.walk() if scope.has_path(path)],
    }


def _became(sent: Sent, path: str) -> dict[str, Any]:
    source = sent.sources.get(path)
    return {
        "source_name": source.title if source else None,
        "line": source.line if source else None,
        "queue": write_queue(sent.tree[path]),
    }


def outlook(cluster: Cluster, tree: QueueTree, terms: Terms, scope: Scope) -> dict[str, Any]:
    """One cluster's forecast under the tree as a row; of a scope that is not everything, what becomes of its pods."""
    reason = _("This cluster has not been read yet.")
    try:
        found = forecast_tree(cluster=cluster, tree=tree, **terms._asdict())
    except CorruptJournalError:
        found, reason = None, _("The latest snapshot of this cluster can't be read because its journal is damaged.")
    except TooMuchWorkError:
        found, reason = None, too_much_work()
    row = {"cluster": cluster.name, "forecast": told(found, scope) if found else None}
    return {**row, "reason": None if found else reason, "orphans": _orphans(cluster, tree, scope)}


def _orphans(cluster: Cluster, tree: QueueTree, scope: Scope) -> dict[str, Any] | None:
    """The pods of a scope's queues that would be in no queue; None: none, or that is not known."""
    try:
        found = [one for one in orphans(cluster, tree) or () if scope.has_path(one.queue)]
    except CorruptJournalError:
        return None
    if not found:
        return None
    running, pending = sum(one.running for one in found), sum(one.pending for one in found)
    return {"running_pods": running, "pending_pods": pending, "queues": found, "sentence": sentence(found)}


def told(found: Outlook, scope: Scope) -> dict[str, Any]:
    """A forecast as a member of an answer: what becomes of a scope's pods."""
    mine = _own(found.proposed.evictions, scope)
    waiting = [one.decision.ask for one in found.proposed.waiting]
    return {
        "snapshot_at": found.at,
        "stability": found.proposed.settles.value,
        "loop": _loop(found, scope),
        "passes": found.proposed.passes,
        "next_pass": EvictionCount.of(one for one in mine if one.round == 1),
        "total": EvictionCount.of(mine),
        "pending_pods": sum(scope.has_pod(ask.namespace, ask.queue) for ask in waiting),
        "caused_evictions": _summed(_own(found.change.caused, scope), scope),
        "avoided_evictions": _summed(_own(found.change.spared, scope), scope),
        "newly_scheduled_pods": _asks(found.change.served, scope),
        "no_longer_scheduled_pods": _asks(found.change.unserved, scope),
        "unreachable_guarantees": [_unreachable(one) for one in found.unreachable if scope.has_path(one.queue)],
    }


def _unreachable(one: UnreachedGuarantee) -> dict[str, str]:
    amounts = {name: format_amount(one.resource, getattr(one, name)) for name in ("used", "guaranteed")}
    return {"queue": one.queue, "resource": one.resource, **amounts}


def _loop(found: Outlook, scope: Scope) -> Loop | None:
    """What goes on for ever, with the scope's queues in it."""
    loop = found.proposed.loop
    return loop and msgspec.structs.replace(loop, queues=tuple(filter(scope.has_path, loop.queues)))


def _asks(placed: Iterable[PlacedPod], scope: Scope) -> list[PlacedPod]:
    return [one for one in placed if scope.has_pod(one.ask.namespace, one.ask.queue)]


def _own(evictions: Iterable[Eviction], scope: Scope) -> list[Eviction]:
    return [one for one in evictions if scope.has_pod(one.victim.namespace, one.victim.queue)]


def _summed(evictions: list[Eviction], scope: Scope) -> dict[str, Any]:
    groups = Redaction.of(scope).groups(group_evictions(evictions))
    return {**msgspec.structs.asdict(EvictionCount.of(evictions)), "groups": groups}
