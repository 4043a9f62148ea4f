"""Victims: the pods that decisions evicted or would have, wherever they ran."""

from typing import Any

from django.db.models import QuerySet
from django.utils.functional import cached_property
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from scheduler_admin.accounts.scopes import scope_of_queue
from scheduler_admin.core import limits
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.api.seen import SeenDecision
from scheduler_admin.decisions.api.serializers import PendingPodSerializer, VictimSerializer
from scheduler_admin.decisions.models import Decision, Victim
from scheduler_admin.decisions.redaction import Redaction
from scheduler_admin.decisions.sentences import why_victims
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.filters import Parameter, Parameters
from scheduler_admin.rest.pagination import NumberedPageParameters
from scheduler_admin.rest.parameters import NAMESPACE, NODE, QUEUE, cluster_asked
from scheduler_admin.rest.viewsets import Listed, NumberedPages


class VictimDetailSerializer(VictimSerializer):
    """A victim with the decision that chose it."""

    cluster = serializers.CharField(source="cluster.name", help_text="Name of the cluster.")
    decision_id = serializers.IntegerField(help_text="Number of the decision that chose the pod.")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        Decision.Source.choices, source="decision.source", help_text="Scheduler or component that made the decision."
    )
    decided_at = UtcField(source="decision.first_seen", help_text="Time when the decision was made or first observed.")
    preemptor = serializers.SerializerMethodField(
        help_text="The pending pod that the victim makes room for, as far as you can see it."
    )

    sentence = serializers.SerializerMethodField(help_text="Why the pod is a victim, in the language of the request.")

    class Meta(VictimSerializer.Meta):
        fields = [
            *("cluster", "decision_id", "source", "decided_at", "preemptor"),
            *VictimSerializer.Meta.fields,
            "sentence",
        ]

    def get_sentence(self, victim: Victim) -> str:
        """Return why the decision chose it, with of the preemptor's queue what the reader may know."""
        queue = self.context["view"].redaction.preemptor(victim.decision).queue
        (message,) = why_victims(victim.decision, [victim], queue=queue)
        return text(message)

    @extend_schema_field(PendingPodSerializer)
    def get_preemptor(self, victim: Victim) -> dict[str, Any]:
        """For whom it went."""
        redaction: Redaction = self.context["view"].redaction
        return self._preemptors.to_representation(SeenDecision(victim.decision, redaction).pending_pod)

    @cached_property
    def _preemptors(self) -> PendingPodSerializer:
        return PendingPodSerializer()


class VictimsSerializer(serializers.Serializer[Any]):
    """A page of victims, newest first."""

    next = serializers.URLField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = VictimDetailSerializer(many=True, help_text="Victims, newest first.")


class VictimFilters(Parameters):
    """Filters of victims; all that are given must match."""

    ranges = (("since", "until"),)
    cluster = Parameter(serializers.SlugField(help_text="Name of a cluster."), method="of_cluster")
    queue = Parameter(
        serializers.RegexField(
            QUEUE, max_length=limits.QUEUE_PATH, help_text="Queue of the victim, or a queue above it."
        ),
        method="in_queue",
    )
    namespace = Parameter(
        serializers.RegexField(NAMESPACE, max_length=limits.NAMESPACE, help_text="Namespace of the pod."), "namespace"
    )
    pod = Parameter(serializers.RegexField(NODE, max_length=limits.OBJECT_NAME, help_text="Name of the pod."), "name")
    application = Parameter(
        serializers.CharField(max_length=limits.APPLICATION, help_text="Application of the pod."), "application"
    )
    state = Parameter(serializers.ChoiceField(Victim.State.choices, help_text="What happened to the pod."), "state")
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
    """Your pods that decisions chose as victims, newest first. Follow `next`."""

    actions = {"GET": "view"}
    queries = {"GET": NumberedPageParameters}
    tag = "decisions"
    resource = "victim", "victims"
    queryset = Victim.objects.select_related("cluster", "decision").defer("decision__laws")
    serializer_class = VictimDetailSerializer
    list_class = VictimsSerializer
    filterset_class = VictimFilters
    pagination_class = NumberedPages

    @cached_property
    def redaction(self) -> Redaction:
        """What the reader is told of preemptors."""
        return Redaction.of(self.scope)
