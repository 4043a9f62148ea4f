"""The shapes of hierarchies, trees and revisions."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from engine.formats.registry import Format
from engine.formats.tree_json.diff import ChangeKind
from engine.model.decision import PodFacts
from engine.model.notes import Severity
from engine.model.placement_rules import RuleName
from engine.model.queue_settings import SETTINGS, TEMPLATE_SETTINGS
from engine.planning.forecast import EvictionCount, EvictionGroup, Loop, PlacedPod, Settling, UnreachedGuarantee
from engine.tree.orphans import Orphans
from scheduler_admin.clusters.api.serializers import RevisionSerializer
from scheduler_admin.core import limits
from scheduler_admin.queues.api.fail_on import Limit, limits_of
from scheduler_admin.queues.api.queue_settings import form_fields
from scheduler_admin.queues.models import Hierarchy, Revision
from scheduler_admin.rest.fields import DocumentField, UtcField
from scheduler_admin.rest.problems import ProblemSerializer


class GetParameters(serializers.Serializer[Any]):
    """How a tree is written."""

    document = serializers.ChoiceField(
        list(Format),
        default=None,
        help_text="Of application/yaml: whose document. Left out: the one that the tree came from, else a queues.yaml.",
    )


class PutParameters(serializers.Serializer[Any]):
    """How a tree is put in force."""

    dry_run = serializers.BooleanField(default=False, help_text="Say what would happen, and change nothing.")
    reason = serializers.CharField(
        default="",
        max_length=limits.REVISION_REASON,
        help_text="Why, for who reads the revisions later; required unless dry_run.",
    )
    subtree = serializers.CharField(
        default="",
        max_length=limits.QUEUE_PATH,
        help_text="Path of a queue: the document holds it and what is below; the rest stays.",
    )
    document = serializers.ChoiceField(
        list(Format),
        default=None,
        help_text="Of application/yaml: whose document; where it is left out, what its words tell.",
    )
    fail_on = serializers.CharField(default="", max_length=200)
    change_format = serializers.BooleanField(
        default=False,
        help_text="Publish it also where the tree in force came from a document of another format and clusters use it: "
        "their copies of the tree are looked for in the new format from then on. Else that is refused.",
    )
    allow_orphans = serializers.BooleanField(
        default=False,
        help_text="Publish it also where pods would belong to no queue by it; else that is refused.",
    )

    def validate_fail_on(self, value: str) -> frozenset[Limit]:
        """A list with commas."""
        return limits_of(value)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A reason for whatever is published."""
        if not attrs["dry_run"] and not attrs["reason"]:
            raise serializers.ValidationError({"reason": _("Say why.")})
        return attrs


class HierarchySerializer(serializers.Serializer[Hierarchy]):
    """A named tree through all its revisions."""

    name = serializers.CharField()
    revision = RevisionSerializer(source="current", allow_null=True)
    clusters = serializers.ListField(
        child=serializers.CharField(), source="clusters.all", help_text="Names of the clusters that use it."
    )


class HierarchiesSerializer(serializers.Serializer[Any]):
    """All hierarchies that the user may see."""

    results = HierarchySerializer(many=True)


class TemplateSerializer(serializers.Serializer[Any]):
    """What queues and templates have alike. What is left out has its default."""

    def get_fields(self) -> dict[str, Any]:
        """Those of the table of settings."""
        return {**form_fields(TEMPLATE_SETTINGS), **super().get_fields()}


class QueueFormSerializer(TemplateSerializer):
    """A queue in our own form. What is left out has its default."""

    path = serializers.CharField(help_text="root.tenant-1.queue-b")
    template = TemplateSerializer(required=False, help_text="What leaves that come into being below it are set to.")

    def get_fields(self) -> dict[str, Any]:
        """The same, and those that only queues have."""
        fields = super().get_fields()
        template = fields.pop("template")  # it stays the last
        own = form_fields(one for one in SETTINGS if not one.in_template)
        return {**fields, **own, "template": template}


class PlacementFilterSerializer(serializers.Serializer[Any]):
    """Whose pods a rule is for. A single user or group may be a regular expression."""

    type = serializers.CharField(required=False, help_text="allow or deny")
    users = serializers.ListField(child=serializers.CharField(), required=False)
    groups = serializers.ListField(child=serializers.CharField(), required=False)


