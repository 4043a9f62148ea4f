"""Why a pod is pending, check by check, by REST: for its own tenant as for those who see everything."""

from datetime import UTC, datetime
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from engine.analysis.pending_reasons import Ahead, Need, Reached, Remedy, Tier, TierName
from engine.explain import pods_ahead, remedy_sentence, tier_sentence, workloads_ahead
from engine.model.change import Change
from engine.model.decision import JointLimit, ReclaimNotice
from engine.model.quantities import PODS, format_amount
from engine.planning.journal import JournalError
from scheduler_admin.clusters.status.pending_workloads import pending_workload
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.replay.replay import CannotReplayError
from scheduler_admin.decisions.selectors.pods import own_asks
from scheduler_admin.pending import reasons as history
from scheduler_admin.pending.api.waits import PodWaitEstimateSerializer
from scheduler_admin.pending.waits import wait_of
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import AmountsField, UtcField, represent

_NOT_WORKED_OUT = {(409, problems.MEDIA_TYPE): problems.ProblemSerializer}
_CHANGES = (
    Change.REQUEST,
    Change.MAX,
    Change.HARD,
    Change.GUARANTEE,
    Change.LESS_GUARANTEED,
    Change.RESERVED,
    Change.FENCE,
    Change.PRIORITY,
    Change.MAY_PREEMPT,
)


class CheckRequirementSerializer(serializers.Serializer[Need]):
    """An amount that a check requires."""

    location = serializers.CharField(
        help_text="Path of the queue or name of the node; empty for the whole cluster.", source="where"
    )
    resource = serializers.CharField(help_text="Name of the resource, or `pods`, `nodes` or `workloads` for a count.")
    required = serializers.SerializerMethodField(help_text="Amount that the check requires.")  # type: ignore[assignment]  # DRF takes declared fields off
    available = serializers.SerializerMethodField(
        help_text="Amount that is available; negative if usage exceeds the limit."
    )
    evictable = serializers.SerializerMethodField(help_text="Additional amount that evictions could free.")
    missing = serializers.SerializerMethodField(help_text="Amount that remains missing; 0 if the requirement is met.")

    def get_required(self, need: Need) -> str:
        """Of a guarantee the smallest amount there is: something must be left of it."""
        return format_amount(need.resource, need.required)

    def get_available(self, need: Need) -> str:
        """Less than nothing where more is used already than there is."""
        return format_amount(need.resource, need.available)

    def get_evictable(self, need: Need) -> str:
        """For tenants a part of `available`."""
        return format_amount(need.resource, need.evictable)

    def get_missing(self, need: Need) -> str:
        """What is neither there, nor can be made."""
        return format_amount(need.resource, need.missing)


class ReachableQueueSerializer(serializers.Serializer[Reached]):
    """A queue that preemption can reach."""

    queue = serializers.CharField(help_text="Path of the queue.")
    evictable_pods = serializers.IntegerField(
        help_text="Number of its pods that could be evicted regardless of priority.", source="pods"
    )
    surplus = AmountsField(
        help_text="What can be taken from the queue before a guarantee or deserved share is violated.", source="spare"
    )


class JointLimitSerializer(serializers.Serializer[JointLimit]):
    """A limit that lets pods of a node be evicted one by one, but not together."""

    queue = serializers.CharField(
        help_text="Path of the queue whose guarantee is the limit; empty for a disruption budget."
    )
    disruption_budget = serializers.CharField(
        help_text="Disruption budget that is the limit, as `namespace/name`; empty for a guarantee.", source="budget"
    )
    resource = serializers.CharField(help_text="Name of the resource; empty if pods are counted.")
    guaranteed = serializers.SerializerMethodField(help_text="Guarantee of the queue; empty for a disruption budget.")
    used = serializers.SerializerMethodField(
        help_text="Usage of the queue without terminating pods; empty for a disruption budget."
    )
    evictable = serializers.SerializerMethodField(
        help_text="Amount or number of pods that can be evicted for the pending pod."
    )
    needed = serializers.SerializerMethodField(help_text="Amount or number of pods that would have to be evicted.")

    def get_guaranteed(self, limit: JointLimit) -> str:
        """Empty for a budget."""
        return format_amount(limit.resource, limit.guaranteed) if limit.queue else ""

    def get_used(self, limit: JointLimit) -> str:
        """Empty for a budget."""
        return format_amount(limit.resource, limit.used) if limit.queue else ""

    def get_evictable(self, limit: JointLimit) -> str:
        """An amount of the resource, or a number of pods."""
        return format_amount(limit.resource or PODS, limit.left)

    def get_needed(self, limit: JointLimit) -> str:
        """An amount of the resource, or a number of pods."""
        return format_amount(limit.resource or PODS, limit.held)


