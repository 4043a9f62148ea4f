"""manage.py apply_tree prints what writing would change, and writes it where a reason is given."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from scheduler_admin.sync.models import Writing
from tests.sync.builders import TEXT, Kept, changed

pytestmark = pytest.mark.django_db


def apply(*options: str) -> str:
    out = StringIO()
    call_command("apply_tree", "demo", *options, stdout=out)
    return out.getvalue()


def version(printed: str) -> str:
    """What is to be confirmed."""
    return printed.partition("--overwrite ")[2].strip()


def test_without_a_reason_nothing_is_written(kept: Kept) -> None:
    kept.publish(changed())
    printed = apply()
    assert "older than revision 2" in printed
    assert "root.prod: guaranteed cpu 4 → 6" in printed
    assert kept.text == TEXT
    assert not Writing.objects.exists()


def test_with_one_it_is(kept: Kept) -> None:
    kept.publish(changed())
    assert "Revision 2 was written" in apply("--reason", "as agreed")
    assert kept.text == changed()
    assert "same as revision 2" in apply("--reason", "again")
    assert Writing.objects.count() == 1


def test_what_others_wrote_is_taken_back_only_in_the_version_that_was_printed(kept: Kept) -> None:
    kept.edit(changed(cpu="2"))
    confirm = version(apply())
    with pytest.raises(CommandError, match="Confirm"):
        apply("--reason", "as agreed")
    kept.edit(changed(cpu="3"))
    with pytest.raises(CommandError, match="Confirm"):
        apply("--reason", "as agreed", "--overwrite", confirm)
    assert kept.text == changed(cpu="3")
    apply("--reason", "as agreed", "--overwrite", version(apply()))
    assert kept.text == TEXT


def test_a_cluster_that_is_not_there_is_told(db: None) -> None:
    with pytest.raises(CommandError, match="Cluster demo does not exist"):
        apply()
