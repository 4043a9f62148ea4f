"""Which decisions a request asks for. A value that cannot be right is an error, and never ignored."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from engine.model.decision import Outcome
from scheduler_admin.accounts.scopes import Who, scope_of_queue
from scheduler_admin.core import limits
from scheduler_admin.decisions.models import Decision
from scheduler_admin.decisions.selectors.query import DecisionQuery
from scheduler_admin.rest.fields import QueryFlagField, UtcField
from scheduler_admin.rest.pagination import PageParameters
from scheduler_admin.rest.parameters import NAMESPACE, NODE, QUEUE, forward


class DecisionParameters(PageParameters):
    """Filters of decisions; all that are given must match."""

    since = UtcField(required=False, help_text="Decided or first observed at or after this time (RFC 3339).")
    until = UtcField(required=False, help_text="Decided or first observed before this time (RFC 3339).")
    queue = serializers.RegexField(
        QUEUE,
        required=False,
        max_length=limits.QUEUE_PATH,
        help_text="The pending pod or a victim is in this queue or below it.",
    )
    namespace = serializers.RegexField(
        NAMESPACE,
        required=False,
        max_length=limits.NAMESPACE,
        help_text="The pending pod or a victim is in this namespace.",
    )
    application = serializers.CharField(
        required=False,
        max_length=limits.APPLICATION,
        help_text="The pending pod or a victim belongs to this application.",
    )
    priority_class = serializers.RegexField(
        NODE, required=False, max_length=limits.OBJECT_NAME, help_text="Priority class of the pending pod."
    )
    node = serializers.RegexField(
        NODE, required=False, max_length=limits.OBJECT_NAME, help_text="Node chosen for the pending pod."
    )
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, required=False, help_text="Scheduler or component that made the decision."
    )
    outcome = serializers.ChoiceField(
        [outcome.value for outcome in Outcome], required=False, help_text="What was decided."
    )
    state = serializers.ChoiceField(
        Decision.State.choices, required=False, help_text="How far the decision has been carried out."
    )
    ending = serializers.ChoiceField(Decision.Ending.choices, required=False, help_text="How the decision ended.")
    failed_safety_checks = QueryFlagField(
        source="against_laws",
        help_text="True for decisions of other rules that failed a safety check; false for the rest.",
    )
    repeat_victims = QueryFlagField(
        source="again",
        help_text="True for decisions with a victim whose application was preempted three times or more in 24 hours; "
        "false for the rest.",
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