class PlacementRuleSerializer(serializers.Serializer[Any]):
    """A placement rule."""

    name = serializers.ChoiceField([name.value for name in RuleName])
    value = serializers.CharField(required=False, help_text="Of tag the tag, of fixed the queue.")
    create = serializers.BooleanField(  # type: ignore[assignment]
        required=False, help_text="True: a queue that is not there comes into being."
    )
    filter = PlacementFilterSerializer(required=False)
    parent = DocumentField(  # type: ignore[assignment]
        required=False, help_text="The rule that gives the queue above."
    )


class TreeSerializer(serializers.Serializer[Any]):
    """A tree in our own form: what GET gives, PUT takes. What PUT leaves out of the policy stays as it is."""

    policy = serializers.CharField(required=False)
    dialect = serializers.CharField(required=False)
    parameters = DocumentField(required=False)
    placement = PlacementRuleSerializer(
        many=True, required=False, help_text="How pods find their leaf: the first that gives one."
    )
    capacity = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="What percentages of the cluster are of; left out, what its nodes hold now.",
    )
    queues = QueueFormSerializer(many=True)


class ChangeSerializer(serializers.Serializer[Any]):
    """One change. Without a queue it is beside the queues; without a field, about the whole queue, or its path."""

    queue = serializers.CharField(allow_blank=True)
    kind = serializers.ChoiceField([one.value for one in ChangeKind])
    field = serializers.CharField(allow_blank=True)
    resource = serializers.CharField(allow_blank=True)
    before = serializers.CharField(allow_blank=True, help_text="Empty: not set.")
    after = serializers.CharField(allow_blank=True, help_text="Empty: not set.")
    sentence = serializers.CharField(help_text="The change in words.")


class FindingSerializer(serializers.Serializer[Any]):
    """Something that is odd about a tree, or holds."""

    severity = serializers.ChoiceField([one.value for one in Severity if one is not Severity.ERROR])
    queue = serializers.CharField(allow_blank=True)
    field = serializers.CharField(allow_blank=True, help_text="max/memory; empty: the queue.")
    cluster = serializers.CharField(allow_null=True, help_text="Where it is about one cluster's size.")
    reading = serializers.BooleanField(
        help_text="It is about the document: what could not be taken over as it seems to be meant, or is kept (info)."
    )
    pointer = serializers.CharField(required=False, help_text="JSON pointer into a document of our own form.")
    line = serializers.IntegerField(required=False, help_text="Line of a queues.yaml.")
    sentence = serializers.CharField(help_text="The finding in words.")
    remedy = serializers.CharField(allow_blank=True, help_text="What to do about it; empty: nothing.")


class TollSerializer(serializers.Serializer[EvictionCount]):
    """How many pods go, of how many applications. A pod that goes twice counts twice."""

    pods = serializers.IntegerField()
    applications = serializers.IntegerField()


class GroupSerializer(serializers.Serializer[EvictionGroup]):
    """Pods of one application that go from one node, for one queue."""

    asker_queue = serializers.CharField()
    queue = serializers.CharField()
    namespace = serializers.CharField()
    application = serializers.CharField(allow_blank=True)
    node = serializers.CharField()
    round = serializers.IntegerField(help_text="The pass in which the first of them goes; 1 is the next one.")
    first = serializers.IntegerField(help_text="By the next pass.")
    later = serializers.IntegerField(help_text="By passes after it.")


class DifferenceSerializer(TollSerializer):
    """Preemptions that happen under one of two trees alone."""

    groups = GroupSerializer(many=True, help_text="In the order in which they go; in one pass the most pods first.")


class LoopSerializer(serializers.Serializer[Loop]):
    """What would go on for ever."""

    passes = serializers.IntegerField(help_text="After so many the same state comes again.")
    queues = serializers.ListField(child=serializers.CharField(), help_text="Who takes, then who is taken from.")


class AskFactsSerializer(serializers.Serializer[PodFacts]):
    """An ask."""

    namespace = serializers.CharField()
    name = serializers.CharField()
    queue = serializers.CharField(allow_blank=True)


class PlacedSerializer(serializers.Serializer[PlacedPod]):
    """An ask that would get a node."""

    round = serializers.IntegerField(help_text="The pass that finds it; 1 is the next one.")
    ask = AskFactsSerializer()
    node = serializers.CharField()


class UnreachedSerializer(serializers.Serializer[UnreachedGuarantee]):
    """A queue below its guarantee in the end, while asks of it wait. In thousandths of a core, bytes, counts."""

    queue = serializers.CharField()
    resource = serializers.CharField()
    used = serializers.IntegerField()
    guaranteed = serializers.IntegerField()


