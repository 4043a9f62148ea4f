"""Objects that nobody should have written: what can't be read is passed over and told, everything else goes on."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.db.models import CharField
from django.utils.html import escape

from engine.cluster.watching.tables import EVERY
from scheduler_admin.accounts.models import User
from scheduler_admin.decisions.models import Decision, Victim
from tests.cluster.doubles import Answer, Asked
from tests.faults.conftest import World
from tests.faults.test_faults import page
from tests.pages import rows
from tests.pages.conftest import client_of
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db
LONG = "n" * 253


def odd_pod(name: str = "odd", **changes: Any) -> dict[str, Any]:
    """A pod of Test made by hand, on a node of its own; ``spec``, ``status`` and ``metadata`` are changed as told."""
    meta = {"name": name, "namespace": "default", "uid": f"uid-{name}"[:36], "labels": {"queue": "test"}}
    container = {"name": "main", "resources": {"requests": {"cpu": "1m"}}}
    spec = {"nodeName": "n2", "containers": [container]}
    pod: dict[str, Any] = {"metadata": meta, "spec": spec, "status": {"phase": "Running"}}
    for part, values in changes.items():
        pod[part] |= values
    return pod


UNREADABLE = {
    "a quantity that is none": odd_pod(spec={"containers": [{"resources": {"requests": {"cpu": "much"}}}]}),
    "a list that is an object": odd_pod(status={"conditions": {"type": "Ready"}}),
    "a number that is a word": odd_pod(spec={"terminationGracePeriodSeconds": "soon"}),
    "a time that is a word": odd_pod(metadata={"creationTimestamp": "yesterday"}),
    "labels that are a list": odd_pod(metadata={"labels": ["queue=test"]}),
    "no name": odd_pod(name=""),
}
STRANGE = {
    "lists that are null": odd_pod(spec={"containers": None, "tolerations": None}, status={"conditions": None}),
    "a quantity beyond measure": odd_pod(spec={"containers": [{"resources": {"requests": {"cpu": "9E"}}}]}),
    "no status and no spec": {"metadata": odd_pod()["metadata"]},
    "unknown words": odd_pod(
        spec={"preemptionPolicy": "Sometimes", "restartPolicy": "Maybe", "tolerations": [{"operator": "Perhaps"}]},
        status={"phase": "Zombie", "conditions": [{"type": "Haunted", "status": "Sometimes"}]},
    ),
    "a name of 253 characters": odd_pod(name=LONG),
    "a time hours ahead": odd_pod(
        metadata={"creationTimestamp": "2199-01-01T00:00:00Z"}, status={"startTime": "2199-01-01T00:00:00Z"}
    ),
    "a time before all": odd_pod(metadata={"creationTimestamp": "0001-01-01T00:00:00Z"}),
}


def numbered(pods: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """All of them in one list: each with a name and UID of its own, if it has a name of no special kind."""
    for number, one in enumerate(pods.values()):
        own = {"name": f"odd-{number}"} if one["metadata"]["name"] == "odd" else {}
        yield one | {"metadata": one["metadata"] | own | {"uid": f"uid-odd-{number}"}}


def listed_with(world: World, path: str, *objects: dict[str, Any]) -> None:
    """From now on these stand in a list, which is read anew: in all of its parts, where several tables read it."""
    parts, read = {table.query.get("fieldSelector") for table in EVERY if table.path == path}, set[str | None]()

    listed = set[tuple[str, str | None]]()

    def edit(asked: Asked, found: dict[str, Any]) -> None:
        listed.add((asked.path, asked.query.get("fieldSelector")))
        if asked.path == path:
            found["items"] += objects
            read.add(asked.query.get("fieldSelector"))

    def begin_anew(asked: Asked, answer: Answer) -> None:
        """Until each is listed: what is said to a watch may be lost on the way."""
        if "watch" in asked.query and (asked.path, asked.query.get("fieldSelector")) not in listed:
            answer.status(410, "Expired", "too old resource version")
        else:
            world.proxy.passed_on(asked, answer)

    world.proxy.edit, world.proxy.fault = edit, begin_anew
    health = world.watch.watcher.health
    before = {one.kind: one.last_sync_at for one in health().kinds}
    wait_for(lambda: all(one.last_sync_at != before[one.kind] for one in health().kinds), "all lists are read anew")
    wait_for(lambda: parts <= read, "so are those that passes do without")
    world.proxy.fault = None
    world.well()


def test_pods_that_can_not_be_read_are_told_and_everything_else_goes_on(world: World) -> None:
    """An ask gets its room from others; staff read which object and why, a tenant does not."""
    listed_with(world, "/api/v1/pods", *numbered(UNREADABLE))
    world.add_ask()
    wait_for(lambda: world.run().error == "" and world.evicted(), "the ask gets its room")
    status = world.run()
    assert {odd["object"] for odd in status.odd} == {
        "Pod default" if case == "no name" else f"Pod default/odd-{number}" for number, case in enumerate(UNREADABLE)
    }
    html = page()
    assert f"{len(UNREADABLE)} objects can’t be read and are ignored" in html
    assert [odd["why"] for odd in status.odd if escape(odd["why"]) not in html] == []
    assert not any(name.startswith("odd") for name in world.evicted())


def test_whose_queue_is_without_preemption_for_one_is_told(world: World) -> None:
    """By name, on the page Clusters: a pod that runs in the ask's own queue can't be read, until it is gone."""
    unread = UNREADABLE["a quantity that is none"]["spec"]
    listed_with(world, "/api/v1/pods", odd_pod(metadata={"labels": {"queue": "prod"}}, spec=unread))
    world.add_ask()
    told = "No pods are preempted for root.prod, because a pod that counts toward its usage can’t be read."
    wait_for(lambda: world.run().error == "" and told in page(), "it is told")
    assert world.evicted() == []
    world.proxy.edit = None
    listed_with(world, "/api/v1/pods")
    wait_for(lambda: world.run().error == "" and world.evicted(), "the ask gets its room")
    assert told not in page()


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_clock_that_is_hours_off_stops_us_until_it_is_right(world: World, hours: int) -> None:
    """Ours or the API server's: every age would be wrong by as much."""
    world.proxy.server_ahead_s = hours * 3_600
    skew = world.watch.watcher.health
    wait_for(lambda: abs(skew().clock_skew_s or 0) > 3_000, "the clocks are compared")
    world.add_ask()
    wait_for(lambda: world.run().error == "" and Decision.objects.filter(hold="clock-skew").exists(), "it is held back")
    assert world.evicted() == []
    assert "Clock difference" in page()
    world.proxy.server_ahead_s = 0
    wait_for(lambda: world.run().error == "" and world.evicted(), "the ask gets its room")


