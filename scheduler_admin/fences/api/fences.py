"""Who may preempt whom: every border between two queues, with why it is open or shut, and what went through."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from engine.explain import border_clause, conditions
from engine.policies import reach_of, yunikorn
from engine.tree.reach import Border, BorderReason
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.selectors import present
from scheduler_admin.core import limits
from scheduler_admin.core.translation import text
from scheduler_admin.counts.selectors.pairs import preempted_pairs
from scheduler_admin.fences.address import Choice
from scheduler_admin.fences.scene import Scene
from scheduler_admin.queues.models import Revision
from scheduler_admin.queues.selectors.queues import tree_with, visible
from scheduler_admin.rest import problems
from scheduler_admin.rest.base import ApiView
from scheduler_admin.rest.fields import UtcField, represent
from scheduler_admin.rest.pagination import LimitParameters, TextsField, next_link
from scheduler_admin.rest.parameters import QUEUE

REASONS = [reason.value for reason in BorderReason]
MOST_LOOKED_AT = 20_000
"""Borders, for one page: of those that are left out, too."""
_SINCE = timedelta(days=7)
_NONE_HIDDEN = {"can_preempt_hidden_queues": False, "hidden_queues_can_preempt": False}
_QUEUES = ("queue", "preemptor_queue", "victim_queue")


class FencesParameters(LimitParameters):
    """Which borders; all that are given must hold."""

    queue = serializers.RegexField(
        QUEUE,
        required=False,
        default="",
        max_length=limits.QUEUE_PATH,
        help_text="Path of a queue: borders of it and of the queues below, on either side.",
    )
    preemptor_queue = serializers.RegexField(
        QUEUE,
        required=False,
        default="",
        max_length=limits.QUEUE_PATH,
        help_text="Path of the preemptor queue, with all queues below.",
    )
    victim_queue = serializers.RegexField(
        QUEUE,
        required=False,
        default="",
        max_length=limits.QUEUE_PATH,
        help_text="Path of the victim queue, with all queues below.",
    )
    allowed = serializers.BooleanField(
        required=False,
        default=None,
        allow_null=True,
        help_text="True for borders that allow preemption, false for those that do not.",
    )
    since = UtcField(required=False, help_text="Count preempted pods since this time; default is seven days ago.")
    cursor = TextsField(required=False, help_text="Position of the page, from `next` of the previous page.")


class BorderSerializer(serializers.Serializer[Any]):
    """A border between the pending pods of one leaf queue and the pods of another, or of the same queue."""

    preemptor_queue = serializers.CharField(help_text="Path of the leaf queue whose pending pods would preempt.")
    victim_queue = serializers.CharField(help_text="Path of the leaf queue whose pods would be preempted.")
    allowed = serializers.BooleanField(help_text="True if the queue tree allows preemption across this border.")
    reason = serializers.ChoiceField(REASONS, help_text="Code of the reason why preemption is allowed or not.")
    reason_queue = serializers.CharField(
        allow_null=True, help_text="Path of the queue that the reason refers to; null if there is none."
    )
    explanation = serializers.CharField(help_text="The reason in words, in the language of the request.")
    preempted_pods = serializers.IntegerField(
        help_text="Number of pods preempted across this border since `since`, by any scheduler."
    )
    unexpected = serializers.BooleanField(help_text="True if pods were preempted although the tree does not allow it.")


class FencesSerializer(serializers.Serializer[Any]):
    """Borders by the paths of preemptor and victim."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    revision = serializers.IntegerField(
        allow_null=True, help_text="Number of the published revision; null if there is none."
    )
    policy = serializers.CharField(
        allow_null=True, help_text="Policy whose rules determine the borders; null if no revision is published."
    )
    conditions = serializers.CharField(
        allow_null=True,
        help_text="Further conditions for preemption across a border that is allowed; null if no revision is "
        "published.",
    )
    applicable = serializers.BooleanField(
        help_text="False if another scheduler decides, whose rules do not follow these borders."
    )
    partial = serializers.BooleanField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        help_text="True if queues of other tenants exist whose borders are not listed."
    )
    can_preempt_hidden_queues = serializers.BooleanField(
        allow_null=True,
        help_text="True if your queues can preempt queues that you cannot see; null if too many to check.",
    )
    hidden_queues_can_preempt = serializers.BooleanField(
        allow_null=True, help_text="True if queues that you cannot see can preempt yours; null if too many to check."
    )
    next = serializers.CharField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = BorderSerializer(many=True, help_text="Borders, ordered by preemptor queue and victim queue.")


