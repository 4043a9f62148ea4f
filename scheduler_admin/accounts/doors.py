"""Who comes in by another door, OIDC or Kubernetes: what their groups are here. Local users have no part in it."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import GroupMapping, Membership, Tenant, User
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.accounts.selectors import administrators
from scheduler_admin.accounts.services.audit import check_reason, record
from scheduler_admin.accounts.services.users import locked_admins, set_memberships
from scheduler_admin.core import limits
from scheduler_admin.core.entity_tags import check_seen, keyed

KUBERNETES = "kubernetes:"
"""How groups and names of Kubernetes begin in mappings: no group of an OIDC provider that begins so counts."""
_LONGEST = 100
"""Of a name that a door gives; what makes it unlike others' follows it."""
_LONGEST_IDENTITY, _LONGEST_GROUP = 500, limits.GROUP
"""As the columns of User.identity and GroupMapping.group."""
_STRONGEST = (User.Role.ADMIN, User.Role.OPERATOR, User.Role.AUDITOR)


class PeopleBackend(ModelBackend):
    """Passwords, and the sessions that they began. A machine's account has neither, whatever its row says."""

    def user_can_authenticate(self, user: Who | None) -> bool:
        """Not who was locked out, and no service account."""
        return super().user_can_authenticate(user) and not getattr(user, "service", False)


class UnmappedError(Exception):
    """None of somebody's groups is anything here, or they were locked out."""


class IdentityError(ValueError):
    """A door names somebody as no user can be named: too long, or with a NUL, which PostgreSQL does not take."""


@transaction.atomic
def _admitted(*, identity: str, name: str, email: str, groups: Iterable[str]) -> User:
    user = User.objects.select_for_update().filter(identity=identity).first() or _newcomer(identity, name, email)
    given = sorted(set(groups))
    if user.pk is None and not GroupMapping.objects.filter(group__in=given).exists():
        return user
    if user.pk is None or user.outside_groups != given:
        user.outside_groups = given
        user.full_clean()
        user.save()
    apply_mappings(user=user)
    return user


def admit(*, identity: str, name: str, groups: Iterable[str], email: str = "") -> User:
    """The user for who is called ``identity`` at another door, with the role and tenants of their groups as of now.

    Somebody new becomes a user of their own, whatever name or e-mail they share with others. Raises UnmappedError for
    who has no mapped group: whoever had one before has lost what came with it. Raises IdentityError.
    """
    if "\0" in identity or len(identity) > _LONGEST_IDENTITY:
        raise IdentityError
    groups = [group for group in groups if "\0" not in group and len(group) <= _LONGEST_GROUP]  # no other is mapped
    user = _admitted(identity=identity, name=name, email=email, groups=groups)
    if user.pk is None or not user.is_active or not GroupMapping.objects.filter(group__in=user.outside_groups).exists():
        raise UnmappedError
    return user


def _newcomer(identity: str, name: str, email: str) -> User:
    plain = re.sub(r"[^\w.@+-]", "-", name)[:_LONGEST] or "person"
    taken = User.objects.filter(username__iexact=plain).exists()
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    user = User(identity=identity, username=f"{plain}-{digest}" if taken else plain, email=_readable(email))
    user.set_unusable_password()
    return user


def _readable(email: str) -> str:
    """An address that is none is nothing to keep anybody out for."""
    try:
        User._meta.get_field("email").clean(email, None)  # noqa: SLF001 - documented
    except ValidationError:
        return ""
    return email


@transaction.atomic
def apply_mappings(*, user: User) -> None:
    """Set an outsider's role and tenants by their groups; recorded where that changes anything."""
    found = list(GroupMapping.objects.filter(group__in=user.outside_groups).select_related("tenant"))
    roles = {one.role for one in found}
    role = next((one for one in _STRONGEST if one in roles), User.Role.TENANT)
    wanted: dict[Tenant, str] = {}
    for one in found:
        if one.tenant is not None and wanted.get(one.tenant) != Membership.Role.EDITOR:
            wanted[one.tenant] = one.role
    had = {one.tenant: one.role for one in Membership.objects.filter(user=user).select_related("tenant")}
    if (user.role, had) == (role, wanted):
        return
    before = {"role": user.role, "tenants": _named(had)}
    user.role = role
    user.save(update_fields=["role"])
    set_memberships(user=user, roles=wanted)
    details = {"role": role, "tenants": _named(wanted), "before": before}
    record(actor=None, by="groups", verb="user.groups", target=user.username, details=details)


