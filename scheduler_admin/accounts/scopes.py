"""What a user may see and do, and the queryset that every read goes through."""

from dataclasses import dataclass
from typing import Literal, Self, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db import models

from scheduler_admin.accounts.models import User

Action = Literal["view", "operate", "edit"]
"""view: read. operate: pause, modes. edit: trees, settings, accounts."""
Who = User | AnonymousUser
M = TypeVar("M", bound=models.Model)

_MAY: dict[str, frozenset[str]] = {
    User.Role.ADMIN: frozenset({"view", "operate", "edit"}),
    User.Role.OPERATOR: frozenset({"view", "operate"}),
    User.Role.AUDITOR: frozenset({"view"}),
}


@dataclass(frozen=True)
class Scope:
    """Everything, or the namespaces and subtrees of a user's tenants."""

    everything: bool = False
    namespaces: frozenset[str] = frozenset()
    subtrees: frozenset[str] = frozenset()

    def paths(self, field: str) -> models.Q:
        """Rows whose ``field`` is a queue path inside one of the subtrees."""
        query = models.Q(pk__in=[])
        for path in sorted(self.subtrees):
            query |= models.Q(**{field: path}) | models.Q(**{f"{field}__startswith": f"{path}."})
        return query

    def has_path(self, path: str) -> bool:
        """Whether a queue lies inside one of the subtrees."""
        return self.everything or any(path == top or path.startswith(f"{top}.") for top in self.subtrees)


def scope_of(user: Who, action: Action) -> Scope:
    """What ``user`` may do ``action`` to: everything by role, the tenants' own for viewing, else nothing."""
    if not isinstance(user, User) or not user.is_active:
        return Scope()
    if user.is_superuser or action in _MAY.get(user.role, frozenset()):
        return Scope(everything=True)
    if action != "view":
        return Scope()
    tenants = list(user.tenants.all())
    return Scope(
        namespaces=frozenset(name for tenant in tenants for name in tenant.namespaces),
        subtrees=frozenset(path for tenant in tenants for path in tenant.subtrees),
    )


class RestrictedQuerySet(models.QuerySet[M]):
    """``restrict(user, action)`` leaves only the rows that the user may do the action to."""

    def restrict(self, user: Who, action: Action = "view") -> Self:
        """Everything by role, else what ``within`` leaves of a tenant's rows, else nothing."""
        scope = scope_of(user, action)
        if scope.everything:
            return self
        if not scope.namespaces and not scope.subtrees:
            return self.none()
        return self.within(scope)

    def within(self, scope: Scope) -> Self:
        """The rows of a tenant's scope. A model that tenants may see overrides this."""
        del scope
        return self.none()
