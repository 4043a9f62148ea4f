"""What a user may see and do, and the queryset that every read goes through."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeVar, get_args

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db import models

from engine.model.queue_paths import Renames, is_inside, known_as
from scheduler_admin.accounts.former_paths import renames_for, with_former
from scheduler_admin.accounts.models import ApiToken, Membership, Tenant, User, WorkloadToken

Action = Literal["view", "operate", "configure", "plan", "edit", "connect", "classify", "notify", "administer"]
"""view: read. operate: pause, modes. configure: what bounds evictions. plan: what a change of a tree would do. edit:
trees, accounts. connect: clusters, and what signs in to them. classify: priority classes.
notify: where notifications go. administer: the whole site."""
Who = User | AnonymousUser
M = TypeVar("M", bound=models.Model)

BY_ROLE: Mapping[str, frozenset[str]] = {
    User.Role.ADMIN: frozenset(get_args(Action)),
    User.Role.OPERATOR: frozenset({"view", "operate"}),
    User.Role.AUDITOR: frozenset({"view"}),
}
"""What one may do to everything, by the role on the whole site."""
BY_MEMBERSHIP: Mapping[Action, frozenset[str]] = {
    "view": frozenset(Membership.Role.values),
    "plan": frozenset({Membership.Role.EDITOR}),
    "edit": frozenset({Membership.Role.EDITOR}),
    "notify": frozenset(Membership.Role.values),
}
"""What one may do to what is a tenant's, by the role that one has there."""
ALLOWING: Mapping[Action, tuple[ApiToken.Scope, ...]] = {
    "view": tuple(ApiToken.Scope),
    "operate": (ApiToken.Scope.OPERATE,),
    "configure": (ApiToken.Scope.OPERATE,),
    "plan": (ApiToken.Scope.PLAN, ApiToken.Scope.WRITE),
    "edit": (ApiToken.Scope.WRITE,),
    "connect": (ApiToken.Scope.CONNECT,),
    "classify": (ApiToken.Scope.CLASSES,),
    "notify": (ApiToken.Scope.NOTIFY,),
    "administer": (ApiToken.Scope.SITE,),
}
"""The scopes of a token that allow an action, the least first."""


@dataclass(frozen=True)
class Scope:
    """Everything, or the namespaces and subtrees of a user's tenants. A token's subtree narrows either."""

    everything: bool = False
    namespaces: frozenset[str] | None = frozenset()
    """None: any."""
    subtrees: frozenset[str] = frozenset()
    narrowed: bool = False
    """Whether pods have to run in the subtrees, too."""
    given: frozenset[str] = frozenset()
    """Queues of the subtrees whose own settings are given from above: who has the scope changes only what is below."""
    tenants: frozenset[int] = frozenset()
    """The tenants (ids) that are in it whole."""

    def within(self, subtree: str) -> "Scope":
        """The part of it that lies inside a subtree, seen as its tenant sees it."""
        own = {subtree} if self.has_path(subtree) else {path for path in self.subtrees if is_inside(path, subtree)}
        spaces = None if self.everything else self.namespaces
        return Scope(namespaces=spaces, subtrees=frozenset(own), narrowed=True, given=self.given)

    def before(self, among: Renames) -> "Scope":
        """The same with what its queues were called before, by which their rows of old are found."""
        was = frozenset(path for top in self.subtrees for path in known_as(top, among))
        return replace(self, subtrees=self.subtrees | was)

    def paths(self, field: str) -> models.Q:
        """Rows whose ``field`` is a queue path inside one of the subtrees."""
        if self.everything:
            return models.Q()
        query = models.Q(pk__in=[])
        for path in sorted(self.subtrees):
            query |= models.Q(**{field: path}) | models.Q(**{f"{field}__startswith": f"{path}."})
        return query

    def has_path(self, path: str) -> bool:
        """Whether a queue lies inside one of the subtrees."""
        return self.everything or any(is_inside(path, top) for top in self.subtrees)

    def may_change(self, path: str) -> bool:
        """Whether the queue itself is theirs to change, name or take away; children may be theirs all the same."""
        return self.has_path(path) and path not in self.given

    def pods(self, namespace: str, queue: str) -> models.Q:
        """Rows about a pod of theirs, by the fields that hold its namespace and its queue."""
        if self.everything:
            return models.Q()
        query = models.Q() if self.namespaces is None else models.Q(**{f"{namespace}__in": self.namespaces})
        return query & self.paths(queue) if self.narrowed else query

    def has_pod(self, namespace: str, queue: str) -> bool:
        """Whether a pod of this namespace and queue is theirs."""
        if self.everything:
            return True
        own = self.namespaces is None or namespace in self.namespaces
        return own and (not self.narrowed or self.has_path(queue))


