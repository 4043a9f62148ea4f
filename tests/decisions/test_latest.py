"""The last preemption of every queue, in and out, is what a look through all of the history would find."""

from datetime import timedelta

import pytest
from django.utils import timezone

from scheduler_admin.accounts.models import Tenant, User
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.decisions.models import Decision, LastPreemption, Victim
from scheduler_admin.decisions.selectors.latest import Side, latest, told
from scheduler_admin.decisions.services.latest import keep_last
from tests.decisions.plain_latest import kept_last, plain_last
from tests.worker.passing import run
from tests.worker.watch import Watch

pytestmark = pytest.mark.django_db


def decided(of: Cluster, asker: str, *victims: str, minutes: int = 0, state: str = "exited") -> Decision:
    """A decision for an ask of a queue, ``minutes`` ago; the namespaces are called as the queues."""
    at = timezone.now() - timedelta(minutes=minutes)
    row = Decision.objects.create(
        cluster=of, policy="fence", ask_uid="a", ask_namespace=asker.rpartition(".")[2], ask_name="a", ask_queue=asker,
        outcome="preempt", reason="below-guarantee", state="closed", first_seen=at, last_seen=at, document="{}",
    )  # fmt: skip
    for position, queue in enumerate(victims):
        Victim.objects.create(
            decision=row, cluster=of, position=position, uid=f"{row.pk}-{position}", name=f"v-{row.pk}-{position}",
            namespace=queue.rpartition(".")[2], queue=queue, node="n1", reason="over-guarantee", state=state,
        )  # fmt: skip
    return row


_PLACES = (("into", "root.a"), ("out", "root.b"), ("out", "root.c"))


def ada() -> User:
    """Who sees everything."""
    return User.objects.create_user("ada", role=User.Role.ADMIN)


def test_the_newest_stands_for_each_queue_whichever_is_taken_down_last(cluster: Cluster) -> None:
    """A victim of an older decision may go after a newer one's."""
    old, new = decided(cluster, "root.a", "root.b", minutes=9), decided(cluster, "root.a", "root.b", "root.c")
    keep_last([new])
    keep_last([old])
    assert (
        kept_last()
        == plain_last()
        == {("into", "root.a"): new.pk, ("out", "root.b"): new.pk, ("out", "root.c"): new.pk}
    )


def test_who_was_not_evicted_is_nobodys_last(cluster: Cluster) -> None:
    """Chosen, spared, held back: nothing happened yet."""
    keep_last([decided(cluster, "root.a", "root.b", state=state) for state in ("chosen", "spared", "on-hold")])
    assert kept_last() == plain_last() == {}


def test_a_parent_has_the_latest_below_it(cluster: Cluster) -> None:
    """With the queue on the other side, and how many pods."""
    old, new = decided(cluster, "root.t.a", "root.u.b", minutes=9), decided(cluster, "root.t.c", "root.u.d", "root.u.d")
    keep_last([old, new])
    user = ada()
    last = latest(user, cluster)
    assert last[Side.OUT] == {
        "root.u.b": old.pk, "root.u.d": new.pk, "root.u": new.pk, "root": new.pk,
    }  # fmt: skip
    said = told(user, last, ["root.t", "root.u.b"])
    assert (said[Side.INTO]["root.t"].other, said[Side.INTO]["root.t"].pods) == ("root.u.d", 2)
    assert (said[Side.OUT]["root.u.b"].other, said[Side.OUT]["root.u.b"].pods) == ("root.t.a", 1)


def test_a_tenant_has_the_last_of_their_own_pods(cluster: Cluster) -> None:
    """Others' pods of the same queue, and later ones, are nothing to them."""
    tess = User.objects.create_user("tess", role=User.Role.TENANT)
    tess.tenants.add(Tenant.objects.create(name="b's", namespaces=["b"], subtrees=["root.b"]))
    own, others = decided(cluster, "root.a", "root.b", minutes=9), decided(cluster, "root.a", "root.b")
    others.victims.update(namespace="elsewhere")
    keep_last([own, others])
    last = latest(tess, cluster)
    assert last[Side.OUT] == {"root.b": own.pk, "root": own.pk}
    assert last[Side.INTO] == {}


def test_it_is_taken_down_as_pods_go(cluster: Cluster, watch: Watch) -> None:
    """From the first eviction on."""
    run(cluster, watch)
    assert kept_last() == plain_last() != {}


def test_it_goes_with_its_decision(cluster: Cluster) -> None:
    """When the history is pruned."""
    row = decided(cluster, "root.a", "root.b")
    keep_last([row])
    row.delete()
    assert not LastPreemption.objects.exists()
