"""What would have been decided otherwise, by REST: for those who see everything, as it names pods of everyone."""

from typing import Any

import msgspec
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.explain import (
    Message,
    anomaly_sentence,
    change_sentence,
    optimal_messages,
    proposed_decision,
    quirk_messages,
)
from engine.planning.journal import JournalError
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.api.seen import seen_by
from scheduler_admin.decisions.replay import changes as history
from scheduler_admin.decisions.replay.replay import CannotReplayError
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import DocumentField, represent


class ExplainedResultSerializer(serializers.Serializer[Any]):
    """One result, in a sentence and as a document."""

    sentence = serializers.CharField(help_text="The result in words, in the language of the request.")
    document = DocumentField(help_text="The result as the engine's JSON document.")


class CounterfactualsSerializer(serializers.Serializer[Any]):
    """What would have changed a decision, and what other policies would have decided."""

    counterfactuals = ExplainedResultSerializer(
        many=True, help_text="Smallest changes that would have changed the decision, each with its result."
    )
    anomalies = ExplainedResultSerializer(
        many=True, help_text="Results that look wrong but follow from the rules of kube-scheduler."
    )
    yunikorn_deviations = ExplainedResultSerializer(
        many=True, help_text="Deviations of YuniKorn from its own design that changed the decision."
    )
    other_policies = ExplainedResultSerializer(
        many=True, help_text="Decisions of all other policies for the same pod at the same moment."
    )
    optimum = ExplainedResultSerializer(
        allow_null=True,
        help_text="Smallest possible set of victims; null if no set helps or none is needed.",
    )


class CounterfactualsView(ApiView):
    """What would have changed one decision."""

    actions = {"GET": "view"}
    staff_only = True
    tag = "decisions"

    @extend_schema(
        operation_id="get_decision_counterfactuals",
        responses={200: CounterfactualsSerializer, (409, problems.MEDIA_TYPE): problems.ProblemSerializer},
    )
    def get(self, request: Request, pk: int) -> Response:
        """Make the decision again with changes. For own decisions while `replayable`, for others if results agree."""
        del request
        rows = seen_by(self.request.user).select_related("entry", "rewound").defer("entry__blob", "rewound__blob")
        row = get_object_or_404(rows, pk=pk)
        try:
            found = history.otherwise(row)
        except (CannotReplayError, JournalError) as error:
            raise problems.NotOtherwise from error
        body = {
            "counterfactuals": [_told(one, change_sentence(one)) for one in found.counterfactuals],
            "anomalies": [_told(one, anomaly_sentence(one)) for one in found.troubles],
            "yunikorn_deviations": [_told(one, *quirk_messages(one, found.decision)) for one in found.quirks],
            "other_policies": [_told(one, *proposed_decision(one)) for one in found.others],
            "optimum": _told(found.least, *optimal_messages(found.least, found.decision)) if found.least else None,
        }
        return Response(represent(CounterfactualsSerializer, body))


def _told(one: msgspec.Struct, *messages: Message) -> dict[str, Any]:
    return {"sentence": " ".join(map(text, messages)), "document": msgspec.to_builtins(one)}