class ForecastSerializer(serializers.Serializer[Any]):
    """What the tree would preempt, pass by pass, if nobody did anything else. Of tenants' pods, one's own."""

    at = UtcField(help_text="As of when.")
    settles = serializers.ChoiceField([one.value for one in Settling])
    loop = LoopSerializer(allow_null=True, help_text="Where it never comes to rest: between which queues.")
    passes = serializers.IntegerField(help_text="After how many nothing moves any more, or how many were looked at.")
    next_pass = TollSerializer(help_text="What the next pass would evict.")
    total = TollSerializer(help_text="What all passes together would evict.")
    waiting = serializers.IntegerField(help_text="Asks that still wait in the end.")
    caused = DifferenceSerializer(help_text="Only under this tree: what the change costs.")
    spared = DifferenceSerializer(help_text="Only under the tree in force: what happens without the change.")
    served = PlacedSerializer(many=True, help_text="Asks that get a node only under this tree.")
    unserved = PlacedSerializer(many=True, help_text="Asks that get one only under the tree in force.")
    unreachable = UnreachedSerializer(many=True, help_text="Guarantees that only this tree puts out of reach.")


class OrphanedSerializer(serializers.Serializer[Orphans]):
    """The pods of a queue that would be in none."""

    queue = serializers.CharField(help_text="Where they are now.")
    running = serializers.IntegerField()
    pending = serializers.IntegerField()


class OrphansSerializer(serializers.Serializer[Any]):
    """The pods that would belong to no queue."""

    running = serializers.IntegerField(help_text="How many of them have a node.")
    pending = serializers.IntegerField()
    queues = OrphanedSerializer(many=True)
    sentence = serializers.CharField()


class OutlookSerializer(serializers.Serializer[Any]):
    """One cluster under the tree."""

    cluster = serializers.CharField()
    forecast = ForecastSerializer(allow_null=True)
    reason = serializers.CharField(allow_null=True, help_text="Why there is no forecast.")
    orphans = OrphansSerializer(allow_null=True, help_text="Null: none, or nothing was read of the cluster yet.")


class ImportedQueueSerializer(serializers.Serializer[Any]):
    """A queue of a document and what becomes of it."""

    title = serializers.CharField(allow_null=True, help_text="What it is there; null: it is only implied.")
    line = serializers.IntegerField(allow_null=True)
    queue = QueueFormSerializer(help_text="What it is here.")


class ImportedSerializer(serializers.Serializer[Any]):
    """A document in YAML as it was understood."""

    format = serializers.ChoiceField(list(Format))
    queues = ImportedQueueSerializer(many=True, help_text="Those above before those below.")


class OutcomeSerializer(serializers.Serializer[Any]):
    """What became of a tree that was sent, or would."""

    changed = serializers.BooleanField(help_text="False: the tree is in force already.")
    revision = serializers.IntegerField(help_text="Of the tree that was sent, once it is published.")
    document = ImportedSerializer(allow_null=True, help_text="What becomes what; null for application/json.")
    diff = ChangeSerializer(many=True)
    lint = FindingSerializer(many=True)
    forecast = OutlookSerializer(many=True, help_text="A row for each cluster that uses the hierarchy.")


class RuledOutSerializer(ProblemSerializer):
    """What its sender rules out in a tree, with all that it would do."""

    outcome = OutcomeSerializer()


class RevisionEntrySerializer(serializers.ModelSerializer[Revision]):
    """Who published a revision, when and why."""

    number = serializers.IntegerField()
    parent = serializers.IntegerField(  # type: ignore[assignment]  # every field has a parent of its own
        source="parent.number", allow_null=True, help_text="The one that was in force before it."
    )
    author = serializers.CharField(source="author_name")
    published_at = UtcField()

    class Meta:
        model = Revision
        fields = ["number", "parent", "digest", "author", "published_at", "reason", "policy", "dialect"]
        extra_kwargs = {"digest": {"help_text": "SHA-256, in hex, over what it says and over its parent's."}}


class RevisionsSerializer(serializers.Serializer[Any]):
    """A page of revisions, newest first."""

    next = serializers.URLField(allow_null=True, help_text="The next page; null on the last.")
    results = RevisionEntrySerializer(many=True)


class RevisionDetailSerializer(serializers.Serializer[Any]):
    """One revision with its tree, which PUT takes as it is: to roll back."""

    hierarchy = serializers.CharField()
    revision = RevisionEntrySerializer()
    tree = TreeSerializer()
