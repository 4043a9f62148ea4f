"""The shapes of drafts: what is told of them, and each act's body."""

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from engine.model.notes import Severity
from scheduler_admin.core import limits
from scheduler_admin.queues.api.tree_serializers import ChangeSerializer, OutlookSerializer
from scheduler_admin.queues.drafts.selectors import DraftState
from scheduler_admin.rest.fields import UtcField

_QUEUE = "Path of the queue, as the draft has it now."
_SETTINGS = "Setting to text, as it was typed: max/cpu, delay, template/delay. What is not set is left out."


class NewDraftSerializer(serializers.Serializer[Any]):
    """A draft of the revision in force."""

    name = serializers.CharField(max_length=limits.DRAFT_NAME)


class DraftSerializer(serializers.Serializer[DraftState]):
    """A tree being edited, in a line."""

    id = serializers.IntegerField(source="draft.pk")
    name = serializers.CharField(source="draft.name")
    version = serializers.IntegerField(source="draft.version", help_text="Grows with every act.")
    author = serializers.CharField(source="draft.author_name")
    created_at = UtcField(source="draft.created_at")
    changed_by = serializers.CharField(source="draft.changed_by")
    changed_at = UtcField(source="draft.changed_at")
    base = serializers.IntegerField(source="draft.base.number", help_text="The revision that it changes.")
    outdated = serializers.BooleanField(source="draft.outdated", help_text="Another revision is in force: merge first.")
    approved_by = serializers.SerializerMethodField(help_text="Who approved it as it is now; null: nobody.")
    changed = serializers.SerializerMethodField(help_text="How many queues, and settings beside them, it changes.")
    wrong = serializers.SerializerMethodField(help_text="How many errors keep it from being published.")

    def get_approved_by(self, state: DraftState) -> str | None:
        """The name, while it holds."""
        return state.draft.approved_name if state.draft.approved else None

    def get_changed(self, state: DraftState) -> int:
        """Of what the reader sees."""
        return len(state.changes) + len(state.beside)

    def get_wrong(self, state: DraftState) -> int:
        """Likewise."""
        return len(state.errors)


class DraftsSerializer(serializers.Serializer[Any]):
    """The open drafts, the one changed last first."""

    results = DraftSerializer(many=True)


class DraftQueueSerializer(serializers.Serializer[Any]):
    """A queue of a draft."""

    path = serializers.CharField()
    was = serializers.CharField(allow_null=True, help_text="Its path in the base; null: it is new.")
    leaf = serializers.BooleanField()
    settings = serializers.DictField(child=serializers.CharField(), help_text=_SETTINGS)


class DraftNoteSerializer(serializers.Serializer[Any]):
    """Something that is wrong with a draft, or odd, or holds."""

    severity = serializers.ChoiceField([one.value for one in Severity])
    queue = serializers.CharField(allow_blank=True)
    pointer = serializers.CharField(
        allow_blank=True, help_text="JSON pointer into this answer: /queues/3/settings/delay."
    )
    sentence = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True, help_text="What to do about it; empty: nothing.")


class ConflictSerializer(serializers.Serializer[Any]):
    """What a merge left to choose from. An empty text: not set; of a whole queue: it is not there."""

    queue = serializers.CharField(allow_blank=True, help_text="Its path in the base; empty: beside the queues.")
    setting = serializers.CharField(allow_blank=True, help_text="Empty: whether the queue is there.")
    base = serializers.CharField(allow_blank=True)
    theirs = serializers.CharField(allow_blank=True)
    mine = serializers.CharField(allow_blank=True)


