"""What the demo begins with: people, a tenant, a token, the tree, the cluster."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.accounts.services import create_token
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.services import add_cluster
from scheduler_admin.demo.environment import BASE, CLUSTER
from scheduler_admin.queues.models import Hierarchy
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
    hierarchy: Hierarchy


def seed() -> Seed:
    """Fill an empty database. The tree goes through the same import as any user's."""
    admin = _user("admin", User.Role.ADMIN)
    tenant = _user("vision", User.Role.TENANT)
    vision = Tenant.objects.create(name="Vision", namespaces=["vision"], subtrees=["root.tenant-1.training"])
    User.objects.get(username=tenant.name).tenants.add(vision)
    author = User.objects.get(username=admin.name)
    _, token = create_token(user=author, name="demo")
    text = TREE.read_text(encoding="utf-8")
    revision, _notes = import_yunikorn(hierarchy=CLUSTER, text=text, author=author, reason="The demo's tree")
    return Seed(admin=admin, tenant=tenant, token=token, hierarchy=revision.hierarchy)


def seed_cluster(seeded: Seed, kubeconfig: Path) -> Cluster:
    """Add the simulated cluster."""
    actor = User.objects.get(username=seeded.admin.name)
    return add_cluster(name=CLUSTER, hierarchy=seeded.hierarchy, kubeconfig=str(kubeconfig), actor=actor)


def _user(name: str, role: User.Role) -> Login:
    password = f"{name}-{secrets.token_hex(3)}"
    User.objects.create_user(username=name, password=password, role=role)
    return Login(name, password)
