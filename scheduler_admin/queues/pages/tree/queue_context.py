"""What the page of one queue shows, put together from the selectors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

from django.http import Http404
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from engine import explain
from engine.model.message import format_amount_list
from engine.model.quantities import DOMINANT
from engine.model.queue_paths import is_inside, upwards
from engine.policies import QueueShare, reach_of
from scheduler_admin.accounts.scopes import Scope, Who, scope_of
from scheduler_admin.clusters.models import Cluster, Notice
from scheduler_admin.clusters.pages.quota import QuotaBlock, block, fair_sharing
from scheduler_admin.clusters.selectors import present, status_of
from scheduler_admin.clusters.status.pending_workloads import PendingWorkload, pending_workloads
from scheduler_admin.clusters.status.quota import quota_of
from scheduler_admin.clusters.status.reclaim_notices import notices_of
from scheduler_admin.core import translation
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.presenters.reasons import reasons
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.selectors import activity
from scheduler_admin.fences.reach import Reach, reach
from scheduler_admin.nodes.pages.context import application_address
from scheduler_admin.pending import wait_sentences
from scheduler_admin.pending.waits import waits_of
from scheduler_admin.queues.models import Queue, Revision
from scheduler_admin.queues.pages.tree import inherited
from scheduler_admin.queues.pages.tree.settings_in_effect import InEffect, settings_in_effect
from scheduler_admin.queues.pages.tree.tree_context import Cell, columns
from scheduler_admin.queues.presenters.placement import ToldRule, ToldTemplate, rules, templates
from scheduler_admin.queues.presenters.standing import share_of
from scheduler_admin.queues.selectors import queues
from scheduler_admin.queues.selectors.lending import Dealing, dealings
from scheduler_admin.queues.selectors.visible_queues import VisibleQueues
from scheduler_admin.usage import selectors as usage_selectors
from scheduler_admin.usage.pages import plots
from scheduler_admin.usage.pages.context import Span, chosen, marks, resource_word
from scheduler_admin.worker.deserved_shares import divides

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Waiting:
    """An ask that waits, with why."""

    decision: Decision
    wants: str
    why: SafeString
    application: str
    """The address of its application's page; empty where it is none."""
    alike: int = 1
    """How many pods, this one first, wait for the same reason; 0: an earlier one has said so."""


@dataclass(frozen=True)
class WaitPart:
    """How long the asks of a leaf wait, and whether what was told of it came true."""

    told: explain.Message
    checks: list[tuple[explain.Message, str, explain.Message]]
    """Each with its kind and word; for those who see everything."""


@dataclass(frozen=True)
class QueuePage:
    """Everything that the page of one queue shows."""

    queue: Queue
    above: list[Queue]
    below: list[str]
    cells: list[Cell]
    applications: list[dict[str, Any]]
    asks: int
    waiting: list[Waiting]
    workloads: list[PendingWorkload]
    """Those of Kueue's that wait for quota, in it and below."""
    wait: WaitPart | None
    """How long asks wait; of leaves alone."""
    fair_sharing: str
    """Whether and how Kueue shares fairly; empty where there is no Kueue."""
    quota: QuotaBlock | None
    """Kueue's, where it is one of its queues."""
    notices: list[Notice]
    """Who is told to give back, of it and those below it."""
    dealings: list[Dealing]
    """What it borrows and lends."""
    share: QueueShare | None
    """By which the policy compares it with others; None where Kueue has a share of its own."""
    shares: bool
    """Whether the cluster is divided by shares."""
    above_quota: dict[str, Any] | None
    """Of a leaf: the namespace whose ResourceQuotas allow less than its hard cap, and what they allow of that."""
    reach: Reach
    settings: list[InEffect]
    rules: list[ToldRule]
    templates: list[ToldTemplate]
    """Its own one."""
    revisions: list[tuple[Revision, Queue | None]]
    series: usage_selectors.Series
    choices: list[tuple[str, str, str]]
    """What the plot can show: name, word and address."""
    marks: list[plots.Mark]

    @property
    def share_said(self) -> explain.Message | None:
        """The share with the values that it is computed from."""
        return explain.queue_share_sentence(self.share) if self.share else None


def find(user: Who, cluster: Cluster, path: str) -> tuple[Queue, VisibleQueues]:
    """The queue of the current revision, and all that the user may see with it. Raises Http404 for a stranger."""
    revision = cluster.hierarchy.current if cluster.hierarchy else None
    visible = queues.visible(user, revision, present(cluster))
    if path not in visible.places:
        raise Http404
    return visible.places[path].queue, visible


