"""How a draft decides, on its page: its choices, what is wrong with one, and whose it is to choose."""

import re

import pytest
from django.test import Client

from engine.policies import known_dialects, parameters_of
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Draft
from scheduler_admin.queues.presenters.setting_words import setting_name
from scheduler_admin.queues.services.hierarchies import terms_of
from tests.pages.markup import squeezed
from tests.pages.queues.drafts import decided, edited, page, row, send, started, texts

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(ada: Client, demo: Cluster) -> Draft:
    """Ada's, nothing changed yet."""
    return started(demo)


def choose(client: Client, draft: Draft, setting: str, text: str, was: str = "", *, script: bool = False) -> int:
    """Choose it in the page's form."""
    form = {"row": "draft", setting: text, f"was:{setting}": was}
    return int(send(client, draft, "edit", form, script=script).status_code)


def section(client: Client, draft: Draft) -> str:
    """The part of the page that says how it decides."""
    return client.get(page(draft)).content.decode().partition('id="draft-terms"')[2].partition("</section>")[0]


def test_each_choice_stands_with_what_it_means(ada: Client, draft: Draft) -> None:
    """Whether it only explains what others do is said with it."""
    html = section(ada, draft)
    for setting in ("policy", "dialect", "parameters/last_resort", "parameters/check_delay"):
        assert f'id="f0-{setting}" name="{setting}" data-setting' in html
    assert '<option value="deserved">deserved</option>' in html
    assert '<option value="yunikorn">yunikorn (explanation only, can&#x27;t be enforced)</option>' in html
    assert "Which pending pods can preempt pods that opted out of preemption" in texts(html)


@pytest.mark.parametrize(
    ("policy", "dialect"), [(name, dialect) for name, dialects in known_dialects().items() for dialect in dialects]
)
def test_every_parameter_of_every_policy_has_its_words(ada: Client, draft: Draft, policy: str, dialect: str) -> None:
    """A name, and what it means."""
    draft.policy, draft.dialect = policy, dialect
    draft.save()
    html = section(ada, draft)
    for one in parameters_of(policy, dialect):
        assert f'name="parameters/{one.name}"' in html
        assert setting_name(f"parameters/{one.name}") != one.name


def test_what_is_chosen_is_told_and_published(ada: Client, demo: Cluster, draft: Draft) -> None:
    """In the diff in words, what it was beside the field; without a script as well."""
    assert choose(ada, draft, "policy", "priority", "fence") == 302
    said = texts(ada.get(page(draft)).content.decode())
    assert "policy fence → priority" in said
    assert "dialect design → kube-scheduler" in said
    assert "was fence" in said
    assert "last resort" not in texts(section(ada, draft))
    draft.refresh_from_db()
    send(ada, draft, "publish", {"version": draft.version, "reason": "by priority"})
    demo.hierarchy.refresh_from_db()
    assert terms_of(demo.hierarchy.current)[:2] == ("priority", "kube-scheduler")
    assert "policy fence → priority" in texts(ada.get("/clusters/demo/revisions/2/").content.decode())


def test_a_script_is_told_what_differs(ada: Client, draft: Draft) -> None:
    """The part of the page with the choice in it."""
    form = {"row": "draft", "parameters/last_resort": "any", "was:parameters/last_resort": ""}
    parts = send(ada, draft, "edit", form, script=True).json()["parts"]
    assert re.search(r'<option value="any" selected>', parts["terms"])
    assert "last resort set to any" in texts(parts["changes"])


def test_a_choice_that_can_not_be_is_an_error_at_its_field(ada: Client, draft: Draft) -> None:
    """What keeps it from being published leads there, and nothing is foretold."""
    decided(draft, "policy", "later")
    html = squeezed(ada.get(page(draft, "?forecast=1")).content.decode())
    assert 'aria-invalid="true" aria-describedby="m0-policy e0-policy"' in html
    assert 'href="#f0-policy">policy</a>' in html
    said = texts(html)
    assert "This version does not support policy later." in said.replace("&#x27;", "'")
    assert "There is no forecast because the policy is invalid." in said


def test_names_of_priority_classes_are_typed(ada: Client, demo: Cluster, draft: Draft) -> None:
    """With commas between them, and published as a list."""
    assert choose(ada, draft, "policy", "deserved", "fence") == 302
    assert '<input id="f0-parameters/high_priority"' in section(ada, draft)
    assert choose(ada, draft, "parameters/high_priority", "urgent, system") == 302
    assert 'value="urgent, system"' in section(ada, draft)
    draft.refresh_from_db()
    send(ada, draft, "publish", {"version": draft.version, "reason": "by shares"})
    demo.hierarchy.refresh_from_db()
    parameters = {"high_priority": ["urgent", "system"]}
    assert terms_of(demo.hierarchy.current) == ("deserved", "arbitrator", parameters)


