"""Every setting of a queue goes its whole way: typed in the editor, published, shown, sent, written and read."""

import pytest
from django.test import Client
from django.utils.text import capfirst
from rest_framework.test import APIClient

from engine.formats import registry
from engine.formats.registry import Format
from engine.formats.tree_json.canonical import decode_tree, encode_tree
from engine.model.queue_settings import SETTINGS, TEMPLATE_SETTINGS, Kind, QueueSetting
from engine.model.queue_tree import QueueTree, Settings
from scheduler_admin.accounts.models import User
from scheduler_admin.accounts.services.tokens import create_token
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts.selectors import state
from scheduler_admin.queues.drafts.tree_document import text_of
from scheduler_admin.queues.models import Draft, Hierarchy
from scheduler_admin.queues.presenters.setting_words import setting_name
from scheduler_admin.queues.services.hierarchies import tree_of
from scheduler_admin.queues.services.imports import import_draft
from tests.api import settings_table
from tests.pages.queues.drafts import page, row, send, started, texts

LEAF, PARENT = "root.tenant-2.queue-1", "root.tenant-2"
NAMES = ("lab-9", "root.before")
"""Names that namespaces, and paths that queues, may have."""


@pytest.fixture
def draft(ada: Client, demo: Cluster) -> Draft:
    """Ada's, nothing changed yet."""
    return started(demo)


def typed(setting: QueueSetting) -> tuple[str, str]:
    """What drafts call a setting, and a text that sets it to anything but its default."""
    match setting.kind:
        case Kind.AMOUNTS:
            return f"{setting.typed_as}/memory", "1Gi"
        case Kind.NAMES:
            assert setting.is_allowed is not None
            return setting.typed_as, next(name for name in NAMES if setting.is_allowed(name))
        case Kind.CHOICE:
            return setting.typed_as, str(setting.values[-1])
        case _:
            texts = {Kind.DURATION: "45s", Kind.INTEGER: "7", Kind.FLAG: "true", Kind.WEIGHT: "2.5"}
            return setting.typed_as, texts[setting.kind]


def save(client: Client, draft: Draft, path: str, name: str, text: str) -> None:
    """Type a setting in the editor, by the form that needs no script."""
    queue = row(draft, path.rpartition(".")[2])
    was = text_of(queue, name)
    assert send(client, draft, "edit", {"row": queue.pk, name: text, f"was:{name}": was}).status_code == 302
    html = client.get(page(draft, f"?queue={queue.pk}")).content.decode()
    assert f'id="f{queue.pk}-{name}"' in html


def publish(client: Client, draft: Draft) -> QueueTree:
    """Put it in force by its page."""
    draft.refresh_from_db()
    send(client, draft, "publish", {"version": draft.version, "reason": "to try"})
    return in_force()


def in_force() -> QueueTree:
    """The tree of the cluster."""
    hierarchy = Hierarchy.objects.get(name="demo")
    assert hierarchy.current is not None
    return tree_of(hierarchy.current)


def reader() -> APIClient:
    """A client of REST that reads everything."""
    _token, plaintext = create_token(user=User.objects.get(username="ada"), name="test")
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {plaintext}")


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: one.name)
def test_a_setting_goes_its_whole_way(ada: Client, draft: Draft, setting: QueueSetting) -> None:
    """From the editor through a revision to the queue's page, REST and documents, and back into a draft."""
    name, text = typed(setting)
    save(ada, draft, LEAF, name, text)
    tree = publish(ada, draft)
    assert setting.is_set(tree[LEAF])
    assert decode_tree(encode_tree(tree))[LEAF] == tree[LEAF]

    shown = texts(ada.get(f"/clusters/demo/queues/{LEAF}/").content.decode())
    assert setting.has_column or capfirst(setting_name(name)) in shown or setting.name == "priority_offset"

    given = reader().get("/api/v1/hierarchies/demo/tree").json()["queues"]
    own = next(queue for queue in given if queue["path"] == LEAF)
    assert setting.name in own
    everything_written_is_read(tree, LEAF, setting)


@pytest.mark.parametrize("setting", TEMPLATE_SETTINGS, ids=lambda one: one.name)
def test_a_setting_of_a_template_goes_its_whole_way(ada: Client, draft: Draft, setting: QueueSetting) -> None:
    """Likewise."""
    name, text = typed(setting)
    save(ada, draft, PARENT, f"template/{name}", text)
    tree = publish(ada, draft)
    template = tree[PARENT].template
    assert template is not None
    assert setting.is_set(template)
    given = reader().get("/api/v1/hierarchies/demo/tree").json()["queues"]
    own = next(queue for queue in given if queue["path"] == PARENT)
    assert [*own["template"]] == [setting.name]
    everything_written_is_read(tree, PARENT, setting)


def everything_written_is_read(tree: QueueTree, path: str, setting: QueueSetting) -> None:
    """Every format that keeps all settings gives the same back, and a draft of it changes nothing."""
    for form in (Format.SCHEDULER_ADMIN, Format.YUNIKORN, Format.KUEUE):
        text = registry.write(form, "", tree).text
        imported = registry.read(text, form)
        assert value(imported.tree, path, setting) == value(tree, path, setting), text
        if form is not Format.KUEUE:  # where whom a leaf may preempt is always said
            made = import_draft(
                hierarchy=Hierarchy.objects.get(name="demo"),
                imported=imported,
                text=text,
                name=str(form),
                author=User.objects.get(username="ada"),
            )
            assert state(made).changes == ()


def value(tree: QueueTree, path: str, setting: QueueSetting) -> object:
    """What a queue, and its template, say of a setting."""
    held: list[Settings | None] = [tree[path], tree[path].template if setting.in_template else None]
    return [setting.of(one) for one in held if one is not None]


def test_the_documentation_has_the_table_of_settings() -> None:
    """`python -m tests.api.settings_table` writes it."""
    assert settings_table.documented() == settings_table.table()
