"""A draft that is only looked at: a revision as it stands, which the first act in it stores as a draft.

Its key is the negative number of the revision; those of its queues are their places in the tree (see rows_of_base).
"""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from scheduler_admin.accounts.models import User
from scheduler_admin.core import limits
from scheduler_admin.queues.drafts import edits
from scheduler_admin.queues.drafts.tree_document import terms_of_base
from scheduler_admin.queues.models import Draft, Revision
from scheduler_admin.queues.services.hierarchies import tree_of


def unstarted(base: Revision, user: User) -> Draft:
    """The draft that the user would start on a revision."""
    who = user.get_username()
    return Draft(
        pk=-base.number,
        hierarchy=base.hierarchy,
        base=base,
        author=user,
        author_name=who,
        changed_by=who,
        **terms_of_base(base),
    )


def is_unstarted(draft: Draft) -> bool:
    """Whether nothing was done in a draft yet, so that it is not stored."""
    return draft.pk is not None and draft.pk < 0


@transaction.atomic
def begin(*, draft: Draft, actor: User) -> tuple[Draft, Sequence[int]]:
    """Store a draft that was only looked at. Returns it, and the keys of its queues in the order of their places."""
    made = edits.start(hierarchy=draft.hierarchy, name=_free_name(draft, actor), author=actor, base=draft.base)
    keys = dict(made.queues.values_list("origin", "pk"))
    return made, [keys[path] for path in tree_of(made.base).walk()]


def _free_name(draft: Draft, actor: User) -> str:
    """A name that no draft of the hierarchy has, which people change as they like."""
    name = _("Changes by %(who)s") % {"who": actor.get_username()}
    name = name[: limits.DRAFT_NAME - 6]
    taken = set(draft.hierarchy.drafts.filter(name__startswith=name).values_list("name", flat=True))
    return next(one for n in range(1, len(taken) + 2) if (one := name if n == 1 else f"{name} {n}") not in taken)
