"""Victims: the pods that decisions evicted or would have, wherever they ran."""

from typing import Any

from django.db.models import QuerySet
from django.utils.functional import cached_property
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from scheduler_admin.accounts.scopes import scope_of_queue
from scheduler_admin.core import limits
from scheduler_admin.decisions.api.seen import SeenDecision
from scheduler_admin.decisions.api.serializers import AskSerializer, VictimSerializer
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.pagination import NumberedPageParameters
from scheduler_admin.rest.parameters import NAMESPACE, NODE, QUEUE, cluster_asked
from scheduler_admin.rest.viewsets import Listed, NumberedPages


class PreemptedSerializer(VictimSerializer):
    """A victim with the decision that chose it. `ask` is what the site tells of the preemptor."""

    cluster = serializers.CharField(source="decision.cluster.name")
    decision = serializers.IntegerField(source="decision_id")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, source="decision.source"
    )
    decided_at = UtcField(source="decision.first_seen")
    ask = serializers.SerializerMethodField()

    class Meta(VictimSerializer.Meta):
        fields = ["cluster", "decision", "source", "decided_at", "ask", *VictimSerializer.Meta.fields]

    @extend_schema_field(AskSerializer)
    def get_ask(self, victim: Victim) -> dict[str, Any]:
        """For whom it went."""
        redaction: Redaction = self.context["view"].redaction
        return dict(AskSerializer(SeenDecision(victim.decision, redaction).ask).data)


class VictimsSerializer(serializers.Serializer[Any]):
    """A page of victims, newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = PreemptedSerializer(many=True)


class VictimFilters(Parameters):
    """Filters of victims; all that are given must hold."""

    ranges = (("since", "until"),)
    cluster = Parameter(serializers.SlugField(help_text="Name of a cluster."), method="of_cluster")
    queue = Parameter(
        serializers.RegexField(QUEUE, max_length=limits.QUEUE_PATH, help_text="Ran in this queue or below it."),
        method="in_queue",
    )
    namespace = Parameter(serializers.RegexField(NAMESPACE, max_length=limits.NAMESPACE), "namespace")
    pod = Parameter(serializers.RegexField(NODE, max_length=limits.OBJECT_NAME, help_text="Name of the pod."), "name")
    application = Parameter(serializers.CharField(max_length=limits.APPLICATION), "application")
    state = Parameter(serializers.ChoiceField(Victim.State.choices, help_text="What became of it."), "state")
    since = Parameter(UtcField(help_text="Decided at or after this time, RFC 3339."), "decision__first_seen__gte")
    until = Parameter(UtcField(help_text="Decided before this time, RFC 3339."), "decision__first_seen__lt")

    def of_cluster(self, rows: QuerySet[Victim], name: str, cluster: str) -> QuerySet[Victim]:
        """Return the victims of a cluster. Raises WrongParameters for one that the reader does not see."""
        return rows.filter(decision__cluster__name=cluster_asked({name: cluster}, self.reader))

    def in_queue(self, rows: QuerySet[Victim], name: str, queue: str) -> QuerySet[Victim]:
        """Return the victims in a queue or below it."""
        del name
        return rows.filter(scope_of_queue(queue, self.reader).paths("queue"))


class VictimViewSet(Listed):
    """Your pods that decisions chose as victims, the newest first. Follow `next`."""

    actions = {"GET": "view"}
    queries = {"GET": NumberedPageParameters}
    tag = "decisions"
    resource = "victim", "victims"
    queryset = Victim.objects.select_related("decision__cluster").defer("decision__document", "decision__laws")
    serializer_class = PreemptedSerializer
    list_class = VictimsSerializer
    filterset_class = VictimFilters
    pagination_class = NumberedPages

    @cached_property
    def redaction(self) -> Redaction:
        """What the reader is told of preemptors."""
        return Redaction.of(self.scope)
