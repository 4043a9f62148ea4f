"""Who wrote a field last is read from metadata.managedFields."""

from datetime import UTC, datetime

from engine.formats.kubernetes.managed_fields import Writer, applied_by, last_writer
from engine.formats.kubernetes.wire import FieldsOfManager

TEN, NOON = datetime(2026, 1, 5, 10, tzinfo=UTC), datetime(2026, 1, 5, 12, tzinfo=UTC)
DATA = {"f:data": {".": {}, "f:queues.yaml": {}}}


def entry(manager: str, at: datetime | None, fields: dict[str, object], operation: str = "Update") -> FieldsOfManager:
    return FieldsOfManager(manager=manager, time=at, fields_v1=fields, operation=operation)


def test_of_all_who_own_a_field_the_last_is_told() -> None:
    entries = [entry("helm", TEN, DATA), entry("kubectl", NOON, DATA), entry("other", NOON, {"f:data": {"f:log": {}}})]
    assert last_writer(entries, "data", "queues.yaml") == Writer("kubectl", NOON)
    assert last_writer(entries[::-1], "data", "log") == Writer("other", NOON)


def test_what_nobody_owns_was_written_by_nobody_known() -> None:
    """Nor is anything told where an API server keeps no such entries, or strange ones."""
    assert last_writer([], "data") == Writer()
    assert last_writer([entry("helm", TEN, {"f:data": 5})], "data", "queues.yaml") == Writer()
    assert last_writer([FieldsOfManager()], "data") == Writer()


def test_an_owner_without_a_time_comes_before_one_with() -> None:
    assert last_writer([entry("b", None, DATA), entry("a", TEN, DATA)], "data") == Writer("a", TEN)


def test_what_somebody_applied_is_told_apart_from_what_they_updated() -> None:
    spec = {"f:spec": {".": {}, "f:cohort": {}, "f:resourceGroups": {}}}
    entries = [entry("us", TEN, spec, "Apply"), entry("us", TEN, {"f:spec": {"f:other": {}}}), entry("they", TEN, spec)]
    assert applied_by(entries, "us", "spec") == ("cohort", "resourceGroups")
    assert applied_by(entries, "nobody", "spec") == ()
