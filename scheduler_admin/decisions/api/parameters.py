"""Which decisions a request asks for. A value that cannot be right is an error, and never ignored."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from engine.model.decision import Outcome
from scheduler_admin.accounts.scopes import Who, scope_of_queue
from scheduler_admin.core import limits
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.query import DecisionQuery
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
        required=False, max_length=limits.APPLICATION, help_text="The ask or a victim belongs to this application."
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


def query_of(asked: Mapping[str, Any], user: Who) -> DecisionQuery:
    """Return the query that parameters ask for."""
    found: dict[str, Any] = {name: asked[name] for name in _PLAIN if name in asked}
    found |= {f"{name}s": (asked[name],) for name in ("outcome", "state") if name in asked}
    if "queue" in asked:
        found["queues"] = scope_of_queue(asked["queue"], user).subtrees
    return DecisionQuery(**found)


_PLAIN = (
    *("since", "until", "namespace", "application", "priority_class", "node", "source", "ending"),
    *("against_laws", "again"),
)
"""Parameters that are fields of the query as they are."""
