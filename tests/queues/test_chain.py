"""What was published stays as it was: nobody changes it unnoticed, whoever has the database."""

import re

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, models, transaction
from django.db.models import F, RestrictedError
from hypothesis import given
from hypothesis import strategies as st

from scheduler_admin.accounts.models import AuditEvent, User
from scheduler_admin.core.database import immutable_tables
from scheduler_admin.queues.models import Hierarchy, Queue, Revision
from scheduler_admin.queues.services.chain import SAID, digest_of, first_break
from scheduler_admin.queues.services.hierarchies import publish, roll_back
from tests.builders import queue, rewrite, tree

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(hierarchy: Hierarchy, ann: User) -> list[Revision]:
    """Three revisions, by number; the third says what the first says."""
    publish(hierarchy=hierarchy, tree=tree({"prod": queue("60")}), author=ann, reason="more")
    roll_back(to=hierarchy.revisions.get(number=1), author=ann, reason="back")
    return list(hierarchy.revisions.order_by("number"))


class TestTheChain:
    """Each revision holds the digest of what it says and of all before it."""

    def test_each_follows_on_the_one_that_was_in_force(self, three: list[Revision]) -> None:
        assert [one.parent for one in three] == [None, three[0], three[1]]
        assert all(re.fullmatch("[0-9a-f]{64}", one.digest) for one in three)
        assert [one.digest for one in three] == [digest_of(one) for one in three]

    def test_what_says_the_same_again_has_another_digest(self, three: list[Revision]) -> None:
        first, _second, third = three
        assert (first.document, first.digest != third.digest) == (third.document, True)

    def test_the_audit_log_has_the_digest(self, three: list[Revision]) -> None:
        """Who changes the one has to change the other as well."""
        told = [event.details["digest"] for event in AuditEvent.objects.filter(verb="tree.publish").order_by("pk")]
        assert told == [one.digest for one in three]

    @pytest.mark.parametrize("name", SAID)
    def test_no_field_can_be_another_with_the_same_digest(self, three: list[Revision], name: str) -> None:
        was = three[1].digest
        value = getattr(three[1], name)
        setattr(three[1], name, {"a": 1} if name == "parameters" else 7 if name == "number" else f"{value}x")
        assert digest_of(three[1]) != was

    @given(st.text(max_size=5), st.text(max_size=5), st.text(max_size=5), st.text(max_size=5))
    def test_text_can_t_pass_from_one_field_to_another(self, a: str, b: str, c: str, d: str) -> None:
        one, other = (Revision(number=1, author_name=x, reason=y) for x, y in ((a, b), (c, d)))
        assert (digest_of(one) == digest_of(other)) is ((a, b) == (c, d))


class TestChecking:
    """``check_revisions`` names the first that does not hold."""

    def test_all_hold(self, hierarchy: Hierarchy, three: list[Revision], capsys: pytest.CaptureFixture[str]) -> None:
        assert first_break(Hierarchy.objects.get()) is None
        Hierarchy.objects.create(name="young")
        call_command("check_revisions")
        assert capsys.readouterr().out.splitlines() == [
            f"main: revision 3 and all earlier revisions are valid. Digest: {three[2].digest}",
            "young: no revisions.",
        ]

    def test_the_first_that_was_changed_is_named(
        self, three: list[Revision], capsys: pytest.CaptureFixture[str]
    ) -> None:
        rewrite(Revision.objects.filter(number__gte=2), reason="nothing of mine")
        with pytest.raises(SystemExit) as ended:
            call_command("check_revisions", "main")
        assert ended.value.code == 1
        assert (
            capsys.readouterr().out == "main: revision 2 is NOT valid: its content differs from what was published.\n"
        )

    def test_a_digest_made_anew_breaks_the_next(self, three: list[Revision]) -> None:
        rewrite(Revision.objects.filter(number=1), reason="nothing of mine")
        rewrite(Revision.objects.filter(number=1), digest=digest_of(Revision.objects.get(number=1)))
        broken = first_break(Hierarchy.objects.get())
        assert broken is not None
        assert (broken.number, broken.reason) == (2, "its content differs from what was published")

    def test_one_that_follows_on_another_than_the_last_is_named(self, three: list[Revision]) -> None:
        rewrite(Revision.objects.filter(number=3), parent=three[0])
        broken = first_break(Hierarchy.objects.get())
        assert broken is not None
        assert (broken.number, broken.reason) == (3, "it does not follow the previous revision")

    def test_a_former_one_put_in_force_by_hand_is_told(self, three: list[Revision]) -> None:
        Hierarchy.objects.update(current=three[0])
        broken = first_break(Hierarchy.objects.get())
        assert broken is not None
        assert (broken.number, broken.reason) == (3, "it is the newest revision, but another one is current")

    def test_a_hierarchy_that_there_is_not(self) -> None:
        with pytest.raises(CommandError, match="Hierarchy nosuch does not exist"):
            call_command("check_revisions", "nosuch")


COLUMNS = [
    pytest.param(model, field, id=f"{model.__name__}.{field.name}")
    for model in (Revision, Queue)
    for field in model._meta.concrete_fields
    if field.column not in immutable_tables.MUTABLE
]


class TestTheDatabase:
    """Its users can't change what is published, as long as they leave its triggers alone."""

    @pytest.mark.parametrize(("model", "field"), COLUMNS)
    def test_no_column_of_a_published_row_is_changed(
        self, three: list[Revision], model: type[models.Model], field: "models.Field[object, object]"
    ) -> None:
        """Not even to what it is: a column that is added is under the triggers as well."""
        with pytest.raises(IntegrityError, match="What is published is never changed"), transaction.atomic():
            model._default_manager.update(**{field.name: F(field.name)})

    def test_an_author_s_account_may_go_their_name_stays(self, three: list[Revision], ann: User) -> None:
        ann.delete()
        assert list(Revision.objects.filter(number=2).values_list("author", "author_name")) == [(None, "ann")]
        assert first_break(Hierarchy.objects.get()) is None

    def test_a_revision_goes_only_with_its_hierarchy(self, hierarchy: Hierarchy, three: list[Revision]) -> None:
        with pytest.raises(RestrictedError):
            three[0].delete()
        with pytest.raises(models.ProtectedError):
            three[2].delete()
        hierarchy.current = None
        hierarchy.save()
        hierarchy.delete()
        assert not Revision.objects.exists()

    def test_the_triggers_come_off_and_on_again(self, three: list[Revision]) -> None:
        """As a migration back, and a later one that changes the table, do it."""
        immutable_tables.release(connection)
        assert Queue.objects.update(position=F("position")) > 0
        immutable_tables.protect(connection)
        with pytest.raises(IntegrityError), transaction.atomic():
            Queue.objects.update(position=F("position"))
