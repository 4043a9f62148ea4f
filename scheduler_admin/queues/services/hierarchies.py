"""Writes to trees: hierarchies are made, trees imported, published as revisions and rolled back."""

from collections.abc import Mapping
from hashlib import sha256
from types import EllipsisType
from typing import Any, NamedTuple

import msgspec
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from engine.formats.registry import Format, policy_of_format
from engine.formats.tree_json.canonical import decode_tree, encode_tree
from engine.formats.tree_json.diff import with_former_paths
from engine.model.message import Message, gettext_noop
from engine.model.notes import ImportFailure, Note, Severity
from engine.model.queue_tree import QueueTree
from engine.policies import UnknownPolicyError, first_of, is_enforceable, known_dialects
from engine.policies import policy as decide_by
from engine.tree.orphans import Orphans
from scheduler_admin.accounts.models import FormerPath, User
from scheduler_admin.accounts.selectors import needs_second
from scheduler_admin.accounts.services.audit import record
from scheduler_admin.accounts.services.followed_paths import follow, given_paths
from scheduler_admin.queues.models import Hierarchy, Queue, Revision
from scheduler_admin.queues.notes import said
from scheduler_admin.queues.services.chain import digest_of
from scheduler_admin.queues.services.consumers import consumers_of, tree_errors
from scheduler_admin.queues.services.kept_trees import keep_trees
from scheduler_admin.queues.signals import published, publishing


class Terms(NamedTuple):
    """By which policy a tree is enforced."""

    policy: str = Revision.Policy.FENCE
    dialect: str = "design"
    parameters: dict[str, Any] = {}


class Native(NamedTuple):
    """The document that a tree came from, kept to be written back."""

    format: str = ""
    text: str = ""


def default_terms(form: str) -> Terms:
    """By which policy a first tree is enforced that came from a document of a format: that of its own system."""
    policy = policy_of_format(form)
    return Terms(policy, known_dialects()[policy][0])


class OutdatedError(Exception):
    """Another revision is in force than the one that a change was made on."""

    def __init__(self, current: Revision | None) -> None:
        super().__init__(f"revision {current.number if current else 'none'} is in force")
        self.current = current


@keep_trees(key=lambda document: sha256(document.encode()).digest())
def decoded(document: str) -> QueueTree:
    """The tree of a canonical document, which is to be believed."""
    return decode_tree(document.encode())


def identity(revision: Revision) -> tuple[int, str]:
    """What tells a revision from all others: the digest of all that it says, so that its document need not be read."""
    return revision.pk, revision.digest or revision.document


class OrphansError(Exception):
    """Pods would be in no queue by a change. ``found``: by cluster, which."""

    def __init__(self, found: Mapping[str, tuple[Orphans, ...]]) -> None:
        every = [one for some in found.values() for one in some]
        running, pending = sum(one.running for one in every), sum(one.pending for one in every)
        super().__init__(
            f"{running} running and {pending} pending pods of {', '.join(found)} would belong to no queue."
        )
        self.found = found


@keep_trees(key=identity)
def tree_of(revision: Revision) -> QueueTree:
    """A revision's tree, as the engine reads it."""
    return decode_tree(revision.document.encode())


def terms_of(revision: Revision) -> Terms:
    """By which policy a revision is enforced."""
    return Terms(revision.policy, revision.dialect, revision.parameters)


def native_of(revision: Revision) -> Native:
    """The document that a revision came from."""
    return Native(revision.source_format, revision.source)


def document_format(kept: Native) -> Format:
    """The format in which a tree is handed out as a document, where nobody asks for one: the one that it came from."""
    return Format(kept.format or Format.YUNIKORN)


@transaction.atomic
def create_hierarchy(*, name: str, actor: User | None) -> Hierarchy:
    """A new hierarchy without a tree. Raises ValidationError."""
    hierarchy = Hierarchy(name=name)
    hierarchy.full_clean()
    hierarchy.save()
    record(actor=actor, verb="hierarchy.create", target=name)
    return hierarchy


