"""Why an ask waits, tier by tier, by REST: for its own tenant as for those who see everything."""

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
from engine.model.decision import JointLimit, NodeReason, ReclaimNotice
from engine.model.quantities import PODS, format_amount
from engine.planning.journal import JournalError
from scheduler_admin.clusters.status.pending_workloads import pending_workload
from scheduler_admin.core.translation import text
from scheduler_admin.decisions.replay.replay import CannotReplayError
from scheduler_admin.decisions.selectors.pods import own_asks
from scheduler_admin.pending import reasons as history
from scheduler_admin.pending.api.waits import WaitSerializer
from scheduler_admin.pending.waits import wait_of
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import AmountsField, UtcField

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


class NeedSerializer(serializers.Serializer[Need]):
    """One amount that a tier asks for, as people type amounts."""

    where = serializers.CharField(help_text="Path of the queue, or the node; empty: the whole cluster.")
    resource = serializers.CharField(help_text="`pods`, `nodes` and `workloads` count those.")
    required = serializers.SerializerMethodField()  # type: ignore[assignment]  # DRF takes declared fields off
    available = serializers.SerializerMethodField()
    evictable = serializers.SerializerMethodField(help_text="So much more evictions could make available there.")
    missing = serializers.SerializerMethodField(help_text="0 where the tier lets it through.")

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


class ReachedSerializer(serializers.Serializer[Reached]):
    """A queue that preemption reaches."""

    queue = serializers.CharField()
    pods = serializers.IntegerField(help_text="So many could go, were it not for their priority.")
    spare = AmountsField(help_text="What may be taken from it before a guarantee, or what it deserves, breaks.")


class LimitSerializer(serializers.Serializer[JointLimit]):
    """What lets pods of a node go one by one, but not together, though together they would make the room."""

    queue = serializers.CharField(help_text="Whose guarantee it is; empty: it is a disruption budget's.")
    budget = serializers.CharField(help_text="`namespace/name`; empty: it is a guarantee.")
    resource = serializers.CharField(help_text="Empty: pods are counted.")
    guaranteed = serializers.SerializerMethodField()
    used = serializers.SerializerMethodField(help_text="By the queue, pods on their way out left aside.")
    left = serializers.SerializerMethodField(help_text="So much may go for the ask.")
    held = serializers.SerializerMethodField(help_text="So much would have to go.")

    def get_guaranteed(self, limit: JointLimit) -> str:
        """Empty for a budget."""
        return format_amount(limit.resource, limit.guaranteed) if limit.queue else ""

    def get_used(self, limit: JointLimit) -> str:
        """Empty for a budget."""
        return format_amount(limit.resource, limit.used) if limit.queue else ""

    def get_left(self, limit: JointLimit) -> str:
        """An amount of the resource, or a number of pods."""
        return format_amount(limit.resource or PODS, limit.left)

    def get_held(self, limit: JointLimit) -> str:
        """An amount of the resource, or a number of pods."""
        return format_amount(limit.resource or PODS, limit.held)


class GraceSerializer(serializers.Serializer[ReclaimNotice]):
    """A queue that still has time to give back."""

    queue = serializers.CharField(help_text="Empty for tenants where it is not theirs.")
    over = AmountsField(help_text="What it uses beyond what it deserves; for tenants of their own.")
    due_at = serializers.SerializerMethodField()

    @extend_schema_field(UtcField())
    def get_due_at(self, notice: ReclaimNotice) -> str:
        """From when on its pods may go."""
        return str(UtcField().to_representation(datetime.fromtimestamp(notice.due_ms / 1000, UTC)))


class RemedySerializer(serializers.Serializer[Remedy]):
    """A change that was tried: with it the ask gets past the tier."""

    change = serializers.ChoiceField([one.value for one in _CHANGES])
    smaller = AmountsField(help_text="Of change `request`: by how much less of each resource.")
    queues = serializers.DictField(
        child=AmountsField(),
        help_text="Of `max`, `guarantee`, `less-guaranteed`, and of `hard` and `reserved`: what it would have to be.",
    )
    unkept = serializers.CharField(
        help_text="Of `guarantee`: the nearest queue upwards whose own or max does not allow for that; empty: none."
    )
    priority = serializers.IntegerField(allow_null=True)
    enough = serializers.BooleanField(help_text="Whether the ask then gets room: nothing else is in its way.")
    text = serializers.SerializerMethodField()

    def get_text(self, remedy: Remedy) -> str:
        """The same in a sentence."""
        return text(remedy_sentence(remedy))


