"""How far the engine may go in a cluster is decided knowingly, and written down."""

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.utils import timezone

from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.clusters.models import Cluster, ClusterStatus
from scheduler_admin.clusters.services import add_cluster, set_mode
from scheduler_admin.queues.models import Hierarchy

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    """A cluster that was just added."""
    return add_cluster(name="east", hierarchy=Hierarchy.objects.create(name="main"), kubeconfig="/nowhere")


def read(cluster: Cluster, *rivals: str) -> None:
    """The cluster has been read, with these priority classes by which its own scheduler would preempt."""
    ClusterStatus.objects.create(cluster=cluster, pass_at=timezone.now(), rivals=list(rivals))


def test_a_new_cluster_is_only_observed(cluster: Cluster) -> None:
    """Nothing is evicted where nobody has said so."""
    assert cluster.mode == Cluster.Mode.OBSERVE


def test_enforce_is_refused_while_nothing_is_known_of_the_cluster(cluster: Cluster) -> None:
    """Not read yet means not known to be safe."""
    with pytest.raises(ValidationError, match="not been read yet"):
        set_mode(cluster=cluster, mode="enforce", actor=None, reason="go")
    assert Cluster.objects.get().mode == "observe"


def test_enforce_is_refused_beside_a_scheduler_that_preempts_too(cluster: Cluster) -> None:
    """The classes by which it would are named, with the remedy."""
    read(cluster, "", "hot")
    with pytest.raises(ValidationError, match=r"\(no priority class\), hot.*preemptionPolicy Never"):
        set_mode(cluster=cluster, mode="enforce", actor=None, reason="go")


def test_enforce_beside_a_rival_takes_the_clusters_name(cluster: Cluster) -> None:
    """A wrong name overrides nothing; the right one is written down with its reason."""
    read(cluster, "hot")
    with pytest.raises(ValidationError):
        set_mode(cluster=cluster, mode="enforce", actor=None, reason="go", override="west")
    set_mode(cluster=cluster, mode="enforce", actor=None, reason="own profile", override="east")
    assert Cluster.objects.get().mode == "enforce"
    event = AuditEvent.objects.first()
    assert event is not None
    assert (event.verb, event.target, event.reason) == ("cluster.mode", "east", "own profile")


def test_enforce_without_rivals_is_granted(cluster: Cluster) -> None:
    """Every class is Never: one brain."""
    read(cluster)
    set_mode(cluster=cluster, mode="enforce", actor=None, reason="go")
    assert Cluster.objects.get().mode == "enforce"


def test_the_commands_say_what_is_wrong(cluster: Cluster) -> None:
    """An unknown cluster or tree is one sentence, not a traceback."""
    with pytest.raises(CommandError, match="Cluster west does not exist"):
        call_command("set_mode", "west", "observe", reason="x")
    with pytest.raises(CommandError, match="Hierarchy other does not exist"):
        call_command("add_cluster", "west", hierarchy="other")
    with pytest.raises(CommandError, match="already exists"):
        call_command("add_cluster", "east", hierarchy="main")


def test_what_enforce_may_have_left_is_not_forgotten_by_whoever_read_the_cluster_before(cluster: Cluster) -> None:
    """Two set a mode at once: the later one, back to advise, knows nothing of enforce; it is tidied all the same."""
    read(cluster)
    before = Cluster.objects.get()
    set_mode(cluster=cluster, mode="enforce", actor=None, reason="go")
    set_mode(cluster=before, mode="advise", actor=None, reason="not yet")
    assert Cluster.objects.get().untidy
