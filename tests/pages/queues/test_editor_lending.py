"""How a queue lends and takes is typed, told, undone and published as any other setting."""

import pytest
from django.test import Client

from engine.model.queue_tree import WEIGHT_ONE, Take
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft, Queue
from scheduler_admin.queues.services.hierarchies import tree_of
from tests.pages.queues.drafts import page, row, send, started, texts

pytestmark = pytest.mark.django_db
RULES = {
    "weight": "2",
    "lendable/cpu": "40",
    "take_within": "LowerPriority",
    "take_reclaim": "Any",
    "take_borrowing": "false",
    "take_threshold": "0",
}


@pytest.fixture
def draft(ada: Client, demo: Cluster) -> Draft:
    """Ada's, nothing changed yet."""
    return started(demo)


def unfolded(client: Client, draft: Draft, name: str) -> str:
    """The page with the details of a queue."""
    return client.get(f"{page(draft)}?queue={row(draft, name).pk}").content.decode()


def typed(client: Client, draft: Draft, name: str, **settings: str) -> None:
    """Save settings of a queue by its plain form."""
    form = {"row": row(draft, name).pk} | settings | {f"was:{setting}": "" for setting in settings}
    send(client, draft, "edit", form)


def test_each_setting_says_what_it_does_where_it_is_typed(ada: Client, draft: Draft) -> None:
    """Of a leaf all; of a queue that holds queues not whom it preempts; of the root nothing, until something is set."""
    html = unfolded(ada, draft, "queue-b")
    for sentence in (
        "With 0, borrowed quota is claimed back first.",
        "Which pods of the queue itself its pending pods can preempt.",
    ):
        assert sentence in texts(html)
    assert all(f'name="{setting}"' in html for setting in RULES)
    parent, root = unfolded(ada, draft, "tenant-1"), unfolded(ada, draft, "root")
    assert ('name="weight"' in parent, 'name="take_within"' in parent, 'name="weight"' in root) == (True, False, False)
    typed(ada, draft, "root", weight="3")
    assert 'name="weight"' in unfolded(ada, draft, "root")


def test_what_is_typed_is_told_in_words_and_published(ada: Client, draft: Draft) -> None:
    """With the page of the queue, and the queue's row."""
    typed(ada, draft, "queue-b", **RULES)
    said = texts(ada.get(page(draft)).content.decode())
    for sentence in (
        "root.tenant-1.queue-b : weight 1 → 2",
        "root.tenant-1.queue-b : lendable cpu set to 40",
        "root.tenant-1.queue-b : take borrowing set to false",
        "root.tenant-1.queue-b : take threshold set to 0",
    ):
        assert sentence in said
    form = {"reason": "to lend", "version": Draft.objects.get().version}
    send(ada, draft, "publish", form)
    demo = Cluster.objects.get(name="demo")
    assert demo.hierarchy is not None
    assert demo.hierarchy.current is not None
    queue = tree_of(demo.hierarchy.current)["root.tenant-1.queue-b"]
    assert (queue.weight, queue.lendable) == (2 * WEIGHT_ONE, {"cpu": 40_000})
    assert (queue.take_within, queue.take_reclaim) == (Take.LOWER_PRIORITY, Take.ANY)
    assert (queue.take_borrowing, queue.take_threshold) == (False, 0)
    stored = Queue.objects.get(revision=demo.hierarchy.current, path="root.tenant-1.queue-b")
    assert (stored.own.weight, stored.own.take_within, stored.own.take_borrowing) == (
        2 * WEIGHT_ONE,
        "LowerPriority",
        False,
    )
    shown = texts(ada.get("/clusters/demo/queues/root.tenant-1.queue-b/").content.decode())
    for line in ("Weight 2 this queue", "Lendable cpu 40 this queue", "Preempts other queues any pod this queue"):
        assert line in shown


def test_what_is_wrong_is_said_at_its_field(ada: Client, draft: Draft) -> None:
    """As it is typed; nothing else is lost."""
    typed(ada, draft, "queue-b", **{"weight": "much", "lendable/cpu": "10%", "take_threshold": "high"})
    html = unfolded(ada, draft, "queue-b")
    for sentence in (
        "weight: much is not a valid weight. Enter a number such as 2 or 0.5.",
        "lendable cpu: Percentages are not allowed here. Enter an amount.",
        "highest priority preempted while borrowing: high is not a 32-bit integer.",
    ):
        assert sentence in html
    assert html.count('aria-invalid="true"') == 3


def test_an_act_on_them_is_undone(ada: Client, draft: Draft) -> None:
    """And done again."""
    typed(ada, draft, "queue-b", take_borrowing="true")
    send(ada, draft, "undo", {})
    assert row(draft, "queue-b").settings.get("take_borrowing", "") == ""
    send(ada, draft, "redo", {})
    assert row(draft, "queue-b").settings.get("take_borrowing", "") == "true"
