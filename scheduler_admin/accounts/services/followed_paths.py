"""Tenants and tokens are given subtrees by their paths: where a queue gets another path, they follow it."""

from collections.abc import Container

from engine.model.queue_tree import QueueTree
from scheduler_admin.accounts.former_paths import keep
from scheduler_admin.accounts.models import ApiToken, Tenant, User, WorkloadIdentity
from scheduler_admin.accounts.services.audit import record


def given_paths() -> frozenset[str]:
    """The paths of all that tenants, tokens and workload identities are given. Three queries."""
    of_tenants = Tenant.objects.values_list("subtrees", flat=True)
    of_tokens = ApiToken.objects.exclude(subtree="").values_list("subtree", flat=True)
    of_workloads = WorkloadIdentity.objects.exclude(subtree="").values_list("subtree", flat=True)
    return frozenset(of_tokens) | frozenset(of_workloads) | {path for subtrees in of_tenants for path in subtrees}


def follow(*, hierarchy: int, tree: QueueTree, elsewhere: Container[str], actor: User | None) -> None:
    """Give tenants and tokens what is theirs under its path in a hierarchy's tree, in force from now on.

    ``hierarchy`` is its key. ``elsewhere`` are the paths in force in other hierarchies: what is there under the former
    path stays given, too.
    """
    keep(hierarchy, {was: now for was, now in tree.former_paths.items() if was not in elsewhere})
    if not tree.former_paths:
        return
    for tenant in Tenant.objects.all():
        own = set(tenant.subtrees)
        now = {path if path in tree else tree.now(path) for path in own} | {path for path in own if path in elsewhere}
        if own != now:
            tenant.subtrees = sorted(now)
            tenant.save(update_fields=["subtrees"])
            details = {"subtrees": tenant.subtrees, "before": sorted(own)}
            record(actor=actor, verb="tenant.follow", target=tenant.name, details=details)
    for verb, rows in (("token.follow", ApiToken.objects), ("workload.follow", WorkloadIdentity.objects)):
        for row in rows.exclude(subtree=""):
            path = row.subtree
            if path not in tree and path not in elsewhere and (now_path := tree.now(path)) != path:
                row.subtree = now_path
                row.save(update_fields=["subtree"])
                details = {"subtree": now_path, "before": path}
                record(actor=actor, verb=verb, target=str(row), details=details)
