"""What is written need not be in force: the scheduler is asked, and what it last used can be put back."""

from dataclasses import replace
from datetime import timedelta

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.utils import timezone

from engine.cluster.sync.copies import CopyEffect, SchedulerAnswer
from engine.formats.registry import Format
from engine.model.notes import ImportFailure
from scheduler_admin.accounts.models import AuditEvent
from scheduler_admin.queues.services.imports import import_tree
from scheduler_admin.sync import kinds
from scheduler_admin.sync.models import Copy, Writing
from scheduler_admin.sync.observation import SETTLES
from scheduler_admin.sync.services import OvertakenError, ask_to_put_back
from scheduler_admin.sync.state import Standing, troubled
from tests.pages import rows
from tests.sync.builders import TEXT, Kept, changed

pytestmark = pytest.mark.django_db
WHY = "guaranteed resource of parent is smaller than sum"


class Scheduler:
    """YuniKorn as it answers when it is asked."""

    def __init__(self) -> None:
        self.goes_by = TEXT
        self.takes = True

    def effect(self, _connection: object, _service: str, text: str) -> SchedulerAnswer:
        if text == self.goes_by:
            return SchedulerAnswer(effect=CopyEffect.APPLIED)
        return SchedulerAnswer(effect=CopyEffect.REJECTED, why="" if self.takes else WHY)

    def refusal(self, _connection: object, _service: str, _text: str) -> str:
        return "" if self.takes else WHY


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """Stands in for the one of the cluster."""
    found = Scheduler()
    kind = replace(kinds.KINDS[Format.YUNIKORN], effect=found.effect, refusal=found.refusal)
    monkeypatch.setitem(kinds.KINDS, Format.YUNIKORN, kind)
    return found


@pytest.fixture
def refused(scheduler: Scheduler, kept: Kept) -> Kept:
    """Somebody wrote what the scheduler does not take, a while ago."""
    kept.look()
    scheduler.takes = False
    kept.edit(changed())
    kept.look()
    with time_machine.travel(timezone.now() + SETTLES + timedelta(seconds=1)):
        kept.look()
    return kept


def test_what_the_scheduler_goes_by_is_in_force(scheduler: Scheduler, kept: Kept) -> None:
    """And kept, to be put back."""
    kept.look()
    assert (kept.copy.effect, kept.copy.good, kept.standing) == ("applied", TEXT, Standing.IN_SYNC)


def test_it_has_a_while_to_take_over_what_was_written(scheduler: Scheduler, kept: Kept) -> None:
    """And is asked again soon, not a minute later."""
    kept.publish(changed())
    kept.look()
    kept.ask()
    kept.look()
    assert (kept.copy.effect, kept.standing) == ("pending", Standing.IN_SYNC)
    assert kept.copy.due_at - timezone.now() < timedelta(seconds=10)
    scheduler.goes_by = changed()
    kept.look()
    assert kept.copy.effect == "applied"


def test_what_it_still_does_not_go_by_is_refused_in_its_own_words(refused: Kept) -> None:
    """On the page, and among the clusters that want to be seen to."""
    assert (refused.copy.effect, refused.copy.effect_note) == ("rejected", WHY)
    assert list(troubled(rows.user(), [refused.cluster])) == [refused.cluster.pk]


def test_a_copy_that_says_what_the_revision_says_is_not_in_step_while_it_is_refused(refused: Kept) -> None:
    refused.publish(changed())
    assert refused.standing is Standing.NOT_APPLIED


def test_nothing_is_written_that_the_scheduler_would_not_take(scheduler: Scheduler, kept: Kept) -> None:
    """It is asked first, and its words are noted."""
    kept.look()
    scheduler.takes = False
    kept.publish(changed())
    kept.look()
    asked = kept.ask()
    kept.look()
    asked.refresh_from_db()
    assert (asked.state, kept.text) == (Writing.State.REJECTED, TEXT)
    assert WHY in asked.note


def test_what_it_last_went_by_is_put_back_by_one_press(refused: Kept, scheduler: Scheduler) -> None:
    """The revision in force here stays, to be corrected; it is as if it had never been written."""
    refused.publish(changed())
    ada = rows.user()
    asked = ask_to_put_back(cluster=refused.cluster, version=refused.copy.version, actor=ada, reason="outage")
    assert AuditEvent.objects.filter(verb="configuration.restore", actor=ada, reason="outage").exists()
    scheduler.takes = True
    refused.look()
    asked.refresh_from_db()
    assert (asked.state, refused.text) == (Writing.State.WRITTEN, TEXT)
    assert (refused.copy.effect, refused.standing) == ("applied", Standing.OUTDATED)


def test_only_what_is_refused_is_put_back_and_only_over_what_was_seen(scheduler: Scheduler, kept: Kept) -> None:
    kept.look()
    with pytest.raises(ValidationError, match="There is nothing to restore"):
        ask_to_put_back(cluster=kept.cluster, version=kept.copy.version, actor=None, reason="why not")
    with pytest.raises(OvertakenError):
        ask_to_put_back(cluster=kept.cluster, version="another", actor=None, reason="why not")


LIMITED = TEXT.replace(
    "          - name: test\n",
    "          - name: test\n            limits: [{users: [ann], maxresources: {vcore: '4'}}]\n",
)


def test_no_tree_is_published_that_yunikorn_would_refuse_of_what_the_cluster_says_besides(kept: Kept) -> None:
    """A max below what a user may have, of which the tree has no word."""
    kept.edit(LIMITED)
    kept.look()
    lower = TEXT.replace(
        "          - name: test\n", "          - name: test\n            resources: {max: {vcore: '2'}}\n"
    )
    with pytest.raises(ImportFailure, match="A limit of 4 cpu is above the queue's max of 2"):
        import_tree(hierarchy="demo", text=lower, author=None, reason="less")


def test_a_tree_of_our_own_form_has_to_be_one_that_yunikorn_takes_where_it_reads_it(kept: Kept) -> None:
    """Children guaranteed more than their parent: a warning elsewhere."""
    queues = [{"path": "root"}, {"path": "root.t", "guaranteed": {"cpu": 4}}]
    queues += [{"path": f"root.t.{name}", "guaranteed": {"cpu": 3}} for name in "ab"]
    text = f'{{"policy": "fence", "queues": {queues}}}'.replace("'", '"')
    with pytest.raises(ImportFailure, match="YuniKorn rejects"):
        import_tree(hierarchy="demo", text=text, author=None, reason="more")
    Copy.objects.all().delete()
    assert import_tree(hierarchy="demo", text=text, author=None, reason="more")