@dataclass(frozen=True)
class Borders:
    """What a query asks of a scene: borders between leaves that the reader may see, in the order of their paths."""

    scene: Scene
    asked: Mapping[str, Any]

    def page(self) -> tuple[list[Border], str | None]:
        """The borders of this page, and the cursor of the next if there may be more."""
        found: list[Border] = []
        for looked_at, (preemptor, victim) in enumerate(self._pairs(), 1):
            border = self.scene.border_of(preemptor, victim)
            if self.asked["allowed"] in (None, border.allowed):
                found.append(border)
            if len(found) == self.asked["limit"] or looked_at == MOST_LOOKED_AT:
                more = next(self._pairs((preemptor, victim)), None)
                return found, TextsField().to_representation((preemptor, victim)) if more else None
        return found, None

    def _pairs(self, after: tuple[str, str] | None = None) -> Iterator[tuple[str, str]]:
        after = after or self.asked.get("cursor") or ("", "")
        victims = self._leaves("victim_queue")
        chosen = set(self._leaves("queue"))
        of_chosen = [path for path in victims if path in chosen]
        for preemptor in self._leaves("preemptor_queue"):
            if preemptor < after[0]:
                continue
            for victim in victims if preemptor in chosen else of_chosen:
                if (victim != preemptor or self._itself(preemptor)) and (preemptor, victim) > after:
                    yield preemptor, victim

    def _itself(self, leaf: str) -> bool:
        return self.scene.rules.open_to_itself(self.scene.tree, leaf)

    def _leaves(self, name: str) -> list[str]:
        """The leaves in a queue that the query names, all where it names none."""
        top = self.asked[name]
        return sorted(leaf for leaf in self.scene.leaves if not top or self.scene.tree.contains(top, leaf))

    def row(self, border: Border) -> dict[str, Any]:
        """One border as it is told."""
        preemptor, victim = border.preemptor, border.victim
        return {
            "preemptor_queue": preemptor,
            "victim_queue": victim,
            "allowed": border.allowed,
            "reason": border.reason.value,
            "reason_queue": border.queue or None,
            "explanation": text(border_clause(border)),
            "preempted_pods": self.scene.between.pods(preemptor, victim),
            "unexpected": self.scene.between.is_odd(preemptor, victim),
        }

    def others(self) -> dict[str, bool | None]:
        """Of queues that the reader may not see: whether there are any, and whether any is reached, or reaches."""
        scene = self.scene
        if not scene.partial:
            return {"partial": False, **_NONE_HIDDEN}
        if scene.chosen:
            out, into = (any(getattr(each, side).allowed for each in scene.unseen) for side in ("out", "into"))
            return {"partial": True, "can_preempt_hidden_queues": out, "hidden_queues_can_preempt": into}
        if not scene.counts_borders:
            return {"partial": True, "can_preempt_hidden_queues": None, "hidden_queues_can_preempt": None}
        out, into = (any(pair[side] not in scene.seen for pair in scene.open_borders) for side in (1, 0))
        return {"partial": True, "can_preempt_hidden_queues": out, "hidden_queues_can_preempt": into}


class FencesView(ApiView):
    """The borders of a cluster's tree."""

    actions = {"GET": "view"}
    queries = {"GET": FencesParameters}
    tag = "queues"

    @extend_schema(operation_id="list_fences", responses=FencesSerializer)
    def get(self, request: Request, name: str) -> Response:
        """The borders between queues that you can see, with the reasons. Follow `next`.

        A page can contain fewer results than `limit` although more follow.
        """
        cluster = self.cluster(name)
        revision = cluster.hierarchy.current if cluster.hierarchy else None
        borders = self._borders(cluster, revision)
        body: dict[str, Any] = {
            "cluster": cluster.name,
            "revision": revision.number if revision else None,
            "policy": revision.policy if revision else None,
            "conditions": text(conditions(reach_of(revision.policy, revision.parameters))) if revision else None,
            "applicable": revision is None or revision.dialect != yunikorn.DIALECT,
            **(borders.others() if borders else {"partial": revision is not None, **_NONE_HIDDEN}),
        }
        found, cursor = borders.page() if borders else ([], None)
        rows = [borders.row(border) for border in found] if borders else []
        return Response(represent(FencesSerializer, {**body, "next": next_link(request, cursor), "results": rows}))

    def _borders(self, cluster: Cluster, revision: Revision | None) -> Borders | None:
        """None where there is no tree, or no queue of the reader's in it. Raises WrongParameters for a queue unseen."""
        user, there, asked = self.request.user, present(cluster), self.asked
        seen = visible(user, revision, there).paths
        wrong = {name: [_("This queue does not exist.")] for name in _QUEUES if asked[name] and asked[name] not in seen}
        if wrong:
            raise problems.WrongParameters(wrong)
        if revision is None or not seen:
            return None
        since = asked.get("since", timezone.now() - _SINCE)
        scene = Scene(
            tree=tree_with(revision, there),
            rules=reach_of(revision.policy, revision.parameters),
            seen=seen,
            choice=Choice(queue=asked["queue"]),
            happened=preempted_pairs(user, cluster, since),
            standings={},
        )
        return Borders(scene, asked)
