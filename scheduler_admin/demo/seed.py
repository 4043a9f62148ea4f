"""What the demo begins with: people, a tenant, a token, the tree, the cluster."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.tenants import create_tenant
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.services import add_cluster
from scheduler_admin.demo.environment import BASE, CLUSTER
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.imports import import_tree
from scheduler_admin.sync.services import place

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
    hierarchy: Hierarchy


def seed() -> Seed:
    """Fill an empty database. The tree goes through the same import as any user's."""
    admin, tenant = _login("admin"), _login("vision")
    author = create_user(username=admin.name, password=admin.password, role=User.Role.ADMIN)
    vision = create_tenant(name="Vision", namespaces=["vision"], subtrees=["root.tenant-1.training"], actor=author)
    create_user(username=tenant.name, password=tenant.password, tenants=[vision], actor=author)
    _, token = create_token(user=author, name="demo")
    text = TREE.read_text(encoding="utf-8")
    revision, _notes = import_tree(hierarchy=CLUSTER, text=text, author=author, reason="Queue tree of the demo")
    return Seed(admin=admin, tenant=tenant, token=token, hierarchy=revision.hierarchy)


def seed_cluster(seeded: Seed, kubeconfig: Path) -> Cluster:
    """Add the simulated cluster, which has a copy of the tree where YuniKorn would keep it."""
    actor = User.objects.get(username=seeded.admin.name)
    cluster = add_cluster(name=CLUSTER, hierarchy=seeded.hierarchy, kubeconfig=str(kubeconfig), actor=actor)
    place(cluster=cluster, namespace="yunikorn", actor=actor, reason="ConfigMap of the demo")
    return cluster


def _login(name: str) -> Login:
    return Login(name, secrets.token_urlsafe(9))
