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
from scheduler_admin.rest.fields import DocumentField


class ToldSerializer(serializers.Serializer[Any]):
    """One of them: in a sentence, and as the engine has it."""

    text = serializers.CharField()
    document = DocumentField()


class OtherwiseSerializer(serializers.Serializer[Any]):
    """Everything that was worked out for one decision."""

    counterfactuals = ToldSerializer(many=True, help_text="Each the smallest change of its kind, decided again.")
    troubles = ToldSerializer(many=True, help_text="What may look wrong in it, and is not.")
    quirks = ToldSerializer(
        many=True, help_text="YuniKorn's departures from its own design that changed it, each turned off alone."
    )
    others = ToldSerializer(
        many=True, help_text="What every other policy decides of the same ask at the same moment, without parameters."
    )
    optimal = ToldSerializer(allow_null=True, help_text="Null where no set of pods helps, or none is needed.")


class OtherwiseView(ApiView):
    """What would have changed one decision."""

    actions = {"GET": "view"}
    staff_only = True
    tag = "decisions"

    @extend_schema(
        operation_id="get_decision_otherwise",
        responses={200: OtherwiseSerializer, (409, problems.MEDIA_TYPE): problems.ProblemSerializer},
    )
    def get(self, request: Request, pk: int) -> Response:
        """Decide again with something changed. Of ours while `replayable`, of others' where we come to the same."""
        del request
        rows = seen_by(self.request.user).select_related("entry", "rewound").defer("entry__blob", "rewound__blob")
        row = get_object_or_404(rows, pk=pk)
        try:
            found = history.otherwise(row)
        except (CannotReplayError, JournalError) as error:
            raise problems.NotOtherwise from error
        body = {
            "counterfactuals": [_told(one, change_sentence(one)) for one in found.counterfactuals],
            "troubles": [_told(one, anomaly_sentence(one)) for one in found.troubles],
            "quirks": [_told(one, *quirk_messages(one, found.decision)) for one in found.quirks],
            "others": [_told(one, *proposed_decision(one)) for one in found.others],
            "optimal": _told(found.least, *optimal_messages(found.least, found.decision)) if found.least else None,
        }
        return Response(OtherwiseSerializer(body).data)


def _told(one: msgspec.Struct, *messages: Message) -> dict[str, Any]:
    return {"text": " ".join(map(text, messages)), "document": msgspec.to_builtins(one)}