class QueueReclaimNoticeSerializer(serializers.Serializer[ReclaimNotice]):
    """A queue that still has time to give resources back."""

    queue = serializers.CharField(help_text="Path of the queue; empty if hidden.")
    excess = AmountsField(help_text="What the queue uses above its deserved share; empty if hidden.", source="over")
    due_at = serializers.SerializerMethodField(help_text="Time from which pods of the queue can be preempted.")

    @extend_schema_field(UtcField())
    def get_due_at(self, notice: ReclaimNotice) -> str:
        """From when on its pods may go."""
        return str(UtcField().to_representation(datetime.fromtimestamp(notice.due_ms / 1000, UTC)))


class RemedySerializer(serializers.Serializer[Remedy]):
    """A change with which the pod would pass the check."""

    change = serializers.ChoiceField([one.value for one in _CHANGES], help_text="Kind of change.")
    request_reduction = AmountsField(
        help_text="Reduction of the request by resource, for change `request`; empty otherwise.", source="smaller"
    )
    queues = serializers.DictField(
        child=AmountsField(),
        help_text="Required amounts by queue path and resource, for changes of queue settings.",
    )
    blocking_queue = serializers.CharField(
        help_text="Nearest queue upward whose guarantee or max prevents the change; empty if none.", source="unkept"
    )
    priority = serializers.IntegerField(
        allow_null=True, help_text="Required priority, for change `priority`; null otherwise."
    )
    sufficient = serializers.BooleanField(
        help_text="True if the pod then gets room without any further change.", source="enough"
    )
    sentence = serializers.SerializerMethodField(
        help_text="The change in one sentence, in the language of the request."
    )

    def get_sentence(self, remedy: Remedy) -> str:
        """The same in a sentence."""
        return text(remedy_sentence(remedy))


class PendingCheckSerializer(serializers.Serializer[Tier]):
    """A check that a pending pod must pass."""

    name = serializers.ChoiceField([one.value for one in TierName], help_text="Code of the check.")
    passed = serializers.BooleanField(source="passes", help_text="True if the pod passes the check.")
    requirements = CheckRequirementSerializer(
        many=True, help_text="Amounts that the check requires; tenants see only those of their queues.", source="needs"
    )
    reachable_queues = ReachableQueueSerializer(
        many=True, source="reached", help_text="Queues that preemption can reach; tenants see only those of their own."
    )
    unsuitable_nodes = serializers.DictField(
        source="refusing",
        child=serializers.IntegerField(),
        help_text="Number of nodes that cannot take the pod, by reason.",
    )
    limited_node = serializers.CharField(
        help_text="For `node-fit`, node where pods can be evicted only one by one; empty if none.", source="limited"
    )
    joint_limit = JointLimitSerializer(
        allow_null=True,
        help_text="What prevents their eviction together; null if nothing does or hidden.",
        source="limit",
    )
    spared_pods = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="For `possible-victims`, number of spared pods by reason; 0 for tenants.",
        source="staying",
    )
    reclaim_notices = QueueReclaimNoticeSerializer(
        many=True, source="notices", help_text="For `grace-period`, queues that still have time to give back."
    )
    remedies = RemedySerializer(many=True, help_text="Changes that would each pass the check, smallest first.")
    sentence = serializers.SerializerMethodField(help_text="The check in one sentence, in the language of the request.")

    def get_sentence(self, tier: Tier) -> str:
        """The tier in a sentence."""
        return text(tier_sentence(tier, self.context["priority"]))