class TierSerializer(serializers.Serializer[Tier]):
    """One thing that an ask has to pass. Context: `priority`, the ask's."""

    name = serializers.ChoiceField([one.value for one in TierName])
    passes = serializers.BooleanField()
    needs = NeedSerializer(many=True, help_text="For tenants without those of queues that are not theirs.")
    reached = ReachedSerializer(many=True)
    nodes = serializers.DictField(
        source="refusing",
        child=serializers.IntegerField(),
        help_text=f"Why nodes can't take it -> how many: {', '.join(sorted(reason.value for reason in NodeReason))}.",
    )
    limited = serializers.CharField(
        help_text="Of `node-fit`: the node where those who may go one by one would make the room together."
    )
    limit = LimitSerializer(
        allow_null=True, help_text="What stops them from going together there; for tenants where the queue is theirs."
    )
    staying = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Of `giving`: why pods that could give back stay -> how many; for tenants without the numbers (0).",
    )
    grace = GraceSerializer(many=True, source="notices", help_text="Of `grace`: who still has time to give back.")
    remedies = RemedySerializer(many=True, help_text="Each alone gets it past this tier; the nearest first.")
    text = serializers.SerializerMethodField()

    def get_text(self, tier: Tier) -> str:
        """The tier in a sentence."""
        return text(tier_sentence(tier, self.context["priority"]))


class AheadSerializer(serializers.Serializer[Ahead]):
    """How many asks a pass considers before this one. Context: `workload`, whether it is one of Kueue's."""

    cluster = serializers.IntegerField()
    queue = serializers.IntegerField(help_text="Of those, how many are of its own queue.")
    text = serializers.SerializerMethodField()

    def get_text(self, ahead: Ahead) -> str:
        """The same in a sentence."""
        return text(workloads_ahead(ahead) if self.context.get("workload") else pods_ahead(ahead))


class WaitingSerializer(serializers.Serializer[Any]):
    """Why an ask waits."""

    at = UtcField(help_text="As of when.")
    tiers = TierSerializer(many=True)
    ahead = AheadSerializer()
    wait = WaitSerializer(allow_null=True, help_text="How long it may take; null: its beginning was not seen.")
    together = serializers.BooleanField(
        help_text="Whether it gets room with the first remedy of every tier that stops it, all of them together."
    )


class WorkloadWaitingSerializer(serializers.Serializer[Any]):
    """Why one of Kueue's workloads waits for quota."""

    at = UtcField(help_text="As of when.")
    message = serializers.CharField(help_text="Kueue's own; empty: it has not tried the workload yet.")
    tiers = TierSerializer(many=True)
    ahead = AheadSerializer()
    wait = WaitSerializer(allow_null=True, help_text="How long it may take; null: its beginning was not seen.")


class WorkloadWaitingView(ApiView):
    """Why one of Kueue's workloads waits."""

    actions = {"GET": "view"}
    tag = "queues"

    @extend_schema(
        operation_id="get_pending_workload_waiting", responses={200: WorkloadWaitingSerializer, **_NOT_WORKED_OUT}
    )
    def get(self, _request: Request, name: str, namespace: str, workload: str) -> Response:
        """What your workload has to pass before Kueue gives it quota, by Kueue's rules, tier by tier."""
        cluster = self.cluster(name)
        one = pending_workload(self.scope, cluster, namespace, workload)
        if one is None:
            raise NotFound
        try:
            found = history.why_workload_waits(cluster, one)
        except CannotReplayError as error:
            raise problems.NotWorkedOut from error
        told = history.seen_by(self.scope, found.waiting, one.queue)
        wait = wait_of(cluster, one.uid)
        body = {"at": found.at, "message": one.why, "tiers": told.tiers, "ahead": told.ahead, "wait": wait}
        context = {"priority": found.priority, "workload": True}
        return Response(WorkloadWaitingSerializer(body, context=context).data)


class WaitingView(ApiView):
    """Why the ask of one decision waits."""

    actions = {"GET": "view"}
    tag = "decisions"

    @extend_schema(operation_id="get_decision_waiting", responses={200: WaitingSerializer, **_NOT_WORKED_OUT})
    def get(self, request: Request, pk: int) -> Response:
        """What your ask has to pass, tier by tier. Of our own to preempt nothing for it, while `replayable`."""
        rows = own_asks(request.user).select_related("entry", "revision", "cluster__status", "cluster__hierarchy")
        row = get_object_or_404(rows.defer("entry__blob"), pk=pk)
        try:
            found = history.why_waiting(row)
        except (CannotReplayError, JournalError) as error:
            raise problems.NotWorkedOut from error
        told = history.seen_by(self.scope, found.waiting, row.ask_queue)
        wait = wait_of(row.cluster, row.ask_uid)
        body = {"at": found.at, "wait": wait, "tiers": told.tiers, "ahead": told.ahead, "together": told.together}
        return Response(WaitingSerializer(body, context={"priority": found.priority}).data)