def _named(roles: Mapping[Tenant, str]) -> dict[str, str]:
    return {tenant.name: str(role) for tenant, role in roles.items()}


@transaction.atomic
def add_mapping(*, group: str, role: str, tenant: Tenant | None, actor: User | None, reason: str) -> GroupMapping:
    """A group is something here from now on, also to those who are signed in. Raises ValidationError by field."""
    check_reason(reason)
    made = GroupMapping(group=group.strip(), role=role, tenant=tenant)
    made.full_clean()
    made.save()
    record(actor=actor, verb="mapping.add", target="*", reason=reason.strip(), details=_said(made))
    _reapply(made.group)
    return made


@transaction.atomic
def change_mapping(
    *,
    mapping: GroupMapping,
    group: str,
    role: str,
    tenant: Tenant | None,
    actor: User | None,
    reason: str,
    seen: str | None = None,
) -> GroupMapping:
    """Map another group, or to something else, from now on. ``seen``: ``mapping_tag`` as the actor has read it.

    Raises ValidationError by field, also where no active admin would be left.
    """
    check_reason(reason)
    had = locked_admins()
    found = GroupMapping.objects.select_for_update().get(pk=mapping.pk)
    check_seen(seen, mapping_tag(found))
    before = _said(found)
    found.group, found.role, found.tenant = group.strip(), role, tenant
    found.full_clean()
    found.save()
    now = _said(found)
    changes = {name: [before[name], value] for name, value in now.items() if value != before[name]}
    if changes:
        details = {"group": found.group, **changes}
        record(actor=actor, verb="mapping.change", target="*", reason=reason.strip(), details=details)
    _reapply(before["group"], now["group"])
    _check_admin_left(had, field="group" if "group" in changes else "role")
    return found


@transaction.atomic
def remove_mapping(*, mapping: GroupMapping, actor: User | None, reason: str, seen: str | None = None) -> None:
    """It is that no longer: what came with it alone is gone at once. ``seen``: ``mapping_tag`` as the actor read it.

    Raises ValidationError without a reason, and where no active admin would be left.
    """
    check_reason(reason)
    had = locked_admins()
    found = GroupMapping.objects.select_for_update().get(pk=mapping.pk)
    check_seen(seen, mapping_tag(found))
    said = _said(found)
    found.delete()
    record(actor=actor, verb="mapping.remove", target="*", reason=reason.strip(), details=said)
    _reapply(said["group"])
    _check_admin_left(had)


def _check_admin_left(had: Collection[int], field: str = "") -> None:
    """Raise ValidationError where the last active admins were admins by their groups alone."""
    if had and not administrators().exists():
        wrong = _("Without this mapping, no active admin would be left. Make another user an admin first.")
        raise ValidationError({field: wrong} if field else wrong)


def mapping_tag(mapping: GroupMapping) -> str:
    """Return what tells one state of a mapping from another."""
    return keyed(json.dumps(_said(mapping)))


def people_by_group() -> Counter[str]:
    """Return how many people the doors last said to be in each group."""
    groups = User.objects.exclude(identity=None).values_list("outside_groups", flat=True)
    return Counter(group for each in groups.iterator() for group in each)


def _said(mapping: GroupMapping) -> dict[str, str]:
    return {"group": mapping.group, "role": mapping.role, "tenant": mapping.tenant.name if mapping.tenant else ""}


def _reapply(*groups: str) -> None:
    for user in User.objects.exclude(identity=None).iterator():
        if not set(groups).isdisjoint(user.outside_groups):
            apply_mappings(user=user)
