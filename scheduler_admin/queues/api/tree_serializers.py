"""The shapes of hierarchies, trees and revisions."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from engine.formats.registry import Format
from engine.formats.tree_json.diff import ChangeKind
from engine.model.decision import PodFacts
from engine.model.notes import Severity
from engine.model.placement_rules import RuleName
from engine.model.queue_settings import SETTINGS, TEMPLATE_SETTINGS
from engine.planning.forecast import EvictionCount, EvictionGroup, Loop, PlacedPod, Settling
from engine.tree.orphans import Orphans
from scheduler_admin.clusters.api.serializers import RevisionSerializer
from scheduler_admin.core import limits
from scheduler_admin.queues.api.fail_on import LimitField
from scheduler_admin.queues.api.queue_settings import form_fields
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.rest.fields import DocumentField, UtcField
from scheduler_admin.rest.media import OWN_FORM, YUNIKORN, DocumentTextSerializer
from scheduler_admin.rest.problems import ProblemSerializer


class GetParameters(serializers.Serializer[Any]):
    """How a tree is written."""

    format = serializers.ChoiceField(
        list(Format),
        default=None,
        help_text="Format of the YAML document; default is the format that the tree came from, or YuniKorn's.",
    )


class PostParameters(serializers.Serializer[Any]):
    """How the first tree of a hierarchy is put in force."""

    dry_run = serializers.BooleanField(default=False, help_text="True to show the effects without changing anything.")
    reason = serializers.CharField(
        default="",
        max_length=limits.REVISION_REASON,
        help_text="Reason for publishing, shown in the list of revisions; required unless `dry_run` is true.",
    )
    format = serializers.ChoiceField(
        list(Format),
        default=None,
        help_text="Format of a YAML document; by default, it is detected.",
    )
    fail_on = serializers.ListField(
        child=LimitField(),
        required=False,
        help_text="Effect that is ruled out; if the tree has it, the response is 409 and nothing is published. Repeat "
        "it for several.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A reason for whatever is published."""
        if not attrs["dry_run"] and not attrs["reason"]:
            raise serializers.ValidationError({"reason": _("Enter a reason.")})
        return attrs


class PutParameters(PostParameters):
    """How a tree is put in force."""

    subtree = serializers.CharField(
        default="",
        max_length=limits.QUEUE_PATH,
        help_text="Path of a queue: the document contains only it and the queues below it; the rest stays.",
    )
    change_format = serializers.BooleanField(
        default=False,
        help_text="True to publish a document of another format than the published tree although clusters use it; "
        "their configuration is then expected in the new format.",
    )
    allow_orphans = serializers.BooleanField(
        default=False,
        help_text="True to publish even if pods would belong to no queue.",
    )


class HierarchySerializer(serializers.Serializer[Hierarchy]):
    """A named queue tree with all its revisions."""

    name = serializers.CharField(help_text="Name of the hierarchy.")
    revision = RevisionSerializer(
        source="current", allow_null=True, help_text="Published revision; null if nothing is published."
    )
    clusters = serializers.ListField(
        child=serializers.CharField(), source="clusters.all", help_text="Names of the clusters that use the hierarchy."
    )


class HierarchiesSerializer(serializers.Serializer[Any]):
    """All hierarchies that you can see."""

    results = HierarchySerializer(many=True, help_text="Hierarchies that you can see.")


class QueueTemplateSerializer(serializers.Serializer[Any]):
    """Settings that queues and templates have in common. Settings that are left out have their default."""

    def get_fields(self) -> dict[str, Any]:
        """Those of the table of settings."""
        return {**form_fields(TEMPLATE_SETTINGS), **super().get_fields()}


class QueueSpecSerializer(QueueTemplateSerializer):
    """A queue of a tree in JSON. Settings that are left out have their default."""

    path = serializers.CharField(help_text="Path of the queue, such as `root.tenant-1.queue-b`.")
    template = QueueTemplateSerializer(
        required=False, help_text="Settings of leaf queues that are created below the queue."
    )

    def get_fields(self) -> dict[str, Any]:
        """The same, and those that only queues have."""
        fields = super().get_fields()
        template = fields.pop("template")  # it stays the last
        own = form_fields(one for one in SETTINGS if not one.in_template)
        return {**fields, **own, "template": template}


