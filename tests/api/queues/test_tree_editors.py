"""An editor of a subtree sends it alone, and changes what is below its top."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from scheduler_admin.accounts.models import Tenant
from scheduler_admin.accounts.services.users import create_user
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Queue
from tests.api.builders import CANARY, RED
from tests.api.conftest import client_of
from tests.api.sending import YAML, errors, own_form, plan, put, queue_of, revisions

TOP = "root.red"


@pytest.fixture
def eve(cluster: Cluster, red: Tenant) -> APIClient:
    """Editor of red."""
    return client_of(create_user(username="eve", edits=[red]), scopes=["tree:write"])


def in_force() -> dict[str, Any]:
    """Path -> guaranteed and delay of every queue now."""
    rows = Queue.objects.filter(revision__number=max(revisions()), revision__hierarchy__name="prod-tree")
    return {row.path: (row.own.guaranteed, row.own.delay_ms, row.own.namespaces) for row in rows}


def test_what_an_editor_reads_is_sent_back_with_a_change(eve: APIClient) -> None:
    """The part alone; everything else stays, to the byte."""
    before, form = in_force(), own_form(eve)
    queue_of(form, RED)["delay"] = "6s"
    form["queues"].append({"path": "root.red.night", "max": {"cpu": "1"}})
    planned = plan(eve, form, subtree=TOP)
    assert (planned.status_code, [row["queue"] for row in planned.json()["changes"]]) == (200, [RED, "root.red.night"])
    done = put(eve, form, match=planned["ETag"], subtree=TOP)
    assert (done.status_code, revisions()) == (200, [1, 2])
    after = in_force()
    assert after.pop("root.red.night")
    assert after == before | {RED: (before[RED][0], 6000, before[RED][2])}


def test_the_top_is_given_from_above(eve: APIClient) -> None:
    """The error stands at the queue; nothing is published."""
    form = own_form(eve)
    queue_of(form, TOP)["guaranteed"] = {"cpu": "99"}
    response = put(eve, form, match="*", subtree=TOP)
    assert response.status_code == 403
    assert {"pointer": "/queues/0", "queue": TOP} in errors(response)
    assert "root.red" in response.json()["detail"]
    assert revisions() == [1]


def test_more_than_the_top_has_is_refused_at_its_place(eve: APIClient) -> None:
    """At the amount."""
    form = own_form(eve)
    queue_of(form, RED)["guaranteed"]["cpu"] = "9"
    response = put(eve, form, match="*", subtree=TOP)
    assert (response.status_code, errors(response)) == (403, [{"pointer": "/queues/1/guaranteed/cpu", "queue": RED}])


def test_a_part_holds_nothing_else(eve: APIClient) -> None:
    """Neither another's queue, as if it were new, nor placement rules, nor a queues.yaml."""
    form = own_form(eve)
    form["queues"].append({"path": "root.blue"})
    response = put(eve, form | {"placement": []}, match="*", subtree=TOP)
    assert (response.status_code, errors(response)) == (
        422,
        [{"pointer": "/placement"}, {"pointer": "/queues/2", "queue": "root.blue"}],
    )
    assert put(eve, YAML, match="*", subtree=TOP).status_code == 400


@pytest.mark.parametrize("subtree", ["root.blue", "root.nothing", "root"])
def test_anothers_subtree_is_as_if_it_were_not(eve: APIClient, subtree: str) -> None:
    """What one does not see can't be told from what there is not."""
    response = put(eve, own_form(eve), match="*", subtree=subtree)
    assert (response.status_code, errors(response)) == (400, [{"parameter": "subtree"}])


def test_without_the_word_the_document_is_the_whole_tree(eve: APIClient) -> None:
    """Which an editor can't send, as it would take the others away; those are not named."""
    response = put(eve, {"queues": [{"path": "root"}, *own_form(eve)["queues"]]}, match="*")
    assert (response.status_code, {"pointer": "/queues"} in errors(response)) == (403, True)
    assert "blue" not in response.content.decode()


def test_namespaces_that_an_editor_does_not_see_are_kept(eve: APIClient, ada: APIClient) -> None:
    """Ada let another tenant's namespace run in red's leaf."""
    form = own_form(ada)
    queue_of(form, RED)["namespaces"] = ["red", "canary-ns-2"]
    put(ada, form, match="*")
    mine = own_form(eve)
    assert CANARY not in str(mine)
    queue_of(mine, RED)["delay"] = "9s"
    done = put(eve, mine, match="*", subtree=TOP)
    assert (done.status_code, CANARY in done.content.decode()) == (200, False)
    assert in_force()[RED][1:] == (9000, ("red", "canary-ns-2"))


def test_a_plan_says_nothing_of_others(eve: APIClient) -> None:
    """Of lint, what is about the own queues."""
    form = own_form(eve)
    queue_of(form, RED)["delay"] = "6s"
    answer = plan(eve, form, subtree=TOP)
    assert {row["queue"] for row in answer.json()["findings"]} <= {TOP, RED}
    assert CANARY not in answer.content.decode()
    assert "blue" not in answer.content.decode()


def test_a_tenant_of_it_plans_and_changes_nothing(cluster: Cluster, red: Tenant) -> None:
    """Reading is not writing."""
    tom = client_of(create_user(username="tom", tenants=[red]), scopes=["tree:write"])
    assert put(tom, own_form(tom), match="*", subtree=TOP).status_code == 403


def test_an_admin_may_send_a_part_too(ada: APIClient, cluster: Cluster) -> None:
    """Its top included."""
    form = {"queues": [one for one in own_form(ada)["queues"] if one["path"].startswith(TOP)]}
    queue_of(form, TOP)["max"] = {"cpu": "50"}
    response = put(ada, form, match="*", subtree=TOP)
    assert (response.status_code, [row["queue"] for row in response.json()["changes"]]) == (200, [TOP])
