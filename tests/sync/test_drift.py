"""What others change of a cluster's own tree is seen, told apart from what was published here, and never lost."""

import pytest
from django.utils import timezone

from engine.formats.tree_json.diff import describe_change
from scheduler_admin.clusters.models import ClusterStatus
from scheduler_admin.sync.models import Copy
from scheduler_admin.sync.services import look_now
from scheduler_admin.sync.state import Standing, differences
from scheduler_admin.sync.visits import EVERY, claim, visit
from tests.sync.builders import TEXT, Kept, changed

pytestmark = pytest.mark.django_db


def words(kept: Kept, side: str) -> list[str]:
    """The changes of one side, in words."""
    assert kept.cluster.hierarchy
    assert kept.cluster.hierarchy.current
    found = differences(kept.copy, kept.cluster.hierarchy.current)
    return [str(one) for change in getattr(found, side) for one in describe_change(change)]


def test_what_a_tree_was_made_of_is_in_step_with_it(kept: Kept) -> None:
    assert kept.standing is Standing.IN_SYNC
    copy = kept.copy
    assert (copy.text, copy.namespace, copy.error) == (TEXT, kept.there.namespace, "")
    assert copy.looked_at is not None


def test_what_is_published_here_is_ahead_of_it(kept: Kept) -> None:
    kept.publish(changed())
    kept.look()
    assert kept.standing is Standing.OUTDATED
    assert words(kept, "writing") == ["root.prod: guaranteed cpu 4 → 6"]
    assert words(kept, "there") == []


def test_what_is_changed_there_is_told_with_who_did_it(kept: Kept) -> None:
    """At the next look; pages hear of it."""
    ClusterStatus.objects.create(cluster=kept.cluster)
    kept.edit(changed(cpu="2"))
    kept.look()
    assert kept.standing is Standing.CHANGED
    assert words(kept, "there") == ["root.prod: guaranteed cpu 4 → 2"]
    assert words(kept, "writing") == ["root.prod: guaranteed cpu 2 → 4"]
    assert kept.copy.writer == "kubectl-edit"
    assert kept.copy.written_at is not None
    assert ClusterStatus.objects.get(cluster=kept.cluster).news == 1


def test_both_may_have_changed(kept: Kept) -> None:
    kept.publish(changed(cpu="6"))
    kept.edit(changed(cpu="2"))
    kept.look()
    assert kept.standing is Standing.DIVERGED
    assert words(kept, "there") == ["root.prod: guaranteed cpu 4 → 2"]
    assert words(kept, "writing") == ["root.prod: guaranteed cpu 2 → 6"]


def test_the_same_change_on_both_sides_is_none(kept: Kept) -> None:
    kept.publish(changed())
    kept.edit(changed())
    kept.look()
    assert kept.standing is Standing.IN_SYNC


def test_a_comment_there_is_no_drift(kept: Kept) -> None:
    """Nor is anything else that the tree does not hold; it is stored all the same."""
    kept.edit(TEXT.replace("# as agreed", "# in writing").replace('submitacl: "*"', "submitacl: team"))
    kept.look()
    assert kept.standing is Standing.IN_SYNC
    assert "submitacl: team" in kept.copy.text


def test_a_tree_that_was_grown_when_it_was_connected_is_ahead(kept: Kept) -> None:
    """As it is of the very text that is there, nobody changed anything."""
    Copy.objects.all().delete()
    kept.publish(changed())
    kept.look()
    assert kept.standing is Standing.OUTDATED


def test_two_that_never_were_the_same_count_as_changed_by_both(kept: Kept) -> None:
    Copy.objects.all().delete()
    kept.publish(changed(cpu="6"))
    kept.edit(changed(cpu="2"))
    kept.look()
    assert kept.standing is Standing.DIVERGED


def test_what_can_not_be_read_as_a_tree_is_told_line_by_line(kept: Kept) -> None:
    kept.edit("partitions:\n  - name: default\n    queues: 5\n")
    kept.look()
    assert kept.standing is Standing.UNREADABLE
    assert kept.copy.problems
    kept.edit(TEXT)
    kept.look()
    assert kept.standing is Standing.IN_SYNC
    assert kept.copy.problems == []


def test_one_that_is_gone_is_none(kept: Kept) -> None:
    """It is found again where it comes back."""
    kept.there.delete("configmaps", "yunikorn-configs")
    kept.look()
    assert kept.standing is Standing.NONE
    kept.there.create("configmaps", {"metadata": {"name": "yunikorn-configs"}, "data": {"queues.yaml": TEXT}})
    kept.look()
    assert kept.standing is Standing.IN_SYNC


def test_another_cluster_behind_the_address_is_not_taken_for_it(kept: Kept) -> None:
    """What was last seen stays, with why it is not newer."""
    type(kept.cluster).objects.update(uid="another")
    kept.edit(changed())
    kept.look()
    assert "not the cluster that was connected" in kept.copy.error
    assert kept.copy.text == TEXT


def test_each_copy_is_visited_by_one_and_then_left_alone_for_a_minute(kept: Kept) -> None:
    now = timezone.now()
    copy = kept.copy
    assert now < copy.due_at <= now + EVERY
    assert not claim(copy, now)
    later = copy.due_at
    assert claim(copy, later)
    assert not claim(copy, later)


def test_a_look_that_is_asked_for_during_a_visit_is_not_forgotten(kept: Kept) -> None:
    look_now(cluster=kept.cluster)
    now, copy = timezone.now(), kept.copy
    assert claim(copy, now)
    look_now(cluster=kept.cluster)
    asked_for = kept.copy.due_at
    visit(copy=copy, connection=kept.there.connection(), namespaces=(), now=now)
    assert kept.copy.due_at == asked_for