class PlacementFilterSerializer(serializers.Serializer[Any]):
    """The users and groups that a rule applies to. A single entry can be a regular expression."""

    type = serializers.CharField(required=False, help_text="`allow` or `deny`.")
    users = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Users that the filter matches; a single entry can be a regular expression.",
    )
    groups = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Groups that the filter matches; a single entry can be a regular expression.",
    )


class PlacementRuleSerializer(serializers.Serializer[Any]):
    """A placement rule."""

    name = serializers.ChoiceField([name.value for name in RuleName], help_text="Type of the rule.")
    value = serializers.CharField(
        required=False, help_text="Name of the tag for type `tag`, or path of the queue for type `fixed`."
    )
    create = serializers.BooleanField(  # type: ignore[assignment]
        required=False, help_text="True to create the queue if it does not exist."
    )
    filter = PlacementFilterSerializer(
        required=False, help_text="Users and groups that the rule applies to; default is all."
    )
    parent = DocumentField(  # type: ignore[assignment]
        required=False, help_text="Rule that determines the parent queue."
    )


class TreeSerializer(serializers.Serializer[Any]):
    """A queue tree in JSON, as GET returns it and PUT accepts it."""

    policy = serializers.CharField(required=False, help_text="Policy of the tree; if missing, the published one stays.")
    dialect = serializers.CharField(
        required=False, help_text="Dialect of the policy; if missing, the published one stays."
    )
    parameters = DocumentField(
        required=False, help_text="Parameters of the policy; if missing, the published ones stay."
    )
    placement = PlacementRuleSerializer(
        many=True, required=False, help_text="Rules that assign pods to leaf queues; the first match applies."
    )
    capacity = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="Capacity that percentages refer to; default is the current capacity of the cluster.",
    )
    queues = QueueSpecSerializer(many=True, help_text="Queues of the tree.")


TREE_BODY = {
    OWN_FORM: PolymorphicProxySerializer(
        component_name="TreeDocument",
        serializers=[TreeSerializer, DocumentTextSerializer],
        resource_type_field_name=None,
        many=False,
    ),
    YUNIKORN: str,
}
"""What a request with a tree holds."""


class TreeChangeSerializer(serializers.Serializer[Any]):
    """One change of a queue tree."""

    queue = serializers.CharField(
        allow_blank=True, help_text="Path of the changed queue; empty for settings of the whole tree."
    )
    kind = serializers.ChoiceField(
        [one.value for one in ChangeKind], help_text="Kind of change: queue added, removed, moved or changed."
    )
    field = serializers.CharField(
        allow_blank=True, help_text="Changed setting; empty for a change of the whole queue or its path."
    )
    resource = serializers.CharField(allow_blank=True, help_text="Resource that the change concerns; empty if none.")
    before = serializers.CharField(allow_blank=True, help_text="Value before the change; empty if it was not set.")
    after = serializers.CharField(allow_blank=True, help_text="Value after the change; empty if it is no longer set.")
    sentence = serializers.CharField(help_text="The change in one sentence, in the language of the request.")


class FindingSerializer(serializers.Serializer[Any]):
    """A finding about a queue tree."""

    severity = serializers.ChoiceField(
        [one.value for one in Severity if one is not Severity.ERROR], help_text="Severity of the finding."
    )
    queue = serializers.CharField(allow_blank=True, help_text="Path of the queue; empty for the whole tree.")
    field = serializers.CharField(
        allow_blank=True,
        help_text="Setting that the finding concerns, such as `max/memory`; empty for the whole queue.",
    )
    cluster = serializers.CharField(
        allow_null=True, help_text="Name of the cluster whose size the finding concerns; null if it concerns none."
    )
    from_import = serializers.BooleanField(help_text="True if the finding is about the import of the document.")
    pointer = serializers.CharField(
        required=False, help_text="JSON pointer into the document; missing for documents in YAML."
    )
    line = serializers.IntegerField(required=False, help_text="Line of the YAML document; missing for JSON documents.")
    sentence = serializers.CharField(help_text="The finding in one sentence, in the language of the request.")
    remedy = serializers.CharField(allow_blank=True, help_text="How to fix it; empty if nothing needs to be done.")


class EvictionCountSerializer(serializers.Serializer[EvictionCount]):
    """Number of evicted pods and of applications. A pod that is evicted twice counts twice."""

    pods = serializers.IntegerField(help_text="Number of evicted pods; a pod that is evicted twice counts twice.")
    applications = serializers.IntegerField(help_text="Number of applications that lose pods.")


