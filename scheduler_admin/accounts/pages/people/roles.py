"""What each role may do, in words, as the permission tables have it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from scheduler_admin.accounts.models import ApiToken, Membership, User
from scheduler_admin.accounts.pages.people.base import StaffPage
from scheduler_admin.accounts.scopes import ALLOWING, BY_MEMBERSHIP, BY_ROLE, Action
from scheduler_admin.accounts.selectors import with_role

ACTION_WORDS: Mapping[Action, Any] = {
    "view": gettext_lazy("See queues, pods, and why pods were preempted"),
    "operate": gettext_lazy("Pause preemption, set modes, save snapshots"),
    "configure": gettext_lazy("Set limits and time windows for evictions"),
    "plan": gettext_lazy("Preview what a change of a queue tree would do"),
    "edit": gettext_lazy("Change and publish queue trees"),
    "connect": gettext_lazy("Connect clusters and replace their credentials"),
    "classify": gettext_lazy("Change priority classes"),
    "notify": gettext_lazy("Change notification channels"),
    "administer": gettext_lazy("Change users, tenants, group mappings and site settings"),
}
"""Each action as somebody does it."""


@dataclass(frozen=True)
class Column:
    """A role, at the whole site or at a tenant."""

    role: str
    label: str
    at_tenant: bool
    people: int
    query: str
    """Which users the list shows for it; empty: they cannot be listed."""

    def allows(self, action: Action) -> bool:
        """Whether the role allows an action."""
        if self.at_tenant:
            return self.role in BY_MEMBERSHIP.get(action, frozenset())
        return action in BY_ROLE.get(self.role, frozenset())


@dataclass(frozen=True)
class Line:
    """An action, with what it may be done to by whoever has a role, and the scopes that allow it to a token."""

    words: str
    cells: list[tuple[str, str]]
    """A kind of state and its word."""
    scopes: tuple[ApiToken.Scope, ...]
    any_scope: bool


class Roles(StaffPage):
    """The permissions of every role, as a table."""

    template_name = "accounts/roles.html"
    section = "roles"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return a column for each role and a line for each action."""
        columns = _columns()
        return super().get_context_data(
            **kwargs, columns=columns, lines=[_line(each, columns) for each in ACTION_WORDS]
        )


def _columns() -> list[Column]:
    at_site = [
        Column(role, str(role.label), False, User.objects.filter(with_role(role)).count(), f"role={role}")
        for role in User.Role
        if role in BY_ROLE
    ]
    counts = dict(Membership.objects.order_by().values_list("role").annotate(Count("user", distinct=True)))
    at_tenants = [Column(role, str(role.label), True, counts.get(role, 0), "") for role in reversed(Membership.Role)]
    return at_site + at_tenants


def _line(action: Action, columns: list[Column]) -> Line:
    scopes = ALLOWING[action]
    return Line(
        str(ACTION_WORDS[action]),
        [_cell(column, action) for column in columns],
        scopes,
        len(scopes) == len(ApiToken.Scope),
    )


def _cell(column: Column, action: Action) -> tuple[str, str]:
    if not column.allows(action):
        return "none", _("no")
    return ("ok", _("own tenant")) if column.at_tenant else ("ok", _("everything"))
