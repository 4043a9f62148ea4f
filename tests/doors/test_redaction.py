"""What a victim's tenant learns of the preemptor, wherever it looks: as much as the site tells, to the letter."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from engine.explain import Tense, victim_sentence
from engine.planning.forecast import EvictionGroup
from scheduler_admin.accounts.scopes import EVERYTHING, Scope
from scheduler_admin.accounts.services.site import change_site
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.services.latest import keep_last
from scheduler_admin.worker.acting.pod_messages import told_victim
from tests.api.builders import BLUE, NOW, cluster, decision, red_pod, red_tenant
from tests.api.builders import _pod as pod_of

pytestmark = pytest.mark.django_db
QUEUE, UID, NAME = "blue", "uid-canary-asker", "canary-asker"
LEVELS = [("none", set()), ("queue", {QUEUE}), ("uid", {QUEUE, UID}), ("name", {QUEUE, UID, NAME, "canary-ns"})]
PAGES = (
    "/pods/",
    "/pods/?q=red-pod",
    "/pods/prod/red/red-pod/",
    "/clusters/prod/queues/",
    "/clusters/prod/queues/root.red.batch/",
    "/clusters/prod/queues/root.red.batch/usage.json",
    "/clusters/prod/fences/",
    "/clusters/prod/fences.svg",
)
ROUTES = ("/api/v1/clusters/prod/decisions", "/api/v1/decisions/1")


@pytest.fixture(autouse=True)
def _noon(settings: Any) -> Any:
    settings.SECURE_SSL_REDIRECT = False
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def prod() -> Cluster:
    """Blue's ask took red's pod. No other word of the page begins like blue's names."""
    made = cluster()
    asker = pod_of(NAME, namespace="canary-ns", queue=BLUE, application="canary-application")
    row = decision(made, ask=asker, victims=(red_pod(),), pk=1, state=Decision.State.CLOSED)
    Victim.objects.filter(decision=row).update(
        state=Victim.State.EXITED, evicted_at=NOW - timedelta(minutes=9), gone_at=NOW - timedelta(minutes=8)
    )
    keep_last([row])
    return made


@pytest.fixture
def alice(prod: Cluster) -> Client:
    """Of the victim's tenant."""
    client = Client()
    client.force_login(create_user(username="alice", tenants=[red_tenant()]))
    return client


def heard(answer: Any) -> set[str]:
    """Which of the preemptor's names an answer holds. A UID holds the name: it is taken out first."""
    text = f"{answer.headers}{answer.content.decode()}"
    found = {UID} if UID in text else set()
    text = text.replace(UID, "")
    return found | {name for name in (QUEUE, NAME, "canary-ns", "canary-application") if name in text}


@pytest.mark.parametrize(("level", "told"), LEVELS)
def test_no_answer_says_more_than_the_site_tells(alice: Client, level: str, told: set[str]) -> None:
    """Neither pages, nor their own refresh, nor the API."""
    change_site(preemptor=level, reason="a test")
    for address in (*PAGES, *ROUTES):
        for headers in ({}, {"HX-Request": "true"}):
            answer = alice.get(address, headers=headers)
            assert answer.status_code == 200, address
            assert heard(answer) <= told, address


@pytest.mark.parametrize(("level", "told"), LEVELS)
def test_what_is_told_is_there(alice: Client, level: str, told: set[str]) -> None:
    """On the victim's page and by REST; so the test above can fail."""
    change_site(preemptor=level, reason="a test")
    assert heard(alice.get("/pods/prod/red/red-pod/")) >= told - {QUEUE}
    assert (QUEUE in heard(alice.get("/pods/"))) is (QUEUE in told)
    for address in ROUTES:
        assert heard(alice.get(address)) == told, address
    ask = alice.get(ROUTES[1]).json()["pending_pod"]
    assert ask["redacted"] is True
    assert (ask["application"], ask["priority"], ask["requests"]) == (None, None, None)


def test_a_list_and_a_plot_name_the_queue_or_nothing(alice: Client) -> None:
    """Where it stands in the tree, and on the usage over time."""
    for level, there in (("queue", True), ("none", False)):
        change_site(preemptor=level, reason="a test")
        for address in ("/clusters/prod/queues/", "/clusters/prod/queues/root.red.batch/usage.json"):
            assert (QUEUE in heard(alice.get(address))) is there, address


def test_those_who_see_everything_are_told_everything(prod: Cluster) -> None:
    """Whatever the site tells victims."""
    change_site(preemptor="none", reason="a test")
    olga = Client()
    olga.force_login(create_user(username="olga", role="operator"))
    assert {QUEUE, NAME} <= heard(olga.get("/clusters/prod/decisions/1/"))


def test_ones_own_ask_is_never_hidden(prod: Cluster) -> None:
    """To the preemptor's own tenant it is no other's."""
    change_site(preemptor="none", reason="a test")
    row = Decision.objects.get()
    own = Scope(namespaces=frozenset({"canary-ns"}))
    assert Redaction.of(own).preemptor(row).name == NAME


def test_a_queue_that_one_sees_anyway_is_named(prod: Cluster) -> None:
    """Its name is no news."""
    change_site(preemptor="none", reason="a test")
    neighbour = Scope(namespaces=frozenset({"other"}), subtrees=frozenset({BLUE}))
    told = Redaction.of(neighbour).preemptor(Decision.objects.get())
    assert (told.queue, told.uid, told.name) == (BLUE, "", "")


@pytest.mark.parametrize(("level", "told"), LEVELS)
@pytest.mark.parametrize("policy", ["fence", "priority"])
def test_events_on_a_victim_say_no_more(prod: Cluster, level: str, told: set[str], policy: str) -> None:
    """Whoever may describe the pod reads them."""
    change_site(preemptor=level, reason="a test")
    Decision.objects.update(policy=policy, ask_priority=4711)
    row = Decision.objects.get()
    said = told_victim(row, row.victims.get(), "https://site/")
    names = {UID} if UID in said else set()
    plain = said.replace(UID, "")
    names |= {name for name in (QUEUE, NAME, "canary-ns") if name in plain}
    assert names <= told
    assert "4711" not in said
    if level == "name":
        assert f"The room is needed for pod {NAME} in namespace canary-ns (UID {UID})." in said
    if level == "uid":
        assert f"with UID {UID}" in said


@pytest.mark.parametrize("tense", list(Tense))
def test_every_sentence_has_a_form_without_the_queue(tense: Tense, prod: Cluster) -> None:
    """It holds what it has to all the same."""
    from scheduler_admin.decisions.selectors.decisions import read  # noqa: PLC0415 - the row's own decision

    found = read(Decision.objects.get())
    assert found is not None
    message = victim_sentence(found, "uid-red-pod", tense, discloses_queue=False)
    assert "asker" not in message.params
    assert QUEUE not in str(message)


def test_a_forecast_says_no_more_either(prod: Cluster) -> None:
    """Of an editor's own pods, for which queue they would go."""
    group = EvictionGroup(
        asker_queue=BLUE, queue="root.red", namespace="red", application="etl", node="n1", first=1, later=0
    )
    red = Scope(namespaces=frozenset({"red"}), subtrees=frozenset({"root.red"}))
    change_site(preemptor="none", reason="a test")
    assert [one.asker_queue for one in Redaction.of(red).groups([group])] == [""]
    assert [one.asker_queue for one in Redaction.of(EVERYTHING).groups([group])] == [BLUE]
    change_site(preemptor="queue", reason="a test")
    assert [one.asker_queue for one in Redaction.of(red).groups([group])] == [BLUE]
