"""A tree becomes a revision: numbered, whole, never changed, with its queues as rows."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from engine.formats.tree_json.canonical import encode_tree
from engine.model.notes import ImportFailure
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.queues.models import Hierarchy, Queue, Revision
from scheduler_admin.queues.services.hierarchies import publish, tree_of
from scheduler_admin.queues.services.imports import import_tree
from tests.builders import queue, tree

pytestmark = pytest.mark.django_db

YAML = """
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: tenant
            properties: {preemption.policy: fence}
            queues:
              - name: jobs
                properties: {preemption.delay: 5s}
                resources: {guaranteed: {vcore: 4, memory: 8Gi}, max: {vcore: 10}}
"""


def test_an_imported_tree_is_the_first_revision_and_in_force() -> None:
    """Fences, delays and amounts stand in rows as they stand in the document."""
    revision, _ = import_tree(hierarchy="main", text=YAML, author=None, reason="first")
    assert Hierarchy.objects.get(name="main").current == revision
    assert revision.number == 1
    jobs = Queue.objects.get(path="root.tenant.jobs")
    assert (jobs.own.guaranteed, jobs.own.max) == ({"cpu": 4000, "memory": 8 * 2**30}, {"cpu": 10000})
    assert (jobs.leaf, jobs.own.delay_ms) == (True, 5000)
    tenant = jobs.parent
    assert tenant is not None
    assert (tenant.fenced, tenant.leaf, tenant.parent.path) == (True, False, "root")


KUEUE = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team-a}
spec:
  cohort: all
  resourceGroups:
    - {coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 4}]}]}
"""


def test_a_first_tree_decides_as_the_system_does_that_it_comes_from() -> None:
    """Later ones as the one in force does, wherever they come from."""
    first, _ = import_tree(hierarchy="main", text=KUEUE, author=None, reason="first")
    assert (first.policy, first.dialect) == ("cohort", "kueue")
    later, _ = import_tree(hierarchy="main", text=YAML, author=None, reason="other")
    assert later.policy == "cohort"
    assert import_tree(hierarchy="other", text=YAML, author=None, reason="first")[0].policy == "fence"


def test_a_tree_is_read_back_as_it_was_published() -> None:
    """The engine decides by the very tree."""
    shape = tree({"a": queue("1", fence=True), "b": queue("2", namespaces=("x",))})
    revision = publish(hierarchy=Hierarchy.objects.create(name="main"), tree=shape, author=None, reason="r")
    assert encode_tree(tree_of(revision)) == encode_tree(shape)


def test_revisions_count_up_and_former_ones_stay() -> None:
    """Publishing again changes nothing of what was."""
    first, _ = import_tree(hierarchy="main", text=YAML, author=None, reason="first")
    document = first.document
    second, _ = import_tree(hierarchy="main", text=YAML.replace("4,", "6,"), author=None, reason="more")
    assert second.number == 2
    assert Revision.objects.get(number=1).document == document
    assert Hierarchy.objects.get().current == second
    assert AuditEvent.objects.filter(verb="tree.publish").count() == 2


def test_a_tree_that_cant_be_read_leaves_nothing_behind() -> None:
    """The error names the line and what may have been meant."""
    with pytest.raises(ImportFailure, match="8Gi or 8G"):
        import_tree(hierarchy="main", text=YAML.replace("8Gi", "8Gb"), author=None, reason="typo")
    assert not Hierarchy.objects.exists()


def test_the_import_command_tells_line_and_remedy(tmp_path: Path) -> None:
    """What a person at a terminal reads."""
    file = tmp_path / "queues.yaml"
    file.write_text(YAML.replace("8Gi", "8Gb"))
    with pytest.raises(CommandError, match=r"line 12.*8Gb is not a valid amount"):
        call_command("import_queues", "main", str(file), reason="typo")
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_queues", "main", str(tmp_path / "none.yaml"), reason="x")
    file.write_text(YAML)
    with pytest.raises(CommandError, match="User bob does not exist"):
        call_command("import_queues", "main", str(file), reason="x", user="bob")
    call_command("import_queues", "main", str(file), reason="right")
    assert Hierarchy.objects.get().current is not None


def test_no_lock_reaches_over_a_join() -> None:
    """PostgreSQL refuses to lock what may not be there, and after a wait reads anew only what is locked.

    A revision joined to it would be a former one, or none. SQLite, on which these tests run, locks nothing at all.
    """
    lines = [line for file in Path("scheduler_admin").rglob("*.py") for line in file.read_text("utf-8").splitlines()]
    locks = [line for line in lines if ".select_for_update(" in line]
    assert locks
    assert [line for line in locks if "select_related" in line] == []
