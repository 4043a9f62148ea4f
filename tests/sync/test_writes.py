"""A revision is written back when somebody says so, over what they saw and nothing else, once."""

from datetime import timedelta

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.utils import timezone

from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.sync import writes as writing_module
from scheduler_admin.sync.models import Writing
from scheduler_admin.sync.services import OvertakenError, ask_to_write
from scheduler_admin.sync.state import Standing
from scheduler_admin.sync.visits import visit
from scheduler_admin.sync.writes import BEGUN_WITHIN
from tests.cluster.doubles import scripted
from tests.pages import rows
from tests.sync.builders import TEXT, Kept, changed

pytestmark = pytest.mark.django_db
State = Writing.State


def test_nothing_is_written_unless_somebody_says_so(kept: Kept) -> None:
    """However often is looked, and whatever is published."""
    kept.there.forget()
    kept.publish(changed())
    for _ in range(3):
        kept.look()
    assert kept.text == TEXT
    assert {one.verb for one in kept.there.audit} <= {"get", "list"}


def test_what_is_written_is_what_the_tree_says_and_the_rest_stays(kept: Kept) -> None:
    """Comments, ACLs, whatever the tree has no word for; then the two are in step."""
    ada = rows.user()
    kept.publish(changed())
    kept.look()
    asked = kept.ask(ada)
    assert (asked.state, kept.text) == (State.IN_PROGRESS, TEXT)
    kept.look()
    asked.refresh_from_db()
    assert (asked.state, asked.note) == (State.WRITTEN, "")
    assert asked.ended_at is not None
    assert kept.text == changed()
    assert kept.standing is Standing.IN_SYNC
    assert kept.copy.writer == "scheduler-admin"


def test_who_asked_and_what_came_of_it_is_written_down(kept: Kept) -> None:
    ada = rows.user()
    kept.publish(changed())
    kept.ask(ada)
    kept.look()
    asked, done = AuditEvent.objects.filter(verb__startswith="configuration.write").order_by("pk")
    assert (asked.verb, asked.actor, asked.target, asked.reason) == (
        "configuration.write",
        ada,
        "demo 2 → demo",
        "as agreed",
    )
    assert (asked.details["overwrites"], done.verb) == (False, "configuration.write.written")
    assert (done.actor_name, done.details["asked_by"]) == ("engine", "ada")


def test_drift_is_not_overwritten_unless_that_is_confirmed(kept: Kept) -> None:
    kept.edit(changed(cpu="2"))
    kept.look()
    with pytest.raises(ValidationError) as told:
        kept.ask()
    assert "overwrite" in told.value.message_dict
    kept.look()
    assert kept.text == changed(cpu="2")
    kept.ask(overwrite=True)
    kept.look()
    assert kept.text == TEXT


def test_a_revision_that_is_no_longer_in_force_is_not_written(kept: Kept) -> None:
    """Somebody went back from it before the worker came by."""
    kept.publish(changed())
    kept.look()
    asked = kept.ask()
    kept.publish(TEXT)
    kept.look()
    asked.refresh_from_db()
    assert (asked.state, asked.note) == (
        State.CHANGED_MEANWHILE,
        "Another revision was published in the meantime. Nothing was written.",
    )
    assert kept.text == TEXT
    assert kept.standing is Standing.IN_SYNC


def test_what_changed_after_it_was_shown_is_not_overwritten_by_what_was_confirmed_before(kept: Kept) -> None:
    """Between showing and asking, as far as is known here, and between asking and writing, by the API server."""
    kept.publish(changed())
    kept.look()
    seen = kept.copy.version
    kept.edit(changed(cpu="2"))
    asked = kept.ask()
    kept.look()
    asked.refresh_from_db()
    assert (asked.state, kept.text) == (State.CHANGED_MEANWHILE, changed(cpu="2"))
    assert kept.standing is Standing.DIVERGED
    assert kept.cluster.hierarchy
    assert kept.cluster.hierarchy.current_id
    with pytest.raises(OvertakenError):
        ask_to_write(
            cluster=kept.cluster,
            revision=kept.cluster.hierarchy.current_id,
            version=seen,
            overwrite=True,
            actor=None,
            reason="x",
        )