def test_what_somebody_else_chose_is_not_overwritten(ada: Client, draft: Draft) -> None:
    """It is told, with what was chosen here."""
    decided(draft, "parameters/last_resort", "never")
    assert choose(ada, draft, "parameters/last_resort", "any", script=True) == 409


def test_who_only_reads_sees_words(otto: Client, draft: Draft) -> None:
    """And can't choose."""
    html = section(otto, draft)
    assert "<select" not in html
    assert "policy fence" in texts(html)
    assert choose(otto, draft, "policy", "priority", "fence") == 403


def test_a_template_is_typed_where_a_queue_is_unfolded(ada: Client, draft: Draft) -> None:
    """Of a queue that holds queues; a leaf has none."""
    tenant, leaf = row(draft, "tenant-1"), row(draft, "queue-b")
    form = {"row": tenant.pk, "template/max/cpu": "4 cores", "was:template/max/cpu": ""}
    assert send(ada, draft, "edit", form).status_code == 302
    html = ada.get(page(draft, f"?queue={tenant.pk}")).content.decode()
    assert f'id="f{tenant.pk}-template/max/cpu"' in html
    assert f'href="#n{tenant.pk}">tenant-1, template: max cpu</a>' in html
    assert "4 cores is not a valid amount." in texts(html)
    assert f"f{leaf.pk}-template" not in ada.get(page(draft, f"?queue={leaf.pk}")).content.decode()


def test_a_percentage_says_what_it_comes_to(ada: Client, draft: Draft) -> None:
    """Beside the field; it follows when the queue above it is changed."""
    queue, above = row(draft, "queue-b"), row(draft, "tenant-1")
    amount = above.settings["max/cpu"]
    form = {"row": queue.pk, "max/cpu": "25%", "was:max/cpu": queue.settings["max/cpu"]}
    html = send(ada, draft, "edit", form, script=True).json()["rows"][str(queue.pk)]
    assert f"= {int(amount) // 4}<" in html
    shown = send(ada, draft, "news", {}, script=True).json()
    digests = {pk: one.split('data-digest="')[1].partition('"')[0] for pk, one in shown["rows"].items()}
    form = {"row": above.pk, "max/cpu": "400", "was:max/cpu": amount}
    form["shown"] = " ".join(f"{pk}.{digests[str(pk)]}" for pk in shown["order"])
    assert "= 100<" in send(ada, draft, "edit", form, script=True).json()["rows"][str(queue.pk)]


def test_what_percentages_of_the_cluster_are_of_is_chosen(ada: Client, demo: Cluster, draft: Draft) -> None:
    """As it was published, or as it is now; where it is another by now, a check leads there."""
    edited(draft, "tenant-1", "max/cpu", "")
    edited(draft, "root", "max/cpu", "50%")
    published = demo.status.capacity["cpu"]
    draft.refresh_from_db()
    send(ada, draft, "publish", {"version": draft.version, "reason": "half of it"})
    demo.status.capacity["cpu"] = published * 2
    demo.status.save()
    demo.hierarchy.refresh_from_db()
    html = ada.get(page(started(demo))).content.decode()
    assert 'id="f0-capacity/cpu"' in html
    assert f"{published // 1000} (capacity at publication)" in texts(html)
    assert f"{published // 500} (current capacity)" in texts(html)
    assert 'href="#f0-capacity/cpu"' in html


def test_what_both_chose_is_put_to_the_choice_in_words(ada: Client, demo: Cluster, draft: Draft) -> None:
    """Beside what queues' settings say, and chosen in the same way."""
    decided(draft, "parameters/last_resort", "any")
    decided(draft, "placement", '[{"name": "user"}]')
    other = started(demo, "Theirs")
    decided(other, "parameters/last_resort", "never")
    decided(other, "placement", '[{"name": "provided"}]')
    other.refresh_from_db()
    send(ada, other, "publish", {"version": other.version, "reason": "theirs first"})
    send(ada, draft, "merge", {})
    said = texts(ada.get(page(draft)).content.decode())
    assert "last resort – none any" in said
    assert "placement rules – the pod&#x27;s queue label the user name" in said
    for setting in ("parameters/last_resort", "placement"):
        send(ada, draft, "choose", {"queue": "", "setting": setting, "side": "theirs"})
    draft.refresh_from_db()
    assert (draft.conflicts, draft.parameters, draft.placement) == (
        [],
        {"last_resort": "never"},
        [{"name": "provided"}],
    )
