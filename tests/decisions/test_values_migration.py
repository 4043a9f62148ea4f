"""What the migration to plain values does to counts, saved filters and columns: each old name becomes the new one."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.counts.kinds import Kind, Lost, Sort, pack, unpack
from scheduler_admin.counts.models import Tally
from scheduler_admin.counts.totals import pack_totals
from scheduler_admin.decisions.models import Decision, SavedFilter, Step
from tests.pages import rows

pytestmark = pytest.mark.django_db
migration = import_module("scheduler_admin.decisions.migrations.0008_plain_values")
AT = datetime(2026, 1, 5, 12, tzinfo=UTC)


def kinds(*ends: tuple[str, str]) -> Counter[Kind]:
    """Return one preemption for each state and ending, of queue ``root.a`` by ``root.b``."""
    sorts = [Sort("engine", "below-guarantee", state, ending, False, False) for state, ending in ends]
    return Counter([Kind(sort, "root.b", (Lost("root.a", 1, 0),)) for sort in sorts])


def test_counts_are_of_the_new_states_and_endings(cluster: Cluster) -> None:
    """The packed counts equal those that are made of rows with the new values."""
    old = kinds(("closed", "taken"), ("closed", "bound"), ("noted", ""), ("held", ""), ("closed", "refused"))
    new = kinds(
        ("closed", "capacity-taken"), ("closed", "bound"), ("recorded", ""), ("on-hold", ""), ("closed", "rejected")
    )
    hour = {"cluster": cluster, "span": timedelta(hours=1)}
    full = Tally.objects.create(**hour, start=AT, document=pack(old), totals=pack_totals(old))
    due = Tally.objects.create(**hour, start=AT + timedelta(hours=1))
    migration.rename_in_counts(apps, connection.schema_editor())
    full.refresh_from_db()
    due.refresh_from_db()
    assert unpack(full.document) == new
    assert due.document is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("queue=root.a&outcome=held&range=7d", "queue=root.a&outcome=on-hold&range=7d"),
        ("outcome=taken", "outcome=capacity-taken"),
        ("outcome=no-candidate&node=n+1", "outcome=no-candidate&node=n+1"),
        ("queue=refused", "queue=refused"),
    ],
)
def test_saved_filters_find_the_same_as_before(cluster: Cluster, before: str, after: str) -> None:
    """Only what the history is filtered by is renamed, not a queue of that name."""
    kept = SavedFilter.objects.create(owner=rows.user(), cluster=cluster, name="mine", address=before)
    migration.rename_in_filters(apps, connection.schema_editor())
    kept.refresh_from_db()
    assert kept.address == after


def test_renaming_there_and_back_leaves_rows_as_they_were(cluster: Cluster) -> None:
    """A column is renamed in batches; what has another value, and an empty one, stays."""
    for state, ending in (("closed", "taken"), ("closed", "bound"), ("noted", ""), ("held", "")):
        rows.decision(cluster, "root.a", state=state, ending=ending)
    forward = [one for one in migration.Migration.operations if getattr(one, "code", None)][:2]
    before = list(Decision.objects.order_by("pk").values_list("state", "ending"))
    for one in forward:
        one.code(apps, connection.schema_editor())
    after = list(Decision.objects.order_by("pk").values_list("state", "ending"))
    assert after == [("closed", "capacity-taken"), ("closed", "bound"), ("recorded", ""), ("on-hold", "")]
    for one in forward:
        one.reverse_code(apps, connection.schema_editor())
    assert list(Decision.objects.order_by("pk").values_list("state", "ending")) == before


def test_only_notes_that_name_a_safeguard_are_renamed(cluster: Cluster) -> None:
    """A step's note may be anybody's words, and the same word by chance."""
    row = rows.decision(cluster, "root.a")
    for kind in ("held", "closed"):
        Step.objects.create(decision=row, at=AT, kind=kind, note="scope")
    operations = [one for one in migration.Migration.operations if getattr(one, "code", None)]
    for one in operations:
        one.code(apps, connection.schema_editor())
    assert set(Step.objects.values_list("kind", "note")) == {("on-hold", "out-of-scope"), ("closed", "scope")}
