"""The tour: one step for each job, on the page that does it. Its state is the number in the address (``?tour=2``)."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import ResolverMatch, reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import Who, scope_of
from scheduler_admin.clusters import selectors
from scheduler_admin.core.numbers import read_number

PARAMETER = "tour"


@dataclass(frozen=True)
class Step:
    """A page, and what it is for."""

    page: str
    title: str | Promise
    text: str | Promise
    of_cluster: bool = True
    """Whether the address of the page names a cluster."""


@dataclass(frozen=True)
class Place:
    """Where in the tour a reader is: a step and the addresses of those beside it."""

    step: Step
    number: int
    total: int
    back: str
    """Empty on the first step."""
    next: str
    """Empty on the last step."""


_CLUSTERS = Step(
    "clusters",
    _("Clusters"),
    _("See whether each cluster is read, how full it is, and how many pods are pending. Select one to see its queues."),
    of_cluster=False,
)
_QUEUES = Step(
    "queues",
    _("Queues"),
    _("Compare what each queue uses with its guarantee. Queues below their guarantee can preempt queues above theirs."),
)
_FENCES = Step(
    "fences",
    _("Fences"),
    _("See which queues can preempt which. Select a queue to see what it can reach, and what can reach it."),
)
_HISTORY = Step(
    "history",
    _("History"),
    _("Find every preemption. Select one to read its decision: why these pods were evicted, in words and numbers."),
)
_EDITOR = Step(
    "editor",
    _("Editor"),
    _("Change the queue tree in a draft. Before you publish it, you see which pods it would preempt."),
)
_PODS = Step(
    "pods",
    _("My pods"),
    _("Find out why a pod of yours was preempted or is pending, and what you can do about it."),
    of_cluster=False,
)
_CLASSES = Step(
    "priority_classes",
    _("Priority classes"),
    _("Choose the priority class of your pods: it decides which of them go first, and which are preempted last."),
)
_LEDGER = Step(
    "ledger",
    _("Ledger"),
    _("See how much work preemption cost each queue in a month, and how much it gave to others."),
    of_cluster=False,
)
_USERS = Step(
    "users",
    _("People and access"),
    _("Add users, and tenants that say which namespaces and queues are whose."),
    of_cluster=False,
)
_GLOSSARY = Step("glossary", _("Glossary"), _("Look up what a term on these pages means."), of_cluster=False)


def steps_for(user: Who, cluster: str) -> tuple[Step, ...]:
    """Return the steps of the tour for what a user may see. ``cluster`` is empty where there is none to show."""
    if scope_of(user, "view").everything:
        return (_CLUSTERS, _QUEUES, _FENCES, _HISTORY, _EDITOR) if cluster else (_CLUSTERS, _USERS, _GLOSSARY)
    if not cluster:
        return (_PODS, _LEDGER, _GLOSSARY)
    return (_PODS, _QUEUES, _FENCES, _CLASSES, _EDITOR if scope_of(user, "edit").subtrees else _LEDGER)


def beginning(user: Who) -> str:
    """Return the address of the first step."""
    cluster = _first_cluster(user)
    return _address(steps_for(user, cluster), 1, cluster)


def place_of(request: HttpRequest) -> Place | None:
    """Return where in the tour a request is, or None where its page and its number do not belong together."""
    number, match = read_number(request.GET.get(PARAMETER, "")), request.resolver_match
    if not number or match is None:
        return None
    cluster = _cluster_of(match) or _first_cluster(request.user)
    steps = steps_for(request.user, cluster)
    if number > len(steps) or steps[number - 1].page != match.url_name:
        return None
    return Place(
        step=steps[number - 1],
        number=number,
        total=len(steps),
        back=_address(steps, number - 1, cluster) if number > 1 else "",
        next=_address(steps, number + 1, cluster) if number < len(steps) else "",
    )


def _address(steps: tuple[Step, ...], number: int, cluster: str) -> str:
    step = steps[number - 1]
    path = reverse(f"web:{step.page}", args=[cluster] if step.of_cluster else [])
    return f"{path}?{urlencode({PARAMETER: number})}"


def _cluster_of(match: ResolverMatch) -> str:
    """Return the cluster of the page itself, on which the tour stays."""
    return str(match.kwargs.get("name", ""))


def _first_cluster(user: Who) -> str:
    return next(iter(selectors.names(user)), "")
