"""A tree that came from Kueue's objects is written back to them, and others' fields only by who confirmed them."""

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from engine.formats import registry
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.models import Hierarchy
from scheduler_admin.queues.services.hierarchies import Native, publish_as
from scheduler_admin.sync.models import Writing
from scheduler_admin.sync.services import ask_to_write, copy_of, look_now
from scheduler_admin.sync.state import Standing, standing
from scheduler_admin.sync.visits import claim, visit
from tests.cluster.test_kueue_copy import edit, made_by, quota, spec_of
from tests.controlplane import anycluster, kueue
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.plane import ControlPlane

pytestmark = [pytest.mark.django_db, pytest.mark.controlplane]
State = Writing.State


class Kept:
    """Kueue's objects in a real API server, made by kubectl, and the cluster as it is known here."""

    def __init__(self, there: AnyCluster) -> None:
        self.there = there
        kueue.install_queues(there)
        made_by(there, "argocd", kueue.three(there.namespace))
        self.publish("4")
        self.cluster = Cluster.objects.create(name="demo", hierarchy=Hierarchy.objects.get(name="demo"))
        self.look()

    def publish(self, cpu: str) -> None:
        text = kueue.three(self.there.namespace, cpu=cpu)
        tree = registry.read(text).tree
        publish_as(name="demo", tree=tree, author=None, reason="as it was", native=Native("kueue", text))

    def look(self) -> None:
        look_now(cluster=self.cluster)
        now, copy = timezone.now(), copy_of(self.cluster)
        assert claim(copy, now)
        visit(copy=copy, connection=self.there.connection(), namespaces=(), now=now)

    @property
    def standing(self) -> Standing:
        assert self.cluster.hierarchy
        self.cluster.hierarchy.refresh_from_db()
        return standing(copy_of(self.cluster), self.cluster.hierarchy.current)

    def ask(self, *, over: int = 0, overwrite: bool = False) -> Writing:
        assert self.cluster.hierarchy
        self.cluster.hierarchy.refresh_from_db()
        made = ask_to_write(
            cluster=self.cluster,
            revision=self.cluster.hierarchy.current_id or 0,
            version=copy_of(self.cluster).version,
            overwrite=overwrite,
            actor=None,
            reason="as agreed",
            over=over,
        )
        self.look()
        made.refresh_from_db()
        return made


@pytest.fixture
def kept(plane: ControlPlane, db: None) -> Iterator[Kept]:
    with anycluster.real(plane) as cluster:
        yield Kept(cluster)


def test_the_objects_that_a_tree_was_made_of_are_in_step_with_it(kept: Kept) -> None:
    assert kept.standing is Standing.IN_SYNC
    assert copy_of(kept.cluster).writer == "argocd"


def test_others_fields_are_written_after_they_were_shown_and_confirmed(kept: Kept) -> None:
    """The first time nothing is written; what was shown is what may be taken over."""
    kept.publish("9")
    assert kept.standing is Standing.OUTDATED
    first = kept.ask()
    assert first.state == State.NEEDS_CONFIRMATION
    assert [(one["object"], one["field"]) for one in first.clashes] == [
        ("ClusterQueue research", ".spec.resourceGroups")
    ]
    assert "argocd" in first.clashes[0]["message"]
    assert quota(kept.there) == "4"
    second = kept.ask(over=first.pk)
    assert (second.state, quota(kept.there)) == (State.WRITTEN, "9")
    assert kept.standing is Standing.IN_SYNC


def test_drift_is_seen_and_what_the_tree_has_no_word_for_is_none(kept: Kept) -> None:
    edit(kept.there, "kubectl-edit", {"stopPolicy": "Hold"})
    kept.look()
    assert kept.standing is Standing.IN_SYNC
    groups = spec_of(kept.there)["resourceGroups"]
    groups[0]["flavors"][0]["resources"][0]["nominalQuota"] = "2"
    edit(kept.there, "kubectl-edit", {"resourceGroups": groups})
    kept.look()
    assert kept.standing is Standing.CHANGED
    shown = kept.ask(overwrite=True)
    assert kept.ask(overwrite=True, over=shown.pk).state == State.WRITTEN
    assert quota(kept.there) == "4"
    assert spec_of(kept.there)["stopPolicy"] == "Hold"


def test_the_command_takes_over_what_it_named(kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which fields are whose is said first; no Kueue runs here that would use them."""
    monkeypatch.setattr("scheduler_admin.sync.observation.SETTLES", timedelta())
    edit(kept.there, "argocd", {"resourceGroups": spec_of(kept.there)["resourceGroups"]})
    path = tmp_path / "kubeconfig"
    path.write_text(kept.there.entrance.kubeconfig(kept.there.namespace))
    Cluster.objects.update(kubeconfig=str(path))
    kept.publish("9")
    out = StringIO()
    with pytest.raises(CommandError, match=r"ClusterQueue research \.spec\.resourceGroups: .*argocd") as failure:
        call_command("apply_tree", "demo", "--reason", "more", stdout=out)
    confirm = str(failure.value).rpartition(" ")[2]
    call_command("apply_tree", "demo", "--reason", "more", "--take-over", confirm, stdout=out)
    assert "Revision 2 was written to Kueue objects." in out.getvalue()
    assert "Whether Kueue uses it is unknown. ClusterQueue" in out.getvalue()
    assert quota(kept.there) == "9"
