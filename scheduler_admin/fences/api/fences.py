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
from engine.policies import foreign_dialects, reach_of
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
from scheduler_admin.rest.fields import UtcField
from scheduler_admin.rest.pagination import LimitParameters, TextsField, next_link
from scheduler_admin.rest.parameters import QUEUE

MOST_LOOKED_AT = 20_000
"""Borders, for one page: of those that are left out, too."""
_SINCE = timedelta(days=7)
_NONE_OF_OTHERS = {"reaches_others": False, "others_reach": False}
_QUEUES = ("queue", "asker", "victim")


class FencesParameters(LimitParameters):
    """Which borders; all that are given must hold."""

    queue = serializers.RegexField(
        QUEUE,
        required=False,
        default="",
        max_length=limits.QUEUE_PATH,
        help_text="The asker or the victim is it or below it.",
    )
    asker = serializers.RegexField(
        QUEUE, required=False, default="", max_length=limits.QUEUE_PATH, help_text="The asker is it or below it."
    )
    victim = serializers.RegexField(
        QUEUE, required=False, default="", max_length=limits.QUEUE_PATH, help_text="The victim is it or below it."
    )
    allowed = serializers.BooleanField(
        required=False, default=None, allow_null=True, help_text="Open borders alone, or shut ones."
    )
    since = UtcField(required=False, help_text="Pods that went since then are counted; the last seven days.")
    cursor = TextsField(required=False, help_text="Taken from `next` of the page before.")


class BorderSerializer(serializers.Serializer[Any]):
    """What lies between the asks of one leaf and the pods of another, or its own where it may take from itself."""

    asker = serializers.CharField()
    victim = serializers.CharField()
    allowed = serializers.BooleanField(help_text="Whether preemption may go through, by the tree alone.")
    reason = serializers.ChoiceField([reason.value for reason in BorderReason])
    queue = serializers.CharField(allow_null=True, help_text="Which the reason is about.")
    because = serializers.CharField(help_text="The reason in words.")
    pods = serializers.IntegerField(help_text="That went, whoever decided it.")
    odd = serializers.BooleanField(help_text="Pods went although it is shut.")


class FencesSerializer(serializers.Serializer[Any]):
    """Borders by the paths of asker and victim."""

    cluster = serializers.CharField()
    revision = serializers.IntegerField(allow_null=True)
    policy = serializers.CharField(allow_null=True, help_text="By whose rules the borders are.")
    conditions = serializers.CharField(
        allow_null=True, help_text="What else has to hold for an open border to be used, which the tree does not tell."
    )
    applies = serializers.BooleanField(
        help_text="False: it is decided by another scheduler's rules, which do not keep to these borders."
    )
    partial = serializers.BooleanField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        help_text="There are queues of others, of which no border is told."
    )
    reaches_others = serializers.BooleanField(
        allow_null=True, help_text="Your queues, or `queue`, may preempt some of them; null: too many to look at each."
    )
    others_reach = serializers.BooleanField(allow_null=True, help_text="Likewise the other way.")
    next = serializers.CharField(allow_null=True)
    results = BorderSerializer(many=True)


@dataclass(frozen=True)
class Borders:
    """What a query asks of a scene: borders between leaves that the reader may see, in the order of their paths."""

    scene: Scene
    asked: Mapping[str, Any]

    def page(self) -> tuple[list[Border], str | None]:
        """The borders of this page, and the cursor of the next if there may be more."""
        found: list[Border] = []
        for looked_at, (asker, victim) in enumerate(self._pairs(), 1):
            border = self.scene.border_of(asker, victim)
            if self.asked["allowed"] in (None, border.allowed):
                found.append(border)
            if len(found) == self.asked["limit"] or looked_at == MOST_LOOKED_AT:
                more = next(self._pairs((asker, victim)), None)
                return found, TextsField().to_representation((asker, victim)) if more else None
        return found, None

    def _pairs(self, after: tuple[str, str] | None = None) -> Iterator[tuple[str, str]]:
        after = after or self.asked.get("cursor") or ("", "")
        victims = self._leaves("victim")
        chosen = set(self._leaves("queue"))
        of_chosen = [path for path in victims if path in chosen]
        for asker in self._leaves("asker"):
            if asker < after[0]:
                continue
            for victim in victims if asker in chosen else of_chosen:
                if (victim != asker or self._itself(asker)) and (asker, victim) > after:
                    yield asker, victim

    def _itself(self, leaf: str) -> bool:
        return self.scene.rules.open_to_itself(self.scene.tree, leaf)

    def _leaves(self, name: str) -> list[str]:
        """The leaves in a queue that the query names, all where it names none."""
        top = self.asked[name]
        return sorted(leaf for leaf in self.scene.leaves if not top or self.scene.tree.contains(top, leaf))

    def row(self, border: Border) -> dict[str, Any]:
        """One border as it is told."""
        asker, victim = border.preemptor, border.victim
        return {
            "asker": asker,
            "victim": victim,
            "allowed": border.allowed,
            "reason": border.reason.value,
            "queue": border.queue or None,
            "because": text(border_clause(border)),
            "pods": self.scene.pods[asker, victim],
            "odd": self.scene.is_odd(asker, victim),
        }

    def others(self) -> dict[str, bool | None]:
        """Of queues that the reader may not see: whether there are any, and whether any is reached, or reaches."""
        scene = self.scene
        if not scene.partial:
            return {"partial": False, **_NONE_OF_OTHERS}
        if scene.chosen:
            out, into = (any(getattr(each, side).allowed for each in scene.unseen) for side in ("out", "into"))
            return {"partial": True, "reaches_others": out, "others_reach": into}
        if not scene.counts_borders:
            return {"partial": True, "reaches_others": None, "others_reach": None}
        out, into = (any(pair[side] not in scene.seen for pair in scene.open_borders) for side in (1, 0))
        return {"partial": True, "reaches_others": out, "others_reach": into}


class FencesView(ApiView):
    """The borders of a cluster's tree."""

    actions = {"GET": "view"}
    queries = {"GET": FencesParameters}
    tag = "queues"

    @extend_schema(operation_id="list_fences", responses=FencesSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Who may preempt whom by the tree in force, between queues that you may see, with why. Follow `next`.

        A page may hold fewer than `limit` while there are more: of very many borders only so many are looked at.
        """
        cluster = self.cluster(name)
        revision = cluster.hierarchy.current if cluster.hierarchy else None
        borders = self._borders(cluster, revision)
        body: dict[str, Any] = {
            "cluster": cluster.name,
            "revision": revision.number if revision else None,
            "policy": revision.policy if revision else None,
            "conditions": text(conditions(reach_of(revision.policy, revision.parameters))) if revision else None,
            "applies": revision is None or revision.dialect not in foreign_dialects(),
            **(borders.others() if borders else {"partial": revision is not None, **_NONE_OF_OTHERS}),
        }
        found, cursor = borders.page() if borders else ([], None)
        rows = [borders.row(border) for border in found] if borders else []
        return Response(FencesSerializer({**body, "next": next_link(request, cursor), "results": rows}).data)

    def _borders(self, cluster: Cluster, revision: Revision | None) -> Borders | None:
        """None where there is no tree, or no queue of the reader's in it. Raises WrongParameters for a queue unseen."""
        user, there, asked = self.request.user, present(cluster), self.asked
        seen = frozenset(queue.path for queue in visible(user, revision, there))
        wrong = {name: [_("There is no such queue.")] for name in _QUEUES if asked[name] and asked[name] not in seen}
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