class DraftDetailSerializer(DraftSerializer):
    """A tree being edited, with all that there is to say about it but the forecast."""

    settings = serializers.DictField(
        child=serializers.CharField(),
        help_text="What it says beside its queues: policy, dialect, parameters/last_resort, capacity/cpu.",
    )
    placement = serializers.ListField(
        child=serializers.JSONField(),
        allow_null=True,
        help_text="Its placement rules as they were typed; null for those who do not see the whole tree.",
    )
    queues = DraftQueueSerializer(many=True, help_text="Parents before children.")
    notes = DraftNoteSerializer(many=True)
    changes = ChangeSerializer(many=True, help_text="Against its base.")
    conflicts = ConflictSerializer(many=True)
    undo = serializers.BooleanField(help_text="Whether an act of yours can be undone.")
    redo = serializers.BooleanField(help_text="Whether one can be redone.")


class ActedSerializer(serializers.Serializer[Any]):
    """What an act made of a draft."""

    queue = serializers.CharField(allow_null=True, help_text="The queue that it was about, as it is called now.")
    draft = DraftDetailSerializer()


class DraftForecastSerializer(serializers.Serializer[Any]):
    """What publishing a draft would do."""

    forecast = OutlookSerializer(many=True, help_text="A row for each cluster that uses the hierarchy.")


class PublishSerializer(serializers.Serializer[Any]):
    """Why."""

    reason = serializers.CharField(max_length=limits.REVISION_REASON)
    allow_orphans = serializers.BooleanField(
        default=False, help_text="Publish it also where pods would belong to no queue by it; else that is refused."
    )


class PublishedSerializer(serializers.Serializer[Any]):
    """What came into force."""

    revision = serializers.IntegerField()


class TextsField(serializers.DictField):
    """Names and texts, both as a database takes them."""

    child = serializers.CharField(allow_blank=True)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """Read both."""
        read: dict[str, str] = super().to_internal_value(data)
        return {serializers.CharField().run_validation(name): text for name, text in read.items()}


class ActSerializer(serializers.Serializer[Any]):
    """An act that says nothing more: undo, redo, merge, approve."""

    act = serializers.CharField()


class EditActSerializer(ActSerializer):
    """Settings are set to what was typed, also when it can't be read."""

    queue = serializers.CharField(default="", allow_blank=True, help_text=f"{_QUEUE} Empty: what is beside the queues.")
    settings = TextsField(allow_empty=False, help_text="Setting to text; an empty text unsets it.")


class PlaceActSerializer(ActSerializer):
    """All placement rules."""

    rules = serializers.ListField(child=serializers.JSONField(), help_text="As a tree in our own form has them.")


class AddActSerializer(ActSerializer):
    """A queue below another."""

    below = serializers.CharField(help_text="Path of the queue above it.")
    name = serializers.CharField()


class RenameActSerializer(ActSerializer):
    """Another name for a queue."""

    queue = serializers.CharField(help_text=_QUEUE)
    name = serializers.CharField()


class MoveActSerializer(ActSerializer):
    """A queue, with all below it, below another: moved, or copied."""

    queue = serializers.CharField(help_text=_QUEUE)
    below = serializers.CharField(help_text="Path of the queue above it.")


class DeleteActSerializer(ActSerializer):
    """A queue, with all below it."""

    queue = serializers.CharField(help_text=_QUEUE)


class ChooseActSerializer(ActSerializer):
    """One of the two texts that a merge found."""

    queue = serializers.CharField(default="", allow_blank=True, help_text="As in `conflicts`.")
    setting = serializers.CharField(default="", allow_blank=True, help_text="As in `conflicts`.")
    side = serializers.ChoiceField(["mine", "theirs"])


BODIES: dict[str, type[ActSerializer]] = {
    "edit": EditActSerializer,
    "place": PlaceActSerializer,
    "add": AddActSerializer,
    "rename": RenameActSerializer,
    "move": MoveActSerializer,
    "copy": MoveActSerializer,
    "delete": DeleteActSerializer,
    "undo": ActSerializer,
    "redo": ActSerializer,
    "merge": ActSerializer,
    "choose": ChooseActSerializer,
    "approve": ActSerializer,
}
"""Act -> what its body holds."""
ANY_ACT = PolymorphicProxySerializer(
    component_name="DraftAct", serializers={**BODIES}, resource_type_field_name="act", many=False
)