class EvictionGroupSerializer(serializers.Serializer[EvictionGroup]):
    """Evicted pods of one application from one node for one queue."""

    preemptor_queue = serializers.CharField(
        source="asker_queue", help_text="Path of the queue whose pending pods preempt; empty if hidden."
    )
    victim_queue = serializers.CharField(source="queue", help_text="Path of the queue that loses the pods.")
    namespace = serializers.CharField(help_text="Namespace of the evicted pods.")
    application = serializers.CharField(allow_blank=True, help_text="Application of the evicted pods; empty if none.")
    node = serializers.CharField(help_text="Node that the pods are evicted from.")
    pass_number = serializers.IntegerField(help_text="Pass of the first eviction; 1 is the next pass.", source="round")
    next_pass_pods = serializers.IntegerField(help_text="Number of pods that the next pass evicts.", source="first")
    later_pass_pods = serializers.IntegerField(help_text="Number of pods that later passes evict.", source="later")


class EvictionDifferenceSerializer(EvictionCountSerializer):
    """Evictions that happen only under one of two trees."""

    groups = EvictionGroupSerializer(
        many=True, help_text="Evictions grouped by queue, application and node, in the order in which they happen."
    )


class ForecastLoopSerializer(serializers.Serializer[Loop]):
    """Preemptions that would repeat forever."""

    passes = serializers.IntegerField(help_text="Number of passes after which the same state repeats.")
    queues = serializers.ListField(
        child=serializers.CharField(), help_text="Paths of the queues in the loop, preemptors before victims."
    )


class PodReferenceSerializer(serializers.Serializer[PodFacts]):
    """A pending pod."""

    namespace = serializers.CharField(help_text="Namespace of the pod.")
    name = serializers.CharField(help_text="Name of the pod.")
    queue = serializers.CharField(allow_blank=True, help_text="Path of the pod's queue; empty if it has none.")


class ScheduledPodSerializer(serializers.Serializer[PlacedPod]):
    """A pending pod that would get a node."""

    pass_number = serializers.IntegerField(help_text="Pass that schedules the pod; 1 is the next pass.", source="round")
    pending_pod = PodReferenceSerializer(source="ask", help_text="The pending pod.")
    node = serializers.CharField(help_text="Node that the pod would get.")


class UnreachableGuaranteeSerializer(serializers.Serializer[Any]):
    """A queue that is still below its guarantee at the end, with pending pods."""

    queue = serializers.CharField(help_text="Path of the queue.")
    resource = serializers.CharField(help_text="Name of the resource.")
    used = serializers.CharField(help_text="Usage at the end of the forecast.")
    guaranteed = serializers.CharField(help_text="Guarantee of the queue.")


class ForecastSerializer(serializers.Serializer[Any]):
    """What would be preempted under the tree, pass by pass, if nothing else changed. Tenants see their own pods."""

    snapshot_at = UtcField(help_text="Time of the cluster state that the forecast starts from.")
    stability = serializers.ChoiceField(
        [one.value for one in Settling],
        help_text="Whether the forecast becomes stable, repeats in a loop, or was cut off.",
    )
    loop = ForecastLoopSerializer(
        allow_null=True, help_text="The loop, if the forecast repeats forever; null otherwise."
    )
    passes = serializers.IntegerField(help_text="Number of passes until nothing changes, or number of computed passes.")
    next_pass = EvictionCountSerializer(help_text="Evictions in the next pass.")
    total = EvictionCountSerializer(help_text="Evictions in all passes together.")
    pending_pods = serializers.IntegerField(help_text="Number of pods that are still pending at the end.")
    caused_evictions = EvictionDifferenceSerializer(help_text="Evictions that happen only under this tree.")
    avoided_evictions = EvictionDifferenceSerializer(help_text="Evictions that happen only under the published tree.")
    newly_scheduled_pods = ScheduledPodSerializer(
        many=True, help_text="Pending pods that get a node only under this tree."
    )
    no_longer_scheduled_pods = ScheduledPodSerializer(
        many=True, help_text="Pending pods that get a node only under the published tree."
    )
    unreachable_guarantees = UnreachableGuaranteeSerializer(
        many=True, help_text="Guarantees that only this tree makes unreachable."
    )


class QueueOrphansSerializer(serializers.Serializer[Orphans]):
    """The pods of a queue that would belong to no queue."""

    queue = serializers.CharField(help_text="Path of the queue that the pods belong to now.")
    running_pods = serializers.IntegerField(source="running", help_text="Number of these pods that have a node.")
    pending_pods = serializers.IntegerField(source="pending", help_text="Number of these pods that are pending.")