class QueuePositionSerializer(serializers.Serializer[Ahead]):
    """How many pods or workloads a pass considers before this one."""

    in_cluster = serializers.IntegerField(
        source="cluster", help_text="Number of pods or workloads in the cluster that a pass considers before this one."
    )
    in_queue = serializers.IntegerField(
        help_text="Number of those pods or workloads that are in the same queue.", source="queue"
    )
    sentence = serializers.SerializerMethodField(
        help_text="The position in one sentence, in the language of the request."
    )

    def get_sentence(self, ahead: Ahead) -> str:
        """The same in a sentence."""
        return text(workloads_ahead(ahead) if self.context.get("workload") else pods_ahead(ahead))


class PendingReasonsSerializer(serializers.Serializer[Any]):
    """Why a pod is pending."""

    snapshot_at = UtcField(help_text="Time of the cluster state that was evaluated.")
    checks = PendingCheckSerializer(many=True, help_text="Checks that the pod must pass, in order.")
    ahead = QueuePositionSerializer(help_text="Number of pods that are considered before this pod.")
    wait_estimate = PodWaitEstimateSerializer(
        allow_null=True, help_text="How long the pod may wait; null if its start was not observed."
    )
    sufficient_together = serializers.BooleanField(
        help_text="True if the first remedies of all failed checks together give the pod room."
    )


class WorkloadPendingReasonsSerializer(serializers.Serializer[Any]):
    """Why a workload waits for quota of Kueue."""

    snapshot_at = UtcField(help_text="Time of the cluster state that was evaluated.")
    message = serializers.CharField(help_text="Message of Kueue; empty if Kueue has not tried the workload yet.")
    checks = PendingCheckSerializer(many=True, help_text="Checks that the workload must pass, in order.")
    ahead = QueuePositionSerializer(help_text="Number of workloads that are considered before this workload.")
    wait_estimate = PodWaitEstimateSerializer(
        allow_null=True, help_text="How long the workload may wait; null if its start was not observed."
    )


class WorkloadPendingReasonsView(ApiView):
    """Why a workload of Kueue is pending."""

    actions = {"GET": "view"}
    tag = "queues"

    @extend_schema(
        operation_id="get_workload_pending_reasons",
        responses={200: WorkloadPendingReasonsSerializer, **_NOT_WORKED_OUT},
    )
    def get(self, _request: Request, name: str, namespace: str, workload: str) -> Response:
        """The checks that your workload must pass before Kueue admits it, in order, by the rules of Kueue."""
        cluster = self.cluster(name)
        one = pending_workload(self.scope, cluster, namespace, workload)
        if one is None:
            raise NotFound
        try:
            found = history.why_workload_waits(cluster, one)
        except CannotReplayError as error:
            raise problems.NotWorkedOut from error
        told = history.seen_by(self.scope, found.waiting, one.queue)
        body = {
            "snapshot_at": found.at,
            "message": one.why,
            "checks": told.tiers,
            "ahead": told.ahead,
            "wait_estimate": wait_of(cluster, one.uid),
        }
        context = {"priority": found.priority, "workload": True}
        return Response(represent(WorkloadPendingReasonsSerializer, body, **context))


class PendingReasonsView(ApiView):
    """Why the pod of one decision is pending."""

    actions = {"GET": "view"}
    tag = "decisions"

    @extend_schema(
        operation_id="get_decision_pending_reasons", responses={200: PendingReasonsSerializer, **_NOT_WORKED_OUT}
    )
    def get(self, request: Request, pk: int) -> Response:
        """The checks that your pending pod must pass, in order. For decisions not to preempt, while `replayable`."""
        rows = own_asks(request.user).select_related("entry", "revision", "cluster__status", "cluster__hierarchy")
        row = get_object_or_404(rows.defer("entry__blob"), pk=pk)
        try:
            found = history.why_waiting(row)
        except (CannotReplayError, JournalError) as error:
            raise problems.NotWorkedOut from error
        told = history.seen_by(self.scope, found.waiting, row.ask_queue)
        body = {
            "snapshot_at": found.at,
            "checks": told.tiers,
            "ahead": told.ahead,
            "wait_estimate": wait_of(row.cluster, row.ask_uid),
            "sufficient_together": told.together,
        }
        return Response(represent(PendingReasonsSerializer, body, priority=found.priority))
