"""What the demo begins with: people, a tenant, a token, the tree, the cluster."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.accounts.services import create_token
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.services import add_cluster
from scheduler_admin.demo.environment import BASE, CLUSTER
from scheduler_admin.queues.services import import_yunikorn

TREE = BASE / "demo" / "queues.yaml"


@dataclass(frozen=True)
class Login:
    """A name and a password, printed once."""

    name: str
    password: str


@dataclass(frozen=True)
class Seed:
    """What was made, for the welcome."""

    admin: Login
    tenant: Login
    token: str
    cluster: Cluster


def seed(kubeconfig: Path) -> Seed:
    """Fill an empty database. The tree goes through the same import as any user's."""
    admin = _user("admin", User.Role.ADMIN)
    tenant = _user("search", User.Role.TENANT)
    search, _ = Tenant.objects.get_or_create(
        name="Search", defaults={"namespaces": ["search"], "subtrees": ["root.tenant-1.queue-b"]}
    )
    User.objects.get(username=tenant.name).tenants.add(search)
    author = User.objects.get(username=admin.name)
    _, token = create_token(user=author, name="demo")
    text = TREE.read_text(encoding="utf-8")
    revision, _notes = import_yunikorn(hierarchy=CLUSTER, text=text, author=author, reason="The demo's tree")
    cluster = add_cluster(name=CLUSTER, hierarchy=revision.hierarchy, kubeconfig=str(kubeconfig), actor=author)
    return Seed(admin=admin, tenant=tenant, token=token, cluster=cluster)


def _user(name: str, role: User.Role) -> Login:
    password = f"{name}-{secrets.token_hex(3)}"
    User.objects.create_user(username=name, password=password, role=role)
    return Login(name, password)