def test_a_change_in_the_very_moment_of_writing_is_not_overwritten(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """After it was read once more: the API server takes it only for the version that was read."""
    kept.publish(changed())
    asked = kept.ask()
    monkeypatch.setattr(writing_module, "reached", lambda point: point == "write asked" and kept.edit(changed(cpu="2")))
    kept.look()
    asked.refresh_from_db()
    assert (asked.state, kept.text) == (State.CHANGED_MEANWHILE, changed(cpu="2"))


def test_another_revision_in_force_is_not_what_was_asked_for(kept: Kept) -> None:
    kept.publish(changed())
    assert kept.cluster.hierarchy
    kept.cluster.hierarchy.refresh_from_db()
    seen = kept.cluster.hierarchy.current_id
    kept.publish(changed(cpu="8"))
    with pytest.raises(OvertakenError):
        ask_to_write(
            cluster=kept.cluster,
            revision=seen or 0,
            version=kept.copy.version,
            overwrite=False,
            actor=None,
            reason="x",
        )


@pytest.mark.parametrize("point", ["write asked", "write answered"])
def test_a_worker_that_dies_is_continued_by_the_next(kept: Kept, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    """Before it was written, or after: written once, and known to be."""

    class Died(BaseException):
        """Nothing catches it."""

    def die(at: str) -> None:
        if at == point:
            raise Died

    kept.publish(changed())
    asked = kept.ask()
    monkeypatch.setattr(writing_module, "reached", die)
    with pytest.raises(Died):
        kept.look()
    monkeypatch.undo()
    asked.refresh_from_db()
    assert asked.state == State.IN_PROGRESS
    kept.look()
    kept.look()
    asked.refresh_from_db()
    assert (asked.state, kept.text, kept.standing) == (State.WRITTEN, changed(), Standing.IN_SYNC)
    writes = [one for one in kept.there.audit if one.verb == "patch" and one.code == 200]
    assert len(writes) == 1


def test_one_is_under_way_at_a_time(kept: Kept) -> None:
    kept.publish(changed())
    kept.ask()
    with pytest.raises(ValidationError, match="Another write is in progress"):
        kept.ask()


def test_there_has_to_be_something_to_write_and_a_reason(kept: Kept) -> None:
    with pytest.raises(ValidationError, match="nothing to write"):
        kept.ask()
    kept.publish(changed())
    assert kept.cluster.hierarchy
    kept.cluster.hierarchy.refresh_from_db()
    with pytest.raises(ValidationError) as told:
        ask_to_write(
            cluster=kept.cluster,
            revision=kept.cluster.hierarchy.current_id or 0,
            version=kept.copy.version,
            overwrite=True,
            actor=None,
            reason=" ",
        )
    assert "reason" in told.value.message_dict


def test_what_can_not_be_read_is_not_written_into(kept: Kept) -> None:
    kept.edit("partitions: 5\n")
    kept.look()
    with pytest.raises(ValidationError, match="cannot be read"):
        kept.ask(overwrite=True)


def test_a_cluster_that_does_not_answer_is_tried_again_for_a_minute(kept: Kept) -> None:
    """Then it is given up, so that it can't come to anybody's surprise."""
    kept.publish(changed())
    asked = kept.ask()
    with scripted(lambda _asked, answer: answer.status(503, message="it is away")) as server:
        for later, state in ((timedelta(), State.IN_PROGRESS), (BEGUN_WITHIN * 2, State.FAILED)):
            now = timezone.now() + later
            with time_machine.travel(now, tick=False):
                visit(copy=kept.copy, connection=server.connection(), namespaces=(), now=now)
            asked.refresh_from_db()
            assert asked.state == state
            assert "it is away" in asked.note
    kept.look()
    assert kept.text == TEXT
