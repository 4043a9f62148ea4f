"""Writes to what bounds evictions in a cluster: its limits and its windows. Each has a reason, and is audited."""

from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import transaction
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.audit import check_reason, name_of, record
from scheduler_admin.clusters.models import Cluster, Window
from scheduler_admin.clusters.safeguards.pauses import check_queue, show_stops
from scheduler_admin.core import limits

LIMITS = (
    "evictions_per_pass",
    "evictions_per_minute",
    "evictions_per_queue",
    "evictions_per_namespace",
    "evictions_per_node",
    "reserved_nodes",
    "min_run_s",
    "bind_margin_s",
    "room_kept_by",
    "publish",
    "yunikorn_service",
    "group_scheduling",
    "protected_namespaces",
    "enforce_queues",
    "enforce_namespaces",
)
"""Fields of Cluster."""
MOST = 2**31 - 1
"""Of a number; said here, as the columns' own bounds differ by database, and no calendar reaches as far as some."""


MOST_NAMES = 200
"""Queues or namespaces in one limit."""


class ClashError(Exception):
    """Limits that somebody else changed meanwhile: name -> (what was asked for, what it is now). Nothing is changed."""

    def __init__(self, limits: dict[str, tuple[Any, Any]]) -> None:
        super().__init__(", ".join(limits))
        self.limits = limits


def limits_of(cluster: Cluster) -> dict[str, Any]:
    """Name -> value."""
    return {name: getattr(cluster, name) for name in LIMITS}


@transaction.atomic
def change_limits(
    *, cluster: Cluster, values: Mapping[str, Any], seen: Mapping[str, Any], actor: User | None, reason: str
) -> None:
    """Change those of the limits that differ from what was ``seen``; texts are read as forms have them.

    Raises ClashError, and ValidationError by field.
    """
    cluster = Cluster.objects.select_for_update().get(pk=cluster.pk)
    before = limits_of(cluster)
    seen = {**before, **_read(seen)}
    wanted = {name: value for name, value in _read(values).items() if value != seen[name]}
    clashes = {name: (value, before[name]) for name, value in wanted.items() if before[name] not in (seen[name], value)}
    if clashes:
        raise ClashError(clashes)
    for name, value in wanted.items():
        setattr(cluster, name, value)
    _check_queues(cluster, wanted.get("enforce_queues", []))
    check_reason(reason)
    cluster.full_clean()
    cluster.save(update_fields=list(wanted))
    changed = {name: [before[name], value] for name, value in wanted.items() if value != before[name]}
    if changed:
        record(actor=actor, verb="cluster.limits", target=cluster.name, reason=reason.strip(), details=changed)


def _read(values: Mapping[str, Any]) -> dict[str, Any]:
    """As the fields keep them. Raises ValidationError by field."""
    found, wrong = dict[str, Any](), dict[str, list[str]]()
    for name, value in values.items():
        try:
            found[name] = _LISTS[name](value) if name in _LISTS else _cleaned(name, value)
        except ValidationError as error:
            wrong[name] = error.messages
    if wrong:
        raise ValidationError(wrong)
    return found


def _cleaned(name: str, value: Any) -> Any:
    found = Cluster._meta.get_field(name).clean(value, None)  # type: ignore[union-attr]  # noqa: SLF001 - documented
    if isinstance(found, int):
        MaxValueValidator(MOST)(found)
    return found


def _listed(value: Any) -> list[str]:
    """A text has the names between spaces or commas. Raises ValidationError."""
    given = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise ValidationError(_("Enter a list of names."))
    if len(given) > MOST_NAMES:
        raise ValidationError(_("Enter at most %(most)s names."), params={"most": MOST_NAMES})
    return sorted(set(given))


def _namespaces(value: Any) -> list[str]:
    """Sorted, each once. Raises ValidationError."""
    found = _listed(value)
    for name in found:
        if not name.replace("-", "").isalnum() or len(name) > limits.NAMESPACE:
            raise ValidationError(_("%(name)s is not a valid namespace name."), params={"name": name})
    return found


def _protected(value: Any) -> list[str]:
    """The same; kube-system always belongs to them."""
    return sorted({"kube-system", *_namespaces(value)})


_LISTS: dict[str, Callable[[Any], list[str]]] = {
    "protected_namespaces": _protected,
    "enforce_namespaces": _namespaces,
    "enforce_queues": _listed,
}


def _check_queues(cluster: Cluster, paths: list[str]) -> None:
    for path in paths:
        try:
            check_queue(cluster, path)
        except ValidationError:
            message = _("Queue %(name)s does not exist.") % {"name": path}
            raise ValidationError({"enforce_queues": message}) from None


@transaction.atomic
def add_window(*, cluster: Cluster | None, actor: User | None, reason: str, **hours: Any) -> Window:
    """A window of a cluster, None for all: kind, queue, weekdays, begins, ends, zone, first_day, last_day.

    Raises ValidationError by field.
    """
    made = Window(cluster=cluster, by=name_of(actor), reason=reason.strip(), **hours)
    check_queue(cluster, made.queue)
    made.full_clean()
    made.save()
    record(actor=actor, verb="window.add", target=_place(made), reason=made.reason, details={"window": str(made)})
    show_stops(cluster)
    return made


@transaction.atomic
def change_window(*, window: Window, values: Mapping[str, Any], actor: User | None, reason: str) -> Window:
    """Change what ``values`` hold of a window: kind, weekdays, begins, ends, zone, first_day, last_day, shown reason.

    Raises ValidationError by field, also without a ``reason`` for the audit log.
    """
    check_reason(reason)
    was, shown = str(window), window.reason
    for name, value in values.items():
        setattr(window, name, value.strip() if name == "reason" else value)
    window.full_clean()
    window.save()
    details = {"window": str(window), "shown_reason": window.reason, "before": {"window": was, "shown_reason": shown}}
    record(actor=actor, verb="window.change", target=_place(window), reason=reason.strip(), details=details)
    show_stops(window.cluster)
    return window


@transaction.atomic
def remove_window(*, window: Window, actor: User | None, reason: str) -> None:
    """It holds no longer. Raises ValidationError without a reason."""
    check_reason(reason)
    window.delete()
    record(
        actor=actor, verb="window.remove", target=_place(window), reason=reason.strip(), details={"window": str(window)}
    )
    show_stops(window.cluster)


def _place(window: Window) -> str:
    return window.cluster.name if window.cluster else "*"
