"""Random acts of two people on one draft, with publishing in between: no change is lost, and a tree stays a tree."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from engine.formats.tree_json.canonical import encode_tree
from engine.model.notes import ImportFailure
from engine.tree.three_way_merge import merge
from scheduler_admin.accounts.models import User
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.drafts.copies import copy
from scheduler_admin.queues.drafts.merge import choose, merge_draft
from scheduler_admin.queues.drafts.selectors import state
from scheduler_admin.queues.drafts.storage import ConflictError, said
from scheduler_admin.queues.drafts.tree_document import flat_draft, flat_tree, queues_of
from scheduler_admin.queues.drafts.undo import next_act, redo, undo
from scheduler_admin.queues.models import Draft, DraftQueue, Hierarchy
from scheduler_admin.queues.services.hierarchies import publish, tree_of
from tests.builders import queue, tree
from tests.properties import examples

pytestmark = pytest.mark.django_db

NAMES = ["a", "b", "c", "A"]
PATHS = [*NAMES, *(f"{above}.{name}" for above in "abc" for name in NAMES), "a.a.b", "b.a.c"]
BASE = tree({"a": queue(4), "a.b": queue(2), "a.b.c": queue(1), "b": queue(3), "b.c": queue(2), "c": queue(5)})

ACTS = st.one_of(
    st.tuples(st.just("edit"), st.integers(0, 9), st.sampled_from(["delay", "priority_offset"]), st.integers(1, 3)),
    st.tuples(st.just("add"), st.integers(0, 9), st.sampled_from(NAMES)),
    st.tuples(st.just("rename"), st.integers(0, 9), st.sampled_from(NAMES)),
    st.tuples(st.just("move"), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("delete"), st.integers(1, 9)),
    st.tuples(st.just("copy"), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.sampled_from(["undo", "redo"])),
    st.tuples(st.just("publish"), st.dictionaries(st.sampled_from(PATHS), st.integers(1, 3), max_size=5)),
    st.tuples(st.just("merge")),
    st.tuples(st.just("choose"), st.integers(0, 5), st.sampled_from(["mine", "theirs"])),
)


def act(draft: Draft, actor: User, verb: str, *said: Any) -> None:
    """One act; what is refused is left."""
    rows = [one.row for one in queues_of(draft)]
    row = rows[said[0] % len(rows)] if verb in ("edit", "add", "rename", "move", "delete", "copy") else rows[0]
    try:
        match verb, said:
            case "edit", (_row, setting, number):
                text = f"{number}s" if setting == "delay" else str(number)
                was = row.settings.get(setting, "")
                edits.edit(draft=draft, row=row.pk, setting=setting, text=text, was=was, actor=actor)
            case "add", (_row, name):
                edits.add(draft=draft, parent=row.pk, name=name, actor=actor)
            case "rename", (_row, name):
                edits.rename(draft=draft, row=row.pk, name=name, was=row.name, actor=actor)
            case "move", (_row, to):
                target = rows[to % len(rows)].pk
                edits.move(draft=draft, row=row.pk, parent=target, was=row.parent_id or 0, actor=actor)
            case "delete", _row:
                edits.delete(draft=draft, row=row.pk, version=draft.version, actor=actor)
            case "copy", (_row, to):
                copy(draft=draft, row=row.pk, parent=rows[to % len(rows)].pk, actor=actor)
            case "undo", _nothing:
                undo(draft=draft, actor=actor)
            case "redo", _nothing:
                redo(draft=draft, actor=actor)
            case "publish", (queues,):
                put_in_force(draft, queues)
            case "merge", _nothing:
                merge_all(draft, actor)
            case "choose", (place, side) if draft.conflicts:
                one = draft.conflicts[place % len(draft.conflicts)]
                choose(draft=draft, queue=one["queue"], setting=one["setting"], side=side, actor=actor)
    except (ValidationError, ConflictError, DraftQueue.DoesNotExist):
        pass


def put_in_force(draft: Draft, queues: dict[str, int]) -> None:
    """Somebody publishes another tree."""
    try:
        made = tree({path: queue(1, delay_ms=number * 1000) for path, number in queues.items()})
        publish(hierarchy=draft.hierarchy, tree=made, author=None, reason="other")
    except ImportFailure:  # such as two queues of one name
        pass


def merge_all(draft: Draft, actor: User) -> Draft:
    """Merge; the draft then holds all that both changed."""
    if not draft.outdated or draft.conflicts or draft.hierarchy.current is None:
        return merge_draft(draft=draft, actor=actor)
    mine = flat_draft(draft, queues_of(draft))[0]
    merged = merge(flat_tree(draft.base), flat_tree(draft.hierarchy.current), mine)
    draft = merge_draft(draft=draft, actor=actor)
    assert by_path(flat_draft(draft, queues_of(draft))[0]) == by_path(merged.queues)
    assert len(draft.conflicts) == len(merged.conflicts)
    return draft


def by_path(queues: Mapping[str, Mapping[str, str]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Path and settings of flat queues, whatever their identities are."""
    found = []
    for settings_of_one in queues.values():
        names, above = [settings_of_one.get("name", "")], settings_of_one.get("parent")
        while above:
            names.append(queues[above]["name"])
            above = queues[above].get("parent")
        own = sorted((name, text) for name, text in settings_of_one.items() if name != "parent")
        found.append((".".join(reversed(names)), own))
    return sorted(found)


