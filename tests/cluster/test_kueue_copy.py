"""Kueue's objects are one text; they are written one by one: what was shown, what differs, and nobody is forced."""

from collections.abc import Iterator
from typing import Any

import pytest

from engine.cluster.connecting.connection import Connection
from engine.cluster.inspection.refusals import ApiRefusedError
from engine.cluster.sync.copies import (
    MANAGER,
    ClusterCopy,
    CopyChangedError,
    FieldConflict,
    FieldConflictError,
    Rewrite,
)
from engine.cluster.sync.object_copies import read_objects, write_objects
from engine.formats.kueue.object_kinds import KUEUE
from engine.formats.tree_objects import parse
from tests.controlplane import anycluster, kueue
from tests.controlplane.anycluster import AnyCluster
from tests.controlplane.plane import ControlPlane
from tests.controlplane.wire import MERGE

pytestmark = pytest.mark.controlplane
QUEUE = f"/apis/{kueue.GROUP}/{kueue.NEWEST}/clusterqueues/research"
COHORT = f"/apis/{kueue.GROUP}/{kueue.NEWEST}/cohorts/company"
APPLY = "application/apply-patch+yaml"


@pytest.fixture
def real(plane: ControlPlane) -> Iterator[AnyCluster]:
    with anycluster.real(plane) as cluster:
        kueue.install_queues(cluster)
        yield cluster


@pytest.fixture
def connection(real: AnyCluster) -> Connection:
    return real.connection()


def made_by(cluster: AnyCluster, manager: str, text: str) -> None:
    """Somebody applies these objects, by the server."""
    for one in parse(KUEUE, text).values():
        space = f"/namespaces/{one.namespace}" if one.namespace else ""
        path = f"/apis/{one.body['apiVersion']}{space}/{one.kind.lower()}s/{one.name}?fieldManager={manager}"
        code, answer = cluster.raw("PATCH", path, one.body, APPLY)
        assert code in (200, 201), answer


def edit(cluster: AnyCluster, manager: str, spec: dict[str, Any], path: str = QUEUE) -> None:
    """Somebody changes one."""
    code, answer = cluster.raw("PATCH", f"{path}?fieldManager={manager}", {"spec": spec}, MERGE)
    assert code == 200, answer


def seen(connection: Connection) -> ClusterCopy:
    found = read_objects(KUEUE, connection)
    assert found is not None
    return found


def asked(before: ClusterCopy, text: str, *confirmed: FieldConflict) -> Rewrite:
    return Rewrite(onto=before.version, before=before.text, text=text, confirmed=confirmed)


def spec_of(cluster: AnyCluster, path: str = QUEUE) -> Any:
    return cluster.send("GET", path)["spec"]


def quota(cluster: AnyCluster) -> str:
    found: str = spec_of(cluster)["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"]
    return found


def test_where_kueue_is_not_there_is_no_copy(plane: ControlPlane) -> None:
    with anycluster.real(plane) as bare:
        assert read_objects(KUEUE, bare.connection()) is None


def test_all_queues_are_one_text_with_who_wrote_them_last(real: AnyCluster, connection: Connection) -> None:
    """What is read from it is what was made; a status that moves is no other version."""
    text = kueue.three(real.namespace)
    made_by(real, "kubectl", text)
    first = seen(connection)
    assert parse(KUEUE, first.text) == parse(KUEUE, text)
    assert first.writer == "kubectl"
    whole = real.send("GET", QUEUE)
    real.send("PUT", f"{QUEUE}/status", {**whole, "status": {"pendingWorkloads": 3}})
    assert seen(connection) == first


def test_what_nobody_answers_for_is_made(real: AnyCluster, connection: Connection) -> None:
    """By our own name, and once: a repetition does nothing."""
    text = kueue.three(real.namespace)
    before = seen(connection)
    assert before.text == ""
    for _ in range(2):
        made = write_objects(KUEUE, connection, asked(before, text))
    assert parse(KUEUE, made.text) == parse(KUEUE, text)
    assert made.writer == MANAGER
    changed = write_objects(KUEUE, connection, asked(made, kueue.three(real.namespace, cpu="9")))
    assert quota(real) == "9"
    assert parse(KUEUE, changed.text) == parse(KUEUE, kueue.three(real.namespace, cpu="9"))


def test_what_others_answer_for_is_not_taken_over_unless_that_is_confirmed(
    real: AnyCluster, connection: Connection
) -> None:
    """With whom and since when is told by field; another one's field later is another clash."""
    made_by(real, "argocd", kueue.three(real.namespace))
    before = seen(connection)
    wanted = kueue.three(real.namespace, cpu="9")
    with pytest.raises(FieldConflictError) as told:
        write_objects(KUEUE, connection, asked(before, wanted))
    (clash,) = told.value.conflicts
    assert (clash.object, clash.field) == ("ClusterQueue research", ".spec.resourceGroups")
    assert 'conflict with "argocd"' in clash.message
    assert quota(real) == "4"
    write_objects(KUEUE, connection, asked(before, wanted, clash))
    assert quota(real) == "9"
    edit(real, "kubectl-edit", spec_of(real) | {"resourceGroups": []})
    moved = seen(connection)
    with pytest.raises(FieldConflictError):
        write_objects(KUEUE, connection, asked(moved, wanted, clash))
    assert spec_of(real)["resourceGroups"] == []


