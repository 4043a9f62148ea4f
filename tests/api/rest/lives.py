"""Every kind of object that the REST API creates: how it is made, changed by two people, and deleted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.api.sending import SMALL

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "8"}}}
_MAIN = "/api/v1/hierarchies/main"
_EAST = "/api/v1/clusters/east"
_WINDOW = {
    "cluster": "east",
    "queue": "root.test",
    "kind": "allow",
    "weekdays": ["sat", "sun"],
    "start_time": "22:00:00",
    "end_time": "06:00:00",
    "time_zone": "Europe/Berlin",
    "reason": "batch hours",
}
_CHANNEL = {
    "tenant": "red",
    "name": "alerts",
    "kind": "webhook",
    "address": "https://hooks.example.com/services/T1",
    "below_guarantee_minutes": 15,
    "language": "zh-hans",
}
_USER = {"name": "erin", "password": "horse battery staple", "memberships": [{"tenant": "red", "role": "editor"}]}
_OTHER = {"queues": [{"path": "root"}, {"path": "root.a", "guaranteed": {"cpu": "3"}}]}
_OTHERS = {"queues": [{"path": "root"}, {"path": "root.b"}]}


@dataclass(frozen=True)
class Life:
    """A kind of object. ``{kubeconfig}`` in a body is that of a cluster that the test sets up."""

    made_by: str
    """The operation that creates it."""
    url: str
    body: Any
    changes: tuple[Mapping[str, Any], ...] = ()
    """What it is changed to, by one person and then by another. None: it can only be created again."""
    unread: frozenset[str] = frozenset()
    """Members of the body that are not read back: secrets, and what only matters while it is made."""
    made_with: str = ""
    """What the address needs after the ``?`` to create it."""
    method: str = "PATCH"
    """How it is changed."""
    changed_at: str = ""
    """Where it is changed, below its address."""
    deleted_below: str = ""
    """What its address ends with where it is read, and not where it is deleted."""
    changed_with: str = "reason=why"
    deleted_with: str = "reason=why"
    needs_match: bool = True
    """Whether it is deleted only as it was read."""
    personal: bool = False
    """Whether nobody but who created it sees it."""
    shown: Mapping[str, Any] = field(default_factory=dict)
    """What is read of it beside what was sent."""

    def __str__(self) -> str:
        return self.made_by


LIVES = [
    Life(
        "connect_cluster",
        "/api/v1/clusters",
        {"name": "west", "kubeconfig": "{kubeconfig}"},
        changes=({"evictions_per_pass": 3}, {"evictions_per_pass": 4}),
        unread=frozenset({"kubeconfig"}),
        changed_at="/settings",
        needs_match=False,
    ),
    Life(
        "create_comparison",
        f"{_EAST}/comparisons",
        {"sides": [{"tree": "current"}, {"tree": "revision:1", "policy": "priority"}], "since": "2026-01-05T12:00:00Z"},
        unread=frozenset({"sides"}),
        deleted_with="",
        needs_match=False,
    ),
    Life(
        "create_priority_class",
        f"{_EAST}/priority-classes",
        {"name": "urgent", "value": 900, "description": "first"},
        changes=({"description": "second"}, {"description": "third"}),
        made_with="reason=why",
    ),
    Life(
        "create_saved_filter",
        f"{_EAST}/saved-filters",
        {"name": "preempted", "query": "queue=root.test"},
        changes=({"name": "held"}, {"query": "queue=root.prod"}),
        personal=True,
        changed_with="",
        deleted_with="",
        needs_match=False,
    ),
    Life("create_snapshot", f"{_EAST}/snapshots", {"name": "before"}, deleted_with="", needs_match=False),
    Life(
        "upload_snapshot",
        f"{_EAST}/snapshots/upload",
        {"apiVersion": "v1", "kind": "List", "items": [NODE]},
        unread=frozenset({"apiVersion", "kind", "items"}),
        made_with="name=elsewhere",
        deleted_with="",
        needs_match=False,
        shown={"name": "elsewhere", "nodes": 1, "uploaded": True},
    ),
    Life(
        "create_group_mapping",
        "/api/v1/group-mappings",
        {"group": "/team/red", "role": "editor", "tenant": "red"},
        changes=({"role": "tenant", "tenant": "red"}, {"role": "auditor", "tenant": None}),
        made_with="reason=why",
        needs_match=False,
    ),
    Life(
        "create_draft",
        f"{_MAIN}/drafts",
        {"name": "more room"},
        changes=({"name": "less room"}, {"name": "more again"}),
        changed_with="",
        deleted_with="",
    ),
    Life(
        "import_draft",
        f"{_MAIN}/drafts/import",
        SMALL,
        changes=({"name": "less room"}, {"name": "more again"}),
        unread=frozenset({"queues"}),
        made_with="name=elsewhere",
        changed_with="",
        deleted_with="",
        shown={"name": "elsewhere"},
    ),
    Life(
        "restore_queue",
        f"{_MAIN}/revisions/2/restore",
        {"queue": "root.batch"},
        changes=({"name": "less room"}, {"name": "more again"}),
        unread=frozenset({"queue"}),
        changed_with="",
        deleted_with="",
    ),
    *(
        Life(
            made_by,
            "/api/v1/hierarchies/next/tree",
            SMALL,
            changes=(_OTHER, _OTHERS),
            made_with="reason=why",
            method="PUT",
            deleted_below="/tree",
        )
        for made_by in ("create_tree", "replace_tree")
    ),
    Life(
        "create_notification_channel",
        "/api/v1/notification-channels",
        _CHANNEL,
        changes=({"enabled": False}, {"name": "pager", "daily_digest": True}),
        unread=frozenset({"address"}),
        shown={"destination": "hooks.example.com"},
        changed_with="",
        deleted_with="",
    ),
    Life(
        "create_pause",
        "/api/v1/pauses",
        {"cluster": "east", "queue": "root.test", "reason": "maintenance", "until": "2026-01-06T12:00:00Z"},
        changes=({"until": "2026-01-07T12:00:00Z"}, {"until": None, "reason": "longer"}),
        needs_match=False,
    ),
    Life(
        "create_tenant",
        "/api/v1/tenants",
        {"name": "blue", "namespaces": ["blue"], "subtrees": ["root.blue"]},
        changes=({"namespaces": ["blue", "blue-dev"]}, {"namespaces": []}),
        made_with="reason=why",
    ),
    Life(
        "create_token",
        "/api/v1/tokens",
        {"name": "plans", "scopes": ["tree:plan"], "subtree": "root.test", "lifetime_days": 30},
        unread=frozenset({"lifetime_days"}),
        needs_match=False,
    ),
    Life(
        "create_user",
        "/api/v1/users",
        _USER,
        changes=({"email": "erin@example.com"}, {"role": "auditor", "memberships": []}),
        unread=frozenset({"password"}),
        made_with="reason=why",
    ),
    Life(
        "create_workload_identity",
        "/api/v1/workload-identities",
        {
            "name": "queues",
            "service_account": "ci",
            "issuer": "https://token.actions.githubusercontent.com",
            "audience": "https://scheduler.example.com",
            "claims": {"sub": "repo:example/queues:ref:refs/heads/main"},
            "scopes": ["tree:write"],
            "subtree": "root.test",
        },
        changes=({"claims": {"repository": "example/*", "ref": "refs/heads/main"}}, {"subtree": "", "name": "trees"}),
        made_with="reason=why",
    ),
    Life(
        "create_window",
        "/api/v1/windows",
        _WINDOW,
        changes=({"weekdays": ["sun"]}, {"end_time": "07:00:00", "reason": "longer"}),
        needs_match=False,
    ),
]
"""A new operation that answers 201 needs an entry here."""
