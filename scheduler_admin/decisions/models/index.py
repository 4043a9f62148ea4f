"""What decisions are found by, where that is a pod of either side."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from scheduler_admin.accounts.scopes import RestrictedQuerySet
from scheduler_admin.decisions.models.decisions import Decision


class MentionQuerySet(RestrictedQuerySet["Mention"]):
    """Mentions; they are of pods of several tenants, so a tenant sees none directly."""


class Mention(models.Model):
    """A queue, with all above it, a namespace or an application of a decision's ask or of one of its victims.

    No index finds rows by a column of their own or of other rows, in the order of a third. There are more of them than
    of anything else: so they hold a number instead of the name, and nothing but what their one index needs. It may be
    the number of another name, too, or of what is none of the decision's any more: who finds it looks at the decision
    once more.
    """

    pk = models.CompositePrimaryKey("about", "first_seen", "decision")
    about = models.BigIntegerField()
    """As number_of has it."""
    first_seen = models.DateTimeField(help_text=_("When the decision was first seen."))
    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="mentions")

    objects = MentionQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.about} {self.decision_id}"