def test_it_is_forgotten_when_it_has_healed(world: World) -> None:
    """Since when it is so stays the same meanwhile."""
    listed_with(world, "/api/v1/pods", UNREADABLE["a quantity that is none"])
    (odd,) = world.run().odd
    assert world.run().odd == [odd]
    world.proxy.edit = None
    world.add_pod("odd", "test")
    wait_for(lambda: not world.run().odd, "it is read again")
    assert "can’t be read and" not in page()


@pytest.mark.parametrize(
    ("path", "odd", "name"),
    [
        (
            "/api/v1/nodes",
            {"metadata": {"name": "bad"}, "status": {"allocatable": {"cpu": "some"}}},
            "Node bad",
        ),
        ("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "p"}, "value": "high"}, "PriorityClass p"),
        (
            "/apis/policy/v1/poddisruptionbudgets",
            {"metadata": {"name": "b", "namespace": "far"}, "status": {"disruptionsAllowed": "none"}},
            "PodDisruptionBudget far/b",
        ),
        (
            "/api/v1/events",
            {"metadata": {"name": "e", "namespace": "default"}, "message": "Preempted by a pod on node n1"},
            "Event default/e",
        ),
    ],
)
def test_so_is_every_other_kind(world: World, path: str, odd: dict[str, Any], name: str) -> None:
    """Whatever the engine reads."""
    listed_with(world, path, odd)
    wait_for(lambda: [one["object"] for one in world.run().odd] == [name], "it is told")
    world.add_ask()
    wait_for(lambda: world.run().error == "" and world.evicted(), "the ask gets its room")


def test_what_an_odd_object_may_stand_in_the_way_of_waits_until_it_can_be_read(world: World) -> None:
    """A budget that can't be read allows nothing; once it can be, or is gone, the ask gets its room."""
    budget = {"metadata": {"name": "b", "namespace": "default"}, "status": {"disruptionsAllowed": "none"}}
    listed_with(world, "/apis/policy/v1/poddisruptionbudgets", budget)
    world.add_ask()
    wait_for(
        lambda: world.run().error == "" and Decision.objects.filter(hold="disruption-budget").exists(), "it is held"
    )
    assert world.evicted() == []
    world.proxy.edit = None
    listed_with(world, "/api/v1/pods")
    wait_for(lambda: world.run().error == "" and world.evicted(), "the ask gets its room")


def test_pods_that_are_only_strange_are_read(world: World) -> None:
    """Null lists, words that we don't know, names as long as they may be, times that can't be."""
    listed_with(world, "/api/v1/pods", *numbered(STRANGE))
    world.add_ask()
    wait_for(lambda: world.run().error == "" and world.evicted(), "the ask gets its room")
    assert world.run().odd == []


def test_names_as_long_as_they_may_be_fit_into_every_column(world: World) -> None:
    """Evicted by others, recorded and shown."""
    told = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    condition = {**told, "lastTransitionTime": "2026-01-01T00:00:00Z", "message": "m" * 5_000}
    owner = {"kind": "K" * 100, "name": "o" * 253, "controller": True}
    meta = {"deletionTimestamp": "2026-01-01T00:00:30Z", "ownerReferences": [owner]}
    gone = odd_pod(name=LONG, metadata=meta, spec={"nodeName": "x" * 253}, status={"conditions": [condition]})
    listed_with(world, "/api/v1/pods", gone)
    wait_for(lambda: world.run().error == "" and Decision.objects.exclude(source="engine").exists(), "it is recorded")
    row = Decision.objects.exclude(source="engine").get()
    victim = Victim.objects.get(decision=row)
    assert (victim.name, len(victim.application), len(row.node)) == (LONG, 300, 253)
    for stored in (row, victim, *row.steps.all()):
        for column in stored._meta.fields:
            if isinstance(column, CharField):
                assert len(getattr(stored, column.attname)) <= column.max_length, column
    ada = client_of(rows.user("ada", User.Role.ADMIN))
    for path in (f"/clusters/east/decisions/{row.pk}/", "/clusters/east/history/"):
        assert ada.get(path, secure=True).status_code == 200


def test_who_is_a_tenant_is_not_told_of_odd_objects(world: World) -> None:
    """Names of others' pods are none of theirs: neither on the page nor by the API."""
    listed_with(world, "/api/v1/pods", UNREADABLE["a quantity that is none"])
    world.run()
    staff = client_of(rows.user("ada", User.Role.ADMIN)).get("/api/v1/clusters/east", secure=True).json()
    assert (staff["unreadable_object_count"], staff["unreadable_objects"][0]["object"]) == (1, "Pod default/odd")
    assert "much" in staff["unreadable_objects"][0]["reason"]
    tess = client_of(rows.tenant_user("tess", "root.test", ("default",)))
    told = tess.get("/api/v1/clusters/east", secure=True)
    assert (told.json()["unreadable_object_count"], told.json()["unreadable_objects"]) == (None, [])
    assert "default/odd" not in tess.get("/clusters/east/queues/", secure=True).content.decode()
