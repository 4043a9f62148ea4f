"""The sides of a comparison: a tree that is there, and the way to decide under it, kept as they are now."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.http import Http404
from django.utils.translation import gettext as _

from engine.formats.tree_json.canonical import decode_tree, encode_tree
from engine.planning.comparison import ComparedSide
from engine.policies import Decide, audit_terms, foreign_dialects, known_dialects, policy
from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.queues.drafts import selectors
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.selectors.revisions import find_revision
from scheduler_admin.queues.services.hierarchies import Terms, terms_of

MOST = 8
"""Sides of one comparison: as many columns as a table can be read with."""
CURRENT = "current"
_LONGEST = 18


class Chosen(NamedTuple):
    """A side as it is asked for."""

    tree: str
    """``current``, ``revision:7`` or ``draft:12``."""
    terms: str = ""
    """``fence/yunikorn``: policy and dialect; empty: the tree's own."""


def ways() -> list[str]:
    """All policies with their dialects that this version can decide by, as ``Chosen.terms``."""
    return [f"{name}/{dialect}" for name, dialects in known_dialects().items() for dialect in dialects]


def kept(user: Who, cluster: Cluster, chosen: Iterable[Chosen]) -> list[dict[str, Any]]:
    """What a comparison keeps of its sides. Raises ValidationError, with what is wrong with ``sides``."""
    asked = list(dict.fromkeys(chosen))
    if not asked:
        raise ValidationError({"sides": _("Choose at least one queue tree.")})
    if len(asked) > MOST:
        raise ValidationError({"sides": _("You can compare at most %(most)s configurations.") % {"most": MOST}})
    return [_kept(user, cluster, one) for one in asked]


def _kept(user: Who, cluster: Cluster, one: Chosen) -> dict[str, Any]:
    told, document, own = _tree(user, cluster, one.tree)
    name, dialect, parameters = own
    if one.terms:
        name, _slash, dialect = one.terms.partition("/")
    if dialect not in known_dialects().get(name, ()):
        raise ValidationError(
            {"sides": _("This version does not support policy %(policy)s.") % {"policy": f"{name}/{dialect}"}}
        )
    if (name, dialect) != (own.policy, own.dialect):
        parameters = {}  # of one policy they say nothing to another
    return {**told, "document": document, "policy": name, "dialect": dialect, "parameters": parameters}


def _tree(user: Who, cluster: Cluster, choice: str) -> tuple[dict[str, Any], str, Terms]:
    """What a tree is called, what it says, and its own terms. Raises ValidationError."""
    kind, _colon, number = choice.partition(":")
    known = number.isdecimal() and len(number) <= _LONGEST
    hierarchy = cluster.hierarchy
    try:
        if choice == CURRENT and hierarchy and hierarchy.current:
            return _of_revision(hierarchy.current)
        if kind == "revision" and known:
            return _of_revision(find_revision(user, hierarchy, int(number)))
        if kind == "draft" and known:
            draft = selectors.find(user, hierarchy, int(number))
            found = selectors.state(draft)
            if found.tree is None or found.errors:
                raise ValidationError({"sides": _("Draft %(name)s has errors. Fix them first.") % {"name": draft.name}})
            told = {"draft": draft.name, "version": draft.version}
            return told, encode_tree(found.tree).decode(), found.terms
    except Http404:
        pass
    raise ValidationError({"sides": _("Queue tree %(choice)s does not exist.") % {"choice": choice[:100]}})


def _of_revision(revision: Revision) -> tuple[dict[str, Any], str, Terms]:
    return {"revision": revision.number}, revision.document, terms_of(revision)


def side_of(one: Mapping[str, Any]) -> ComparedSide:
    """A kept side, ready to decide. Raises what engine.policies.policy raises."""
    decide: Decide = policy(one["policy"], one["dialect"], one["parameters"])
    return ComparedSide(
        tree=decode_tree(one["document"].encode()),
        decide=decide,
        terms=audit_terms(one["policy"], one["dialect"], one["parameters"]),
        foreign=one["dialect"] in foreign_dialects(),
    )