def scope_of_queue(path: str, user: Who) -> Scope:
    """What lies inside a queue, by its path and by what it was called before. One query a request."""
    return Scope(subtrees=with_former(path, renames_for(user)))


EVERYTHING = Scope(everything=True)


def allows(token: ApiToken | WorkloadToken | None, action: Action) -> bool:
    """Whether a request with this token may do the action, as far as the token's scopes go."""
    return token is None or not set(ALLOWING[action]).isdisjoint(token.scopes)


def scope_of(user: Who, action: Action) -> Scope:
    """What ``user`` may do ``action`` to: everything by role, what is their tenants', as their role there says.

    A user who signed in by a token may do no more than the token's scopes allow, and only inside its subtree.
    """
    if not isinstance(user, User) or not user.is_active or not allows(user.token, action):
        return Scope()
    scope = scope_by_role(user, action)
    if user.token and user.token.subtree:
        scope = scope.within(user.token.subtree)
    return scope.before(renames_for(user)) if scope.subtrees and action == "view" else scope


def acting(user: Who, action: Action) -> User:
    """The user, if they may do this to everything. Raises PermissionDenied."""
    if not scope_of(user, action).everything:
        raise PermissionDenied
    assert isinstance(user, User)  # nobody else may do anything to everything
    return user


def scope_by_role(user: User, action: Action) -> Scope:
    """The same whatever token the user signed in by."""
    if user.is_superuser or action in BY_ROLE.get(user.role, frozenset()):
        return EVERYTHING
    if action not in BY_MEMBERSHIP:
        return Scope()
    tenants = [one.tenant for one in memberships(user) if one.role in BY_MEMBERSHIP[action]]
    subtrees = frozenset(path for tenant in tenants for path in tenant.subtrees)
    tops = frozenset(path for path in subtrees if not any(path.startswith(f"{other}.") for other in subtrees))
    return Scope(
        namespaces=frozenset(name for tenant in tenants for name in tenant.namespaces),
        subtrees=subtrees,
        given=frozenset() if action == "view" else tops,
        tenants=frozenset(tenant.pk for tenant in tenants),
    )


def scope_of_tenant(tenant: Tenant | None) -> Scope:
    """What whoever belongs to a tenant may see; None: who belongs to the site, and sees everything."""
    if tenant is None:
        return EVERYTHING
    return Scope(
        namespaces=frozenset(tenant.namespaces),
        subtrees=frozenset(tenant.subtrees),
        tenants=frozenset({tenant.pk}),
    )


def memberships(user: User) -> list[Membership]:
    """The user's, with their tenants: read once a request, as every ``restrict`` needs them."""
    if "memberships" not in getattr(user, "_prefetched_objects_cache", {}):
        rows = Membership.objects.select_related("tenant")
        models.prefetch_related_objects([user], models.Prefetch("memberships", rows))
    return list(user.memberships.all())


class RestrictedQuerySet(models.QuerySet[M]):
    """``restrict(user, action)`` leaves only the rows that the user may do the action to."""

    def restrict(self, user: Who, action: Action = "view") -> Self:
        """Everything by role, else what ``within`` leaves of a tenant's rows, else nothing."""
        scope = scope_of(user, action)
        if scope.everything:
            return self
        if not scope.namespaces and not scope.subtrees and not scope.tenants:
            return self.none()
        return self.within(scope)

    def within(self, scope: Scope) -> Self:
        """The rows of a tenant's scope. A model that tenants may see overrides this."""
        del scope
        return self.none()