def queue_page(user: Who, cluster: Cluster, path: str, span: Span) -> QueuePage:
    """One queue of a cluster as a person may see it."""
    queue, visible = find(user, cluster, path)
    scope = scope_of(user, "view")
    redaction = Redaction.of(scope)
    status = status_of(cluster)
    assert cluster.hierarchy is not None  # else there is no such queue
    revision = cluster.hierarchy.current
    assert revision is not None
    shares = divides(revision)
    tree = queues.tree_with(revision, present(cluster))
    capacity = status.capacity if status else {}
    names = queues.resources(visible, capacity)
    figures = status.queues.get(path, {}) if status else {}
    row = queues.row(visible, path, figures, capacity, names)
    units = columns([row], names)
    seen = visible.paths
    kueue = quota_of(user, cluster, seen)
    quota = block(kueue, path)
    return QueuePage(
        queue=queue,
        above=[visible.places[each].queue for each in reversed([*upwards(path)][1:]) if each in seen],
        below=[child for child in tree.children[path] if child in seen],
        cells=[Cell(figure, units[figure.resource]) for figure in row.figures],
        applications=_applications(scope, cluster, status.applications if status else {}, path),
        asks=row.asks,
        waiting=_waiting(user, cluster, path, status.pass_at) if queue.leaf and status and status.pass_at else [],
        workloads=list(pending_workloads(scope, [cluster], path)),
        wait=_wait(cluster, path, everything=scope.everything) if queue.leaf else None,
        fair_sharing=fair_sharing(kueue),
        quota=quota,
        notices=notices_of(user, cluster, path),
        dealings=dealings(scope, status.queues if status else {}, revision, tree, path),
        share=None if quota and quota.share else share_of(figures),
        shares=shares,
        above_quota=figures.get("above_quota"),
        reach=_later(
            reach,
            tree,
            path,
            seen,
            reach_of(revision.policy, revision.parameters),
            tells_askers=redaction.tells_queue(""),
        ),
        settings=settings_in_effect(
            tree,
            queue.own,
            inherited.shared(tree, path, row.figures) if shares else inherited.granted(tree, path, names, capacity),
            dialect=revision.dialect,
            shares=shares,
        ),
        rules=rules(tree) if path == tree.root and scope.everything else [],
        templates=[one for one in templates(tree) if one.path == path],
        revisions=_later(queues.revisions, user, revision, path),
        series=usage_selectors.series(user, cluster, path, chosen(span, names), span.since, span.until),
        choices=[(name, resource_word(name), span.address(resource=name)) for name in (*names, DOMINANT)],
        marks=marks(user, redaction, cluster, path, span),
    )


def _later(make: Callable[_Given, _Made], *args: _Given.args, **kwargs: _Given.kwargs) -> _Made:
    """What ``make`` makes, once somebody looks at it: the news of a page have not all of it."""
    return cast("_Made", SimpleLazyObject(partial(make, *args, **kwargs)))


def _applications(
    scope: Scope, cluster: Cluster, by_leaf: dict[str, list[dict[str, Any]]], path: str
) -> list[dict[str, Any]]:
    """The queue's and those below it; a tenant's queue may hold pods of namespaces that aren't the tenant's."""
    found = [
        application
        | {
            "queue": leaf,
            "address": application_address(cluster.name, application["namespace"], application["name"], leaf),
        }
        for leaf, applications in by_leaf.items()
        if is_inside(leaf, path)
        for application in applications
        if scope.has_pod(application["namespace"], leaf)
    ]
    return found[:20] if path in by_leaf else sorted(found, key=lambda one: -one["pods"])[:20]


def _waiting(user: Who, cluster: Cluster, path: str, last_pass: datetime) -> list[Waiting]:
    """What the last pass considered: an ask that it did not has got room, or has gone."""
    scope = scope_of(user, "view")
    found = [
        Waiting(row, format_amount_list(row.ask_requests), why(scope, row), _application(cluster, row))
        for row in activity.waiting(user, cluster, last_pass, path)
    ]
    return list(_by_reason(found))


def _by_reason(found: list[Waiting]) -> Iterator[Waiting]:
    """Pods that wait for the same reason one after the other, where the one that has waited longest stands."""
    groups: dict[SafeString, list[Waiting]] = {}
    for one in found:
        groups.setdefault(one.why, []).append(one)
    for group in groups.values():
        for place, one in enumerate(group):
            yield replace(one, alike=0 if place else len(group))


def _application(cluster: Cluster, row: Decision) -> str:
    if not row.ask_application:
        return ""
    return application_address(cluster.name, row.ask_namespace, row.ask_application)


def _wait(cluster: Cluster, path: str, *, everything: bool) -> WaitPart:
    found = waits_of(cluster, path, timezone.now())
    checks = wait_sentences.checks(found) if everything else []
    return WaitPart(
        wait_sentences.told(found.estimate, of_queue=True),
        [(message, wait_sentences.KINDS[one], wait_sentences.verdict(one)) for message, one in checks],
    )


def why(scope: Scope, row: Decision) -> SafeString:
    """Why an ask waits, in sentences with their numbers."""
    return format_html_join(" ", "{}", ([translation.html(message)] for message in reasons(scope, row)))


def usage_shown(user: Who, cluster: Cluster, path: str, span: Span) -> usage_selectors.Series:
    """What the plot and the table beside it show. Raises Http404 for a stranger."""
    _queue, visible = find(user, cluster, path)
    status = status_of(cluster)
    resource = chosen(span, queues.resources(visible, status.capacity if status else {}))
    return usage_selectors.series(user, cluster, path, resource, span.since, span.until)


def figure(user: Who, cluster: Cluster, path: str, span: Span) -> dict[str, Any]:
    """The plot of the page. Raises Http404 for a stranger."""
    series, redaction = usage_shown(user, cluster, path, span), Redaction.of(scope_of(user, "view"))
    return plots.usage_figure(series, marks(user, redaction, cluster, path, span), span.since, span.until)