@transaction.atomic
def publish_as(
    *,
    name: str,
    tree: QueueTree,
    author: User | None,
    reason: str,
    terms: Terms | None = None,
    native: Native | None = None,
    onto: int | EllipsisType | None = ...,
    allow_orphans: bool = False,
) -> Revision:
    """As publish, in the hierarchy of that name, made when there is none. ValidationError is also for a bad name."""
    found = Hierarchy.objects.filter(name=name).first() or create_hierarchy(name=name, actor=author)
    return publish(
        hierarchy=found,
        tree=tree,
        author=author,
        reason=reason,
        terms=terms,
        native=native,
        onto=onto,
        allow_orphans=allow_orphans,
    )


@transaction.atomic
def publish(
    *,
    hierarchy: Hierarchy,
    tree: QueueTree,
    author: User | None,
    reason: str,
    terms: Terms | None = None,
    native: Native | None = None,
    onto: int | EllipsisType | None = ...,
    seconded: bool = False,
    allow_orphans: bool = False,
) -> Revision:
    """Make a tree the next, and current, revision of its hierarchy, unless it is the current one's already.

    ``terms`` and ``native`` are those of the current revision where they are not given. ``onto`` is the pk of the
    revision that the author saw, None for none; not given, whichever is in force. ``seconded``: somebody else looked at
    it, too. ``allow_orphans``: also where pods lose their queue by it, which raises OrphansError otherwise.

    Returns the revision in force. Raises OutdatedError when another one is, ImportFailure for a tree that contradicts
    itself, ValidationError for terms that this version can't decide by, for a missing reason, and where a second person
    is wanted: for all but the first revision.
    """
    hierarchy = Hierarchy.objects.select_for_update().get(pk=hierarchy.pk)
    current = hierarchy.current  # apart from the lock: a join to it would be of before the wait
    if onto is not ... and onto != hierarchy.current_id:
        raise OutdatedError(current)
    kept = native or (native_of(current) if current else Native())
    terms = terms or (terms_of(current) if current else default_terms(kept.format))
    readers = consumers_of(hierarchy)
    if wrong := tree_errors(tree, readers, kept=kept.format, policy=terms.policy, dialect=terms.dialect):
        raise ImportFailure(wrong)
    check_terms(terms)
    _check_not_enforced(hierarchy, terms)
    document = encode_tree(tree).decode()
    if current is not None and (document, terms) == (current.document, terms_of(current)):
        return current
    if current is not None and author is not None and not seconded and needs_second(author):
        raise ValidationError(_("A second person must approve this in a draft first."))
    if current is not None:
        publishing.send(Revision, hierarchy=hierarchy, tree=tree, allow_orphans=allow_orphans)
    return _put_in_force(hierarchy, document, terms, kept, author, reason)


def check_terms(terms: Terms) -> None:
    """Raise ValidationError, with the member that is wrong, for terms that this version can't decide by."""
    try:
        decide_by(*terms)
    except UnknownPolicyError as error:
        raise ValidationError({error.member: str(error)}) from error
    except msgspec.ValidationError as error:
        raise ValidationError({"parameters": str(error)}) from error


FOREIGN_ENFORCED = gettext_noop(
    "Dialect %(dialect)s only explains another scheduler and can't be enforced. Cluster %(name)s is in Enforce mode."
)
BY_QUOTA_ENFORCED = gettext_noop(
    "Policy %(policy)s can't be enforced in cluster %(name)s without Kueue. Nothing would hold back pods "
    "without quota, so evicted pods would return immediately."
)


def not_enforceable(hierarchy: Hierarchy, terms: Terms) -> Note | None:
    """What keeps a cluster that is enforced from being so by these terms."""
    try:
        if is_enforceable(terms.policy, terms.dialect):
            return None
    except UnknownPolicyError:  # which is an error of its own
        return None
    acting = hierarchy.clusters.filter(mode="enforce").first()
    if acting is None:
        return None
    by_quota = first_of(terms.policy).by_quota
    message = BY_QUOTA_ENFORCED if by_quota else FOREIGN_ENFORCED
    field = "policy" if by_quota else "dialect"
    params = {field: getattr(terms, field), "name": acting.name}
    return Note(severity=Severity.ERROR, path="", line=None, message=Message(message, params), field=field)