def test_what_is_sent_is_what_the_tree_decides(real: AnyCluster, connection: Connection) -> None:
    """All else that others say of an object stays, and stays theirs."""
    made = write_objects(KUEUE, connection, asked(seen(connection), kueue.three(real.namespace)))
    edit(real, "kubectl-edit", {"stopPolicy": "Hold", "namespaceSelector": {"matchLabels": {"a": "b"}}})
    before = seen(connection)
    assert before.version != made.version
    write_objects(KUEUE, connection, asked(before, before.text.replace("'4'", '"9"').replace('"4"', '"9"')))
    assert quota(real) == "9"
    assert (spec_of(real)["stopPolicy"], spec_of(real)["namespaceSelector"]) == ("Hold", {"matchLabels": {"a": "b"}})


def test_what_changed_after_it_was_shown_is_left_as_it_is(real: AnyCluster, connection: Connection) -> None:
    """Nothing of the rest is written either."""
    made = write_objects(KUEUE, connection, asked(seen(connection), kueue.three(real.namespace)))
    edit(real, "kubectl-edit", {"fairSharing": {"weight": "2"}}, COHORT)
    with pytest.raises(CopyChangedError):
        write_objects(KUEUE, connection, asked(made, kueue.three(real.namespace, cpu="9")))
    assert quota(real) == "4"


def test_a_queue_that_leaves_its_cohort_does_and_what_the_tree_lacks_goes(
    real: AnyCluster, connection: Connection
) -> None:
    made = write_objects(KUEUE, connection, asked(seen(connection), kueue.three(real.namespace)))
    alone = "---\n" + kueue.three(real.namespace).split("---\n")[2].replace("  cohortName: company\n", "")
    left = write_objects(KUEUE, connection, asked(made, alone))
    assert "cohortName" not in spec_of(real)
    assert [one.title for one in parse(KUEUE, left.text).values()] == ["ClusterQueue research"]


def test_a_threshold_that_the_tree_lacks_goes_whoever_answers_for_it(real: AnyCluster, connection: Connection) -> None:
    """Also where somebody put it back meanwhile."""
    rules = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
    borrow = {"policy": "LowerPriority", "maxPriorityThreshold": 5}
    made_by(real, "kubectl", kueue.three(real.namespace))
    edit(real, "kubectl-edit", {"preemption": {**rules, "borrowWithinCohort": borrow}})
    before = seen(connection)
    wanted = "".join(line for line in before.text.splitlines(keepends=True) if "maxPriorityThreshold" not in line)
    assert wanted != before.text
    write_objects(KUEUE, connection, asked(before, wanted))
    assert spec_of(real)["preemption"] == {**rules, "borrowWithinCohort": {"policy": "LowerPriority"}}
    edit(real, "kubectl-edit", {"preemption": {"borrowWithinCohort": borrow}})
    write_objects(KUEUE, connection, asked(before, wanted))
    assert "maxPriorityThreshold" not in spec_of(real)["preemption"]["borrowWithinCohort"]


def test_a_writer_that_died_half_way_is_continued(real: AnyCluster, connection: Connection) -> None:
    """Each object is as it was, on its way, or as it is to be: the rest is written. What others did since is not."""
    made = write_objects(KUEUE, connection, asked(seen(connection), kueue.three(real.namespace)))
    wanted = kueue.three(real.namespace, cpu="9").replace("  cohortName: company\n", "")
    groups = parse(KUEUE, wanted)["ClusterQueue", "", "research"].body["spec"]["resourceGroups"]
    edit(real, MANAGER, {"resourceGroups": groups})  # it is still in its cohort
    shown = Rewrite(onto=made.version, before=made.text, text=wanted, confirmed=())
    edit(real, "kubectl-edit", {"cohortName": "another"})
    with pytest.raises(CopyChangedError):
        write_objects(KUEUE, connection, shown)
    assert spec_of(real)["cohortName"] == "another"
    edit(real, "kubectl-edit", {"cohortName": "company"})
    write_objects(KUEUE, connection, shown)
    assert (quota(real), "cohortName" in spec_of(real)) == ("9", False)
    write_objects(KUEUE, connection, shown)
    assert quota(real) == "9"


def test_a_right_that_is_missing_is_named(real: AnyCluster) -> None:
    listing = {"apiGroups": [kueue.GROUP], "resources": ["cohorts", "clusterqueues", "localqueues"], "verbs": ["list"]}
    limited = Connection(real.account(listing))
    with pytest.raises(
        ApiRefusedError, match=r"Missing permission: patch cohorts.kueue.x-k8s.io. Apply deploy/apply-tree.yaml"
    ):
        write_objects(KUEUE, limited, asked(seen(limited), kueue.three(real.namespace)))


def test_what_may_only_be_changed_is_not_made(real: AnyCluster) -> None:
    """Applying what is not there takes the right to create, which no log of the API server tells."""
    changing = {"apiGroups": [kueue.GROUP], "resources": ["*"], "verbs": ["list", "patch"]}
    limited = Connection(real.account(changing))
    with pytest.raises(ApiRefusedError, match="cannot create resource"):
        write_objects(KUEUE, limited, asked(seen(limited), kueue.three(real.namespace)))


def test_what_may_not_be_read_is_not_taken_for_none(real: AnyCluster) -> None:
    nothing = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"]}
    with pytest.raises(ApiRefusedError, match="Missing permission: list cohorts"):
        read_objects(KUEUE, Connection(real.account(nothing)))
