"""Reads of published revisions: which there are, and what one changed against another."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from cachetools import LRUCache, cached
from django.http import Http404

from engine.formats import registry
from engine.formats.registry import Format
from engine.formats.tree_json.diff import QueueChange, Setting, changes
from engine.formats.written_document import Written
from engine.model.notes import ImportFailure
from engine.model.queue_tree import ROOT_ONLY
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.queues.models import Hierarchy, Revision, RevisionQuerySet
from scheduler_admin.queues.selectors.differences import differing_terms, differing_tree
from scheduler_admin.queues.services.hierarchies import identity, native_of, terms_of, tree_of

PAGE = 30
KEPT_CHANGES = 25_000
"""Changed queues of all differences between two revisions that are kept together. One takes about 0.7 kB.

The first revision of a tree of 20,000 queues changes all of them.
"""


@dataclass(frozen=True)
class RevisionPage:
    """Some revisions, newest first. ``older``: the number to go on at, None: there are no more."""

    revisions: Sequence[Revision]
    older: int | None


def revisions_of(user: Who, hierarchy: Hierarchy | None, before: int | None = None, size: int = PAGE) -> RevisionPage:
    """The revisions of a hierarchy, or those with a lower number than ``before``."""
    rows = with_parents(user).filter(hierarchy=hierarchy).order_by("-number")
    if before is not None:
        rows = rows.filter(number__lt=before)
    found = list(rows.defer("source")[: size + 1])
    return RevisionPage(found[:size], found[size - 1].number if len(found) > size else None)


def with_parents(user: Who) -> RevisionQuerySet:
    """Return the revisions that the user may see, each with what its parent is called."""
    rows = Revision.objects.restrict(user, "view").select_related("parent")
    return rows.defer("parent__document", "parent__source")


def find_revision(user: Who, hierarchy: Hierarchy | None, number: int) -> Revision:
    """One revision of a hierarchy. Raises Http404 for a stranger."""
    rows = with_parents(user).select_related("hierarchy__current", "author")
    revision = rows.filter(hierarchy=hierarchy, number=number).first()
    if revision is None:
        raise Http404
    return revision


def in_force_at(hierarchy: Hierarchy | None, at: datetime) -> Revision | None:
    """The revision that was in force at a moment; None before the first."""
    return Revision.objects.filter(hierarchy=hierarchy, published_at__lte=at).order_by("-number").first()


def former(user: Who, revision: Revision) -> Revision | None:
    """The one before; None for the first."""
    rows = Revision.objects.restrict(user, "view").filter(hierarchy=revision.hierarchy_id, number__lt=revision.number)
    return rows.order_by("-number").first()


def numbers(user: Who, hierarchy: Hierarchy | None) -> list[int]:
    """Of all revisions, newest first."""
    rows = Revision.objects.restrict(user, "view").filter(hierarchy=hierarchy).order_by("-number")
    return list(rows.values_list("number", flat=True))


def _both(before: Revision | None, after: Revision) -> Hashable:
    return before and identity(before), identity(after)


@cached(LRUCache(KEPT_CHANGES, getsizeof=lambda found: 1 + len(found)), key=_both, lock=Lock())
def difference(before: Revision | None, after: Revision) -> tuple[QueueChange, ...]:
    """What makes one revision of another; before the first there was a bare root."""
    return changes(tree_of(before) if before else ROOT_ONLY, tree_of(after))


@cached(LRUCache(1_000), key=_both, lock=Lock())
def count_changes(before: Revision | None, after: Revision) -> int:
    """How many queues one revision changed against another; lists count the same pairs again and again."""
    return len(difference(before, after))


@cached(LRUCache(1_000), key=_both, lock=Lock())
def beside(before: Revision | None, after: Revision) -> tuple[Setting, ...]:
    """What differs beside the queues: of the terms, and of the rules by which pods find their leaf."""
    if before is None:
        return ()
    terms = differing_terms(terms_of(before), terms_of(after))
    return (*terms, *differing_tree(tree_of(before), tree_of(after)))


def written(revision: Revision, form: Format) -> Written:
    """A revision in a format: the document that it came from, where that is of it, with the revision's tree."""
    kept, tree, terms = native_of(revision), tree_of(revision), terms_of(revision)._asdict()
    try:
        return registry.write(form, kept.text if kept.format == form else "", tree, terms)
    except ImportFailure:  # read by a version that was less strict
        return registry.write(form, "", tree, terms)
