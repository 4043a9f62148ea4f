"""Drafts of the fence example's tree, and what their page says."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from django.test import Client

from engine.model.queue_tree import QueueTree
from scheduler_admin.accounts.models import User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.drafts.terms import set_term
from scheduler_admin.queues.drafts.tree_document import text_of
from scheduler_admin.queues.models import Draft, DraftQueue, Revision
from scheduler_admin.queues.services.hierarchies import publish, tree_of

SCRIPT = {"accept": "application/json"}
"""What a request of the page's own script says that it takes."""


def started(cluster: Cluster, name: str = "Room for vision", by: str = "ada") -> Draft:
    """A draft of the tree in force."""
    assert cluster.hierarchy is not None
    return edits.start(hierarchy=cluster.hierarchy, name=name, author=User.objects.get(username=by))


def row(draft: Draft, name: str) -> DraftQueue:
    """The queue of that name."""
    return draft.queues.get(name=name)


def page(draft: Draft, rest: str = "") -> str:
    """An address of a draft of the cluster ``demo``."""
    return f"/clusters/demo/drafts/{draft.pk}/{rest}"


def edited(draft: Draft, name: str, setting: str, text: str, by: str = "ada") -> None:
    """Type a setting over what it says."""
    queue = row(draft, name)
    was = text_of(queue, setting)
    actor = User.objects.get(username=by)
    edits.edit(draft=draft, row=queue.pk, setting=setting, text=text, was=was, actor=actor)


def decided(draft: Draft, setting: str, text: str, by: str = "ada") -> None:
    """Choose how it decides."""
    draft.refresh_from_db()
    actor = User.objects.get(username=by)
    set_term(draft=draft, setting=setting, text=text, was=text_of(draft, setting), actor=actor)


def send(
    client: Client, draft: Draft, act: str, form: Mapping[str, Any], *, script: bool = False, query: str = ""
) -> Any:
    """Send a form of the draft's page."""
    return client.post(page(draft, f"{act}/{query}"), dict(form), headers=SCRIPT if script else {})


def publish_another(cluster: Cluster, path: str, **amounts: dict[str, int]) -> Revision:
    """Somebody publishes another tree meanwhile, in which one queue is guaranteed or limited otherwise."""
    assert cluster.hierarchy is not None
    cluster.hierarchy.refresh_from_db()
    assert cluster.hierarchy.current is not None
    tree = tree_of(cluster.hierarchy.current)
    changed = [
        msgspec.structs.replace(queue, **(amounts if queue.path == path else {})) for queue in tree.queues.values()
    ]
    return publish(hierarchy=cluster.hierarchy, tree=QueueTree(changed), author=None, reason="more for them")


def texts(html: str) -> str:
    """A page's text, without its marks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
