"""What queues were called before: whoever is given a queue by its path is given what happened under its former ones."""

from collections.abc import Mapping

from django.contrib.auth.models import AnonymousUser

from engine.model.queue_paths import Renames, known_as
from scheduler_admin.accounts.models import FormerPath, User


def renames() -> Renames:
    """Those in force, of all hierarchies. One query."""
    return tuple(FormerPath.objects.order_by("former", "pk").values_list("former", "path"))


def renames_for(user: User | AnonymousUser) -> Renames:
    """The same, read once a request, as every ``restrict`` needs them."""
    if not isinstance(user, User):
        return renames()
    if user.renames is None:
        user.renames = renames()
    return user.renames


def with_former(path: str, among: Renames, *, alone: bool = False) -> frozenset[str]:
    """A queue's path, and those under which it, and unless ``alone`` what lies below, was known before."""
    return frozenset({path}) | known_as(path, among, alone=alone)


def keep(hierarchy: int, former: Mapping[str, str]) -> None:
    """Put the former paths of a hierarchy (its key) in force (former path -> path now), in place of those that were."""
    FormerPath.objects.filter(hierarchy_id=hierarchy).delete()
    FormerPath.objects.bulk_create(
        FormerPath(hierarchy_id=hierarchy, former=was, path=now) for was, now in sorted(former.items())
    )
