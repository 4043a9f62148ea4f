"""A hierarchy with a small tree, and two people who edit it."""

import pytest

from scheduler_admin.accounts.models import User
from scheduler_admin.queues.drafts.edits import start
from scheduler_admin.queues.models import Draft, Hierarchy
from scheduler_admin.queues.services.hierarchies import publish
from tests.builders import queue, tree

TREE = {
    "prod": queue({"cpu": 40}, fence=True),
    "prod.web": queue({"cpu": 10, "memory": "1Gi"}, max={"cpu": 20}, delay_ms=30_000),
    "prod.api": queue({"cpu": 10}),
    "lab": queue({"cpu": 5}, namespaces=("lab",)),
}


@pytest.fixture
def hierarchy(db: None) -> Hierarchy:
    """With TREE in force."""
    made = Hierarchy.objects.create(name="main")
    publish(hierarchy=made, tree=tree(TREE), author=None, reason="first")
    made.refresh_from_db()
    return made


@pytest.fixture
def ann(db: None) -> User:
    """One admin."""
    return User.objects.create_user("ann", role=User.Role.ADMIN)


@pytest.fixture
def bob(db: None) -> User:
    """Another."""
    return User.objects.create_user("bob", role=User.Role.ADMIN)


@pytest.fixture
def draft(hierarchy: Hierarchy, ann: User) -> Draft:
    """Ann's, nothing changed yet."""
    return start(hierarchy=hierarchy, name="More room", author=ann)
