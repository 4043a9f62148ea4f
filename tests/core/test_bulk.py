"""Many rows at once are stored as one by one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from scheduler_admin.clusters.models import Cluster
from scheduler_admin.core.bulk import create, insert, update
from scheduler_admin.decisions.models import Decision, Mention, Step
from tests.worker.conftest import add_cluster

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ODD = "tab\t, line\n, back\\slash, \\N, \"quotes\", 'one', ünï, 100 %s, {}"
SIZES = pytest.mark.parametrize("many", [1, 3, 60, 300])
"""Some statements' worth, and what PostgreSQL gets as a copy."""


@pytest.fixture
def cluster() -> Cluster:
    return add_cluster(mode="observe")


def made(cluster: Cluster, number: int) -> Decision:
    """A row of which no two are alike, with what is written otherwise by each way to write it."""
    return Decision(
        cluster=cluster,
        policy="fence",
        ask_uid=f"uid-{number}",
        ask_name=f"{ODD} {number}",
        ask_priority=-number,
        ask_requests={"cpu": 2**62 + number, ODD: 1},
        outcome="preempt",
        reason="over-guarantee",
        document=f"{ODD} document {number}" * 50,
        laws=[{"law": ODD, "holds": True, "sums": [{"result": 2**70}]}],
        against_laws=bool(number % 2),
        first_seen=NOW + timedelta(microseconds=number),
        last_seen=NOW,
        closed_at=NOW if number % 2 else None,
    )


def fields(row: Decision) -> dict[str, Any]:
    """All that is stored of one, but its id."""
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields[1:]}


@SIZES
def test_they_are_as_django_stores_them_and_know_their_ids(cluster: Cluster, many: int) -> None:
    """In the order in which they were given."""
    rows = create([made(cluster, number) for number in range(many)])
    assert sorted(row.pk for row in rows) == [row.pk for row in rows]
    for number, row in enumerate(rows):
        alone = made(cluster, number)
        alone.save()
        assert fields(Decision.objects.get(pk=row.pk)) == fields(Decision.objects.get(pk=alone.pk))
    assert not row._state.adding


@SIZES
def test_what_is_there_stays_as_it_is(cluster: Cluster, many: int) -> None:
    """Of what is given again nothing is stored, of the rest all."""
    [row] = create([made(cluster, 0)])
    names = ("about", "first_seen", "decision")
    insert(Mention, names, [(number, NOW, row.pk) for number in range(many)])
    insert(Mention, names, [(number, NOW, row.pk) for number in range(2 * many)])
    assert sorted(Mention.objects.values_list("about", flat=True)) == list(range(2 * many))


@SIZES
def test_what_is_not_given_is_as_usual(cluster: Cluster, many: int) -> None:
    """A field's default."""
    [row] = create([made(cluster, 0)])
    insert(Step, ("decision", "at", "kind"), [(row.pk, NOW, Step.Kind.DECIDED)] * many)
    assert set(Step.objects.values_list("kind", "pod", "note")) == {("decided", "", "")}
    assert Step.objects.count() == many


@SIZES
def test_only_those_that_are_named_change(cluster: Cluster, many: int) -> None:
    """And of them only what is named."""
    first, *others = create([made(cluster, number) for number in range(many + 1)])
    update(
        Decision, ("document", "laws", "node"), [(f"{ODD} {row.pk}", [ODD, row.pk], ODD[:20], row.pk) for row in others]
    )
    assert fields(Decision.objects.get(pk=first.pk)) == fields(first)
    for row in others:
        row.document, row.laws, row.node = f"{ODD} {row.pk}", [ODD, row.pk], ODD[:20]
        assert fields(Decision.objects.get(pk=row.pk)) == fields(row)


@SIZES
def test_none_is_stored_where_one_cannot_be(cluster: Cluster, many: int) -> None:
    """Whoever asked for all of them is told."""
    wrong = made(cluster, many)
    wrong.cluster_id = None
    with pytest.raises(IntegrityError), transaction.atomic():
        create([*(made(cluster, number) for number in range(many)), wrong])
    assert not Decision.objects.exists()