def settled(draft: Draft, actor: User) -> Draft:
    """Merged, everything chosen."""
    for _time in range(2):
        while draft.conflicts:
            one = draft.conflicts[-1]
            draft = choose(draft=draft, queue=one["queue"], setting=one["setting"], side="theirs", actor=actor)
        draft = merge_all(draft, actor)
    return draft


def check(draft: Draft) -> None:
    """All queues hang together; no two are said to be the same one of the base."""
    placed = queues_of(draft)
    assert len(placed) == draft.queues.count()
    assert [one.row.name for one in placed if one.row.parent_id is None] == ["root"]
    origins = [one.row.origin for one in placed if one.row.origin]
    assert len(set(origins)) == len(origins)
    assert set(origins) <= set(tree_of(draft.base).queues)


def fresh(draft: Draft) -> Draft:
    """As it is now."""
    return Draft.objects.select_related("hierarchy__current", "base").get(pk=draft.pk)


@given(acts=st.lists(st.tuples(st.booleans(), ACTS), max_size=14))
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_draft_stays_a_tree_and_is_published_as_it_was_shown(ann: User, bob: User, acts: list[Any]) -> None:
    """Whatever two people do, in whatever order."""
    with transaction.atomic():
        hierarchy = Hierarchy.objects.create(name="main")
        publish(hierarchy=hierarchy, tree=BASE, author=None, reason="first")
        draft = edits.start(hierarchy=hierarchy, name="x", author=ann)
        for first, (verb, *said) in acts:
            act(fresh(draft), ann if first else bob, verb, *said)
            check(fresh(draft))
        draft = settled(fresh(draft), ann)
        check(draft)
        shown = state(fresh(draft))
        if shown.publishable:
            assert shown.tree is not None
            revision = edits.publish_draft(draft=draft, version=draft.version, reason="done", actor=bob)
            assert revision.document == encode_tree(shown.tree).decode()
        transaction.set_rollback(True)


def content(draft: Draft) -> list[Any]:
    """All that a draft says."""
    return [draft.base_id, draft.conflicts, *((one.pk, said(one)) for one in draft.queues.all())]


@given(acts=st.lists(ACTS, max_size=12))
@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_one_did_alone_is_undone_to_the_beginning(ann: User, acts: list[Any]) -> None:
    """And redone to the end, to the last setting, whatever was published meanwhile."""
    with transaction.atomic():
        hierarchy = Hierarchy.objects.create(name="main")
        publish(hierarchy=hierarchy, tree=BASE, author=None, reason="first")
        draft = edits.start(hierarchy=hierarchy, name="x", author=ann)
        first = content(fresh(draft))
        for verb, *given_ in acts:
            act(fresh(draft), ann, verb, *given_)
        last = content(fresh(draft))
        while next_act(draft, ann, back=False):
            redo(draft=draft, actor=ann)
        furthest = content(fresh(draft))
        while next_act(draft, ann, back=True):
            undo(draft=draft, actor=ann)
        assert content(fresh(draft)) == first
        while next_act(draft, ann, back=False):
            redo(draft=draft, actor=ann)
        assert content(fresh(draft)) == furthest
        assert furthest == last or any(verb == "undo" for verb, *_rest in acts)
        transaction.set_rollback(True)
