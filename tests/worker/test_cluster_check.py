"""``manage.py check_cluster`` and ``remove_cluster``: what we know of a cluster ourselves counts, too."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from engine.cluster.acting.lease import ClusterLease
from engine.feasibility.node_rules import RESERVED_TAINT_KEY
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.connections.access_methods import Way
from scheduler_admin.clusters.connections.credentials import set_credentials
from scheduler_admin.clusters.models import Cluster, Credentials
from scheduler_admin.decisions.models import Decision
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.worker.cluster_check import check_cluster
from simulator.kubeconfig import kubeconfig
from tests.cluster.doubles import Simulated, simulate

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Iterator[Simulated]:
    with simulate() as simulated:
        simulated.add_node()
        yield simulated


@pytest.fixture
def east(api: Simulated) -> Cluster:
    cluster = Cluster.objects.create(name="east", hierarchy=Hierarchy.objects.create(name="main"))
    set_credentials(cluster=cluster, way=Way(text=kubeconfig(api.address, "hunter2")), actor=None)
    return Cluster.objects.get()


def decided(cluster: Cluster, **fields: Any) -> Decision:
    now = timezone.now()
    known = {"ask_uid": "ask", "ask_namespace": "a", "ask_name": "b", "first_seen": now, "last_seen": now}
    return Decision.objects.create(cluster=cluster, outcome="preempt", **{**known, **fields})


def run(*words: str, **options: Any) -> tuple[int, str]:
    """Exit code, and what is printed."""
    out = io.StringIO()
    try:
        call_command("check_cluster", *words, stdout=out, **options)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def test_a_cluster_that_works_ends_with_0(east: Cluster) -> None:
    code, said = run("east")
    assert code == 0
    assert "ok      clock" in said
    assert said.endswith("east can be used in observe mode.\n")
    assert "hunter2" not in said


def test_what_it_is_not_ready_for_ends_with_1(east: Cluster, api: Simulated) -> None:
    """Another mode than its own may be asked for; as JSON for programs."""
    api.add_pod("ask")
    code, said = run("east", mode="enforce", json=True)
    found = json.loads(said)
    assert (code, found["mode"], found["well"]) == (1, "enforce", False)
    assert [line["subject"] for line in found["lines"] if line["level"] == "error"] == ["two brains"]


def test_a_way_that_can_not_be_used_is_said(east: Cluster, settings: Any) -> None:
    settings.CREDENTIALS_KEYS = []
    code, said = run("east")
    assert code == 1
    assert "Credentials can only be stored encrypted. Set CREDENTIALS_KEY for all processes first." in said
    with pytest.raises(CommandError, match="Cluster west does not exist"):
        run("west")


def test_our_own_worker_and_our_open_decisions_are_known(east: Cluster, api: Simulated) -> None:
    """Their lease and their taints are nothing to tell of."""
    api.change("nodes", None, "n1", lambda node: node.setdefault("spec", {}).update(
        taints=[{"key": RESERVED_TAINT_KEY, "value": "ask", "effect": "NoSchedule"}]
    ))  # fmt: skip
    lease = ClusterLease(api.connection(), identity="worker/1/east")
    lease.renew()
    levels = lambda: {one.subject: one.level for one in check_cluster(cluster=east, mode="enforce").lines}  # noqa: E731
    assert (levels()["lease"], levels()["taints"]) == ("error", "warning")
    decided(east, state=Decision.State.PLANNED)
    east.owner = "worker/1"
    assert (levels()["lease"], levels()["taints"]) == ("ok", "ok")


def forget(**options: Any) -> None:
    call_command("remove_cluster", "east", reason="gone", stdout=io.StringIO(), **options)


def test_a_cluster_is_forgotten_with_its_credentials(east: Cluster) -> None:
    """Its tree stays, and who did it and why."""
    forget()
    assert not Cluster.objects.exists()
    assert not Credentials.objects.exists()
    assert Hierarchy.objects.exists()
    assert AuditEvent.objects.get(verb="cluster.remove").reason == "gone"


def test_history_goes_only_if_that_is_said(east: Cluster) -> None:
    decided(east, state=Decision.State.CLOSED)
    with pytest.raises(CommandError, match="1 decisions"):
        forget()
    forget(with_history=True)
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        ({"mode": "enforce"}, "is in Enforce mode"),
        ({"untidy": True}, "east may still contain changes made by Scheduler Admin"),
    ],
)
def test_a_cluster_that_we_may_have_changed_stays(east: Cluster, changes: dict[str, Any], want: str) -> None:
    """Whatever is said."""
    Cluster.objects.update(**changes)
    with pytest.raises(CommandError, match=want):
        forget(with_history=True)


def test_a_cluster_with_an_open_decision_stays(east: Cluster) -> None:
    decided(east, state=Decision.State.PLANNED)
    with pytest.raises(CommandError, match="may still contain changes made by Scheduler Admin"):
        forget(with_history=True)
    with pytest.raises(CommandError, match="Cluster west does not exist"):
        call_command("remove_cluster", "west", reason="x")