def _check_not_enforced(hierarchy: Hierarchy, terms: Terms) -> None:
    if note := not_enforceable(hierarchy, terms):
        raise ValidationError({note.field: said(note)})


def _put_in_force(
    hierarchy: Hierarchy,
    document: str,
    terms: Terms,
    native: Native,
    author: User | None,
    reason: str,
) -> Revision:
    last = hierarchy.revisions.aggregate(last=Max("number"))["last"] or 0
    revision = Revision(
        hierarchy=hierarchy,
        number=last + 1,
        parent=hierarchy.current,
        document=document,
        source_format=native.format,
        source=native.text,
        policy=terms.policy,
        dialect=terms.dialect,
        parameters=terms.parameters,
        author=author,
        author_name=author.get_username() if author else "system",
        reason=reason,
    )
    revision.digest = digest_of(revision)
    revision.full_clean()
    revision.save()
    _store_queues(revision)
    hierarchy.current = revision
    hierarchy.save(update_fields=["current"])
    _follow(hierarchy, tree_of(revision), author)
    record(actor=author, verb="tree.publish", target=str(revision), reason=reason, details={"digest": revision.digest})
    return revision


def _follow(hierarchy: Hierarchy, tree: QueueTree, author: User | None) -> None:
    """What is said of a queue by its path follows it to another path."""
    others = Hierarchy.objects.exclude(pk=hierarchy.pk).values("current")
    told = {*given_paths(), *tree.former_paths}
    elsewhere = Queue.objects.filter(revision__in=others, path__in=told).values_list("path", flat=True)
    FormerPath.objects.filter(former__in=tree.queues).delete()
    follow(hierarchy=hierarchy.pk, tree=tree, elsewhere=frozenset(elsewhere), actor=author)
    published.send(Revision, hierarchy=hierarchy, tree=tree)


def rolled_back(to: Revision) -> QueueTree:
    """The tree of a former revision, whose queues are known by what they are called in the one in force, too."""
    current = to.hierarchy.current
    return with_former_paths(tree_of(current), tree_of(to)) if current else tree_of(to)


def roll_back(
    *,
    to: Revision,
    author: User | None,
    reason: str,
    onto: int | EllipsisType | None = ...,
    allow_orphans: bool = False,
) -> Revision:
    """Publish a former revision again as it was: tree, terms and native document, to the byte. Raises as publish.

    Only queues that were renamed since get their present path as a former path: their pods name it. The tree was looked
    at when it was published, so nobody has to approve it again: going back is in haste.
    """
    return publish(
        hierarchy=to.hierarchy,
        tree=rolled_back(to),
        author=author,
        reason=reason,
        terms=terms_of(to),
        native=native_of(to),
        onto=onto,
        seconded=True,
        allow_orphans=allow_orphans,
    )


def _store_queues(revision: Revision) -> None:
    """The queues as rows, in the canonical order, level by level: a row needs its parent's key."""
    tree = tree_of(revision)
    stored: dict[str, Queue] = {}
    levels: dict[int, list[Queue]] = {}
    for position, path in enumerate(tree.walk()):
        row = row_of(revision, tree, path, position)
        row.clean_fields(exclude=["revision", "parent"])
        levels.setdefault(row.depth, []).append(row)
        stored[path] = row
    for _depth, rows in sorted(levels.items()):
        for row in rows:
            row.parent = stored.get(row.path.rpartition(".")[0])
        Queue.objects.bulk_create(rows)


def row_of(revision: Revision, tree: QueueTree, path: str, position: int) -> Queue:
    """A queue of a tree as a row, not stored."""
    row = Queue(revision=revision, path=path, position=position, leaf=tree.is_leaf(path))
    row.own = tree[path]
    row.settings = {name: value for name, value in msgspec.to_builtins(row.own).items() if name != "path"}
    return row
