"""Which decisions a request asks for. A value that cannot be right is an error, and never ignored."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Exists, OuterRef, Q
from rest_framework import serializers

from engine.model.decision import Outcome
from scheduler_admin.accounts.scopes import Scope, Who, scope_of_queue
from scheduler_admin.core import limits
from scheduler_admin.decisions.models import Decision, DecisionQuerySet, Victim
from scheduler_admin.decisions.selectors.query import REPEATED
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.pagination import PageParameters
from scheduler_admin.rest.parameters import NAMESPACE, NODE, QUEUE, forward


class DecisionParameters(PageParameters):
    """Filters of decisions; all that are given must hold."""

    since = UtcField(required=False, help_text="First seen at or after this time, RFC 3339.")
    until = UtcField(required=False, help_text="First seen before this time, RFC 3339.")
    queue = serializers.RegexField(
        QUEUE,
        required=False,
        max_length=limits.QUEUE_PATH,
        help_text="The ask or a victim is in this queue or below it.",
    )
    namespace = serializers.RegexField(
        NAMESPACE, required=False, max_length=limits.NAMESPACE, help_text="The ask or a victim is in this namespace."
    )
    application = serializers.CharField(
        required=False, max_length=300, help_text="The ask or a victim belongs to this application."
    )
    priority_class = serializers.RegexField(
        NODE, required=False, max_length=limits.OBJECT_NAME, help_text="The ask has this priority class."
    )
    node = serializers.RegexField(
        NODE, required=False, max_length=limits.OBJECT_NAME, help_text="The node that was chosen."
    )
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, required=False, help_text="Who decided."
    )
    outcome = serializers.ChoiceField(
        [outcome.value for outcome in Outcome], required=False, help_text="What was decided."
    )
    state = serializers.ChoiceField(
        Decision.State.choices, required=False, help_text="How far it has been carried out."
    )
    ending = serializers.ChoiceField(Decision.Ending.choices, required=False, help_text="How it ended.")
    against_laws = serializers.BooleanField(
        required=False,
        default=None,
        allow_null=True,
        help_text="By other rules than ours that went against our laws, or not.",
    )
    again = serializers.BooleanField(
        required=False,
        default=None,
        allow_null=True,
        help_text="A victim's application was preempted three times or more in the 24 hours up to then, or none's.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A time range that holds anything; where a page ended before its end, that is the end."""
        asked = forward(attrs, "since", "until")
        if "cursor" in asked and "until" in asked and asked["cursor"].at < asked["until"]:
            del asked["until"]  # an index is entered at one end alone
        return asked


MENTIONED = ("application", "namespace", "queue")
"""What of a pod may be asked for, names.Kind, those first of which there are most."""


def mentioned(asked: Mapping[str, Any], user: Who) -> tuple[str, Collection[str]]:
    """What of a pod is asked for, a names.Kind, of which there are most, and its names; empty: nothing."""
    kind = next((kind for kind in MENTIONED if kind in asked), "")
    if kind == "queue":
        return kind, scope_of_queue(asked["queue"], user).subtrees
    return (kind, {asked[kind]}) if kind else ("", ())


def filtered(rows: DecisionQuerySet, asked: Mapping[str, Any], *, user: Who, scope: Scope) -> DecisionQuerySet:
    """The decisions that all given filters hold for, of some that are placed."""
    rows = _about(rows, asked, user=user, scope=scope)
    for name in ("node", "source", "outcome", "state", "ending"):
        if name in asked:
            rows = rows.filter(**{name: asked[name]})
    if asked.get("against_laws") is not None:
        rows = rows.filter(against_laws=asked["against_laws"])
    if "since" in asked:
        rows = rows.filter(Q(at__gte=asked["since"]))
    if "until" in asked:
        rows = rows.filter(Q(at__lt=asked["until"]))
    return rows


def _about(rows: DecisionQuerySet, asked: Mapping[str, Any], *, user: Who, scope: Scope) -> DecisionQuerySet:
    """Filters on asks and victims see only those that the user sees: else one could guess names, filter by filter."""
    own = scope.pods("ask_namespace", "ask_queue")
    taken = Victim.objects.restrict(user, "view").filter(decision=OuterRef("pk"))
    if queue := asked.get("queue"):
        inside = scope_of_queue(queue, user)
        rows = rows.filter(inside.paths("ask_queue") | Q(Exists(taken.filter(inside.paths("queue")))))
    for name in ("namespace", "application"):
        if name in asked:
            theirs = Exists(taken.filter(**{name: asked[name]}))
            rows = rows.filter(own & Q(**{f"ask_{name}": asked[name]}) | Q(theirs))
    if asked.get("again") is not None:
        own_again = Exists(taken.filter(preempted_in_day__gte=REPEATED))
        rows = rows.filter(own_again, again=True) if asked["again"] else rows.filter(~own_again)
    if "priority_class" in asked:
        rows = rows.filter(own, ask_priority_class=asked["priority_class"])
    return rows