class OrphansSerializer(serializers.Serializer[Any]):
    """The pods that would belong to no queue."""

    running_pods = serializers.IntegerField(help_text="Number of pods with a node that would belong to no queue.")
    pending_pods = serializers.IntegerField(help_text="Number of pending pods that would belong to no queue.")
    queues = QueueOrphansSerializer(many=True, help_text="Numbers by the queue that the pods belong to now.")
    sentence = serializers.CharField(help_text="The numbers in one sentence, in the language of the request.")


class ClusterForecastSerializer(serializers.Serializer[Any]):
    """The effect of a tree on one cluster."""

    cluster = serializers.CharField(help_text="Name of the cluster.")
    forecast = ForecastSerializer(allow_null=True, help_text="The forecast; null if there is none.")
    reason = serializers.CharField(allow_null=True, help_text="Why there is no forecast; null if there is one.")
    orphans = OrphansSerializer(
        allow_null=True, help_text="Pods that would belong to no queue; null if none or unknown."
    )


class ImportedQueueSerializer(serializers.Serializer[Any]):
    """A queue of a document as it is imported."""

    source_name = serializers.CharField(
        allow_null=True, help_text="Name of the queue in the document; null if the queue is only implied."
    )
    line = serializers.IntegerField(allow_null=True, help_text="Line of the queue in the document; null if unknown.")
    queue = QueueSpecSerializer(help_text="The queue as imported.")


class ImportedDocumentSerializer(serializers.Serializer[Any]):
    """A YAML document as it was understood."""

    format = serializers.ChoiceField(list(Format), help_text="Format of the document.")
    queues = ImportedQueueSerializer(many=True, help_text="Queues of the document, parents before children.")


class TreeResultSerializer(serializers.Serializer[Any]):
    """The effects of publishing a tree."""

    changed = serializers.BooleanField(help_text="False if the tree is the same as the published tree.")
    revision = serializers.IntegerField(help_text="Number of the revision of this tree, once it is published.")
    imported_document = ImportedDocumentSerializer(
        allow_null=True, help_text="How the document was understood; null for JSON documents."
    )
    changes = TreeChangeSerializer(many=True, help_text="Changes compared with the published tree.")
    findings = FindingSerializer(many=True, help_text="Findings about the tree.")
    forecasts = ClusterForecastSerializer(
        many=True, help_text="Forecasts, one for each cluster that uses the hierarchy."
    )


class FailOnProblemSerializer(ProblemSerializer):
    """A problem with the effects of the tree, if `fail_on` rules one out."""

    result = TreeResultSerializer(
        required=False, help_text="What publishing the tree would do; missing if the problem is of another type."
    )


class RevisionEntrySerializer(serializers.ModelSerializer[Revision]):
    """A revision with its author and reason."""

    number = serializers.IntegerField(help_text="Number of the revision.")
    parent = serializers.IntegerField(  # type: ignore[assignment]  # every field has a parent of its own
        source="parent.number", allow_null=True, help_text="Number of the previous revision; null for the first one."
    )
    published_by = serializers.CharField(source="author_name", help_text="Name of the user who published the revision.")
    published_at = UtcField(help_text="Time when the revision was published.")

    class Meta:
        model = Revision
        fields = ["number", "parent", "digest", "published_by", "published_at", "reason", "policy", "dialect"]
        extra_kwargs = {
            "digest": {"help_text": "SHA-256 digest, in hex, of this revision and the digest of its parent."},
            "reason": {"help_text": "Reason for publishing."},
            "policy": {"help_text": "Policy of the revision."},
            "dialect": {"help_text": "Dialect of the policy."},
        }


class RevisionsSerializer(serializers.Serializer[Any]):
    """A page of revisions, newest first."""

    next = serializers.URLField(allow_null=True, help_text="URL of the next page; null on the last page.")
    results = RevisionEntrySerializer(many=True, help_text="Revisions, newest first.")


class RevisionDetailSerializer(serializers.Serializer[Any]):
    """A revision with its tree, in the form that PUT accepts."""

    hierarchy = serializers.CharField(help_text="Name of the hierarchy.")
    revision = RevisionEntrySerializer(help_text="The revision.")
    tree = TreeSerializer(help_text="Queue tree of the revision.")
