"""The shapes of drafts: what is told of them, and each act's body."""

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

from engine.model.notes import Severity
from scheduler_admin.core import limits
from scheduler_admin.queues.api.tree_serializers import ClusterForecastSerializer, TreeChangeSerializer
from scheduler_admin.queues.drafts.selectors import DraftState
from scheduler_admin.queues.drafts.summaries import DraftSummary
from scheduler_admin.rest.fields import UtcField

_QUEUE = "Path of the queue, as the draft has it now."
_SETTINGS = "Setting to text, as it was typed: max/cpu, delay, template/delay. What is not set is left out."


class NewDraftSerializer(serializers.Serializer[Any]):
    """A draft of the published revision."""

    name = serializers.CharField(max_length=limits.DRAFT_NAME, help_text="Name of the draft.")


class DraftSerializer(serializers.Serializer[DraftState]):
    """A queue tree that is being edited."""

    id = serializers.IntegerField(source="draft.pk", help_text="Number of the draft.")
    name = serializers.CharField(source="draft.name", help_text="Name of the draft.")
    version = serializers.IntegerField(
        source="draft.version", help_text="Version of the draft; increases with every action."
    )
    created_by = serializers.CharField(source="draft.author_name", help_text="Name of the user who created the draft.")
    created_at = UtcField(source="draft.created_at", help_text="Time when the draft was created.")
    changed_by = serializers.CharField(
        source="draft.changed_by", help_text="Name of the user who last changed the draft."
    )
    changed_at = UtcField(source="draft.changed_at", help_text="Time of the last change.")
    base_revision = serializers.IntegerField(
        source="draft.base.number", help_text="Number of the revision that the draft changes."
    )
    outdated = serializers.BooleanField(
        source="draft.outdated", help_text="True if a newer revision was published; merge it before you publish."
    )
    approved_by = serializers.SerializerMethodField(
        help_text="Name of the user who approved this version; null if not approved."
    )
    change_count = serializers.SerializerMethodField(
        help_text="Number of changed queues and of changed settings of the whole tree."
    )
    error_count = serializers.SerializerMethodField(help_text="Number of errors that prevent publishing.")

    def get_approved_by(self, state: DraftState | DraftSummary) -> str | None:
        """The name, while it holds."""
        return state.draft.approved_name if state.draft.approved else None

    def get_change_count(self, state: DraftState | DraftSummary) -> int:
        """Of what the reader sees."""
        return len(state.changes) + len(state.beside)

    def get_error_count(self, state: DraftState | DraftSummary) -> int:
        """Likewise."""
        return len(state.errors)


class DraftsSerializer(serializers.Serializer[Any]):
    """The open drafts, the most recently changed first."""

    results = DraftSerializer(many=True, help_text="Open drafts, the most recently changed first.")


class DraftQueueSerializer(serializers.Serializer[Any]):
    """A queue of a draft."""

    path = serializers.CharField(help_text="Path of the queue in the draft.")
    base_path = serializers.CharField(
        allow_null=True, help_text="Path of the queue in the base revision; null if the queue is new."
    )
    leaf = serializers.BooleanField(help_text="True if the queue is a leaf queue.")
    settings = serializers.DictField(
        child=serializers.CharField(),
        help_text="Settings as typed, such as `max/cpu` or `delay`; settings that are not set are missing.",
    )


class DraftFindingSerializer(serializers.Serializer[Any]):
    """An error, a warning or a note about a draft."""

    severity = serializers.ChoiceField([one.value for one in Severity], help_text="Severity of the finding.")
    queue = serializers.CharField(
        allow_blank=True, help_text="Path of the queue; empty for settings of the whole tree."
    )
    pointer = serializers.CharField(
        allow_blank=True, help_text="JSON pointer into the draft, such as `/queues/3/settings/delay`."
    )
    sentence = serializers.CharField(help_text="The finding in one sentence, in the language of the request.")
    remedy = serializers.CharField(allow_blank=True, help_text="How to fix it; empty if nothing needs to be done.")


class DraftConflictSerializer(serializers.Serializer[Any]):
    """A conflict that a merge left to resolve."""

    queue = serializers.CharField(
        allow_blank=True, help_text="Path of the queue in the base revision; empty for settings of the whole tree."
    )
    setting = serializers.CharField(allow_blank=True, help_text="Name of the setting; empty for the queue itself.")
    base = serializers.CharField(
        allow_blank=True, help_text="Value in the base revision; empty if not set or if the queue does not exist."
    )
    published = serializers.CharField(
        allow_blank=True, help_text="Value in the published tree; empty if not set or if the queue does not exist."
    )
    draft = serializers.CharField(
        allow_blank=True, help_text="Value in the draft; empty if not set or if the queue does not exist."
    )


class DraftDetailSerializer(DraftSerializer):
    """A draft with its queues, findings, changes and conflicts."""

    settings = serializers.DictField(
        child=serializers.CharField(),
        help_text="Settings of the whole tree as text, such as `policy` or `capacity/cpu`.",
    )
    placement = serializers.ListField(
        child=serializers.JSONField(),
        allow_null=True,
        help_text="Placement rules as typed; null if you cannot see the whole tree.",
    )
    queues = DraftQueueSerializer(many=True, help_text="Queues of the draft, parents before children.")
    findings = DraftFindingSerializer(many=True, help_text="Errors, warnings and notes about the draft.")
    changes = TreeChangeSerializer(many=True, help_text="Changes compared with the base revision.")
    conflicts = DraftConflictSerializer(many=True, help_text="Conflicts that a merge left to resolve.")
    undoable = serializers.BooleanField(help_text="True if your last action can be undone.")
    redoable = serializers.BooleanField(help_text="True if an undone action can be redone.")


class DraftActionResultSerializer(serializers.Serializer[Any]):
    """A draft after an action."""

    queue = serializers.CharField(
        allow_null=True,
        help_text="Current path of the queue that the action changed; null if the action concerns no queue.",
    )
    draft = DraftDetailSerializer(help_text="The draft after the action.")


class DraftForecastSerializer(serializers.Serializer[Any]):
    """The effect of publishing a draft."""

    forecasts = ClusterForecastSerializer(
        many=True, help_text="Forecasts, one for each cluster that uses the hierarchy."
    )


class PublishSerializer(serializers.Serializer[Any]):
    """A request to publish a tree."""

    reason = serializers.CharField(
        max_length=limits.REVISION_REASON, help_text="Reason for publishing, shown in the list of revisions."
    )
    allow_orphans = serializers.BooleanField(
        default=False, help_text="True to publish even if pods would belong to no queue."
    )


class PublishedRevisionSerializer(serializers.Serializer[Any]):
    """The revision that was published."""

    revision = serializers.IntegerField(help_text="Number of the published revision.")


class TextsField(serializers.DictField):
    """Names and texts, both as a database takes them."""

    child = serializers.CharField(allow_blank=True)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """Read both."""
        read: dict[str, str] = super().to_internal_value(data)
        return {serializers.CharField().run_validation(name): text for name, text in read.items()}


class SimpleActionSerializer(serializers.Serializer[Any]):
    """An action without further members: undo, redo, merge or approve."""

    action = serializers.CharField(help_text="Name of the action.")


class EditSettingsActionSerializer(SimpleActionSerializer):
    """Change settings. Texts that are not valid are stored too."""

    queue = serializers.CharField(
        default="", allow_blank=True, help_text="Path of the queue in the draft; empty for settings of the whole tree."
    )
    settings = TextsField(
        allow_empty=False, help_text="Settings to change, as text; an empty text removes the setting."
    )


class SetPlacementActionSerializer(SimpleActionSerializer):
    """Replace all placement rules."""

    placement = serializers.ListField(
        child=serializers.JSONField(), help_text="All placement rules, as in the JSON format of a tree."
    )


class AddQueueActionSerializer(SimpleActionSerializer):
    """Add a queue below another queue."""

    parent = serializers.CharField(  # type: ignore[assignment]  # DRF takes declared fields off the class
        help_text="Path of the parent queue in the draft."
    )
    name = serializers.CharField(help_text="Name of the new queue.")


class RenameQueueActionSerializer(SimpleActionSerializer):
    """Rename a queue."""

    queue = serializers.CharField(help_text="Path of the queue in the draft.")
    name = serializers.CharField(help_text="New name of the queue.")


class MoveQueueActionSerializer(SimpleActionSerializer):
    """Move or copy a queue with all queues below it."""

    queue = serializers.CharField(help_text="Path of the queue in the draft.")
    parent = serializers.CharField(  # type: ignore[assignment]  # as above
        help_text="Path of the new parent queue in the draft."
    )


class DeleteQueueActionSerializer(SimpleActionSerializer):
    """Delete a queue with all queues below it."""

    queue = serializers.CharField(help_text="Path of the queue in the draft; the queues below it are deleted too.")


class ResolveConflictActionSerializer(SimpleActionSerializer):
    """Resolve a conflict with one of the two values."""

    queue = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="Path of the queue, as in `conflicts`; empty for settings of the whole tree.",
    )
    setting = serializers.CharField(
        default="", allow_blank=True, help_text="Name of the setting, as in `conflicts`; empty for the queue itself."
    )
    side = serializers.ChoiceField(
        ["mine", "theirs"], help_text="Value to keep: that of the draft or that of the published tree."
    )


BODIES: dict[str, type[SimpleActionSerializer]] = {
    "edit": EditSettingsActionSerializer,
    "set-placement": SetPlacementActionSerializer,
    "add": AddQueueActionSerializer,
    "rename": RenameQueueActionSerializer,
    "move": MoveQueueActionSerializer,
    "copy": MoveQueueActionSerializer,
    "delete": DeleteQueueActionSerializer,
    "undo": SimpleActionSerializer,
    "redo": SimpleActionSerializer,
    "merge": SimpleActionSerializer,
    "resolve-conflict": ResolveConflictActionSerializer,
    "approve": SimpleActionSerializer,
}
"""Action -> what its body holds."""
ANY_ACTION = PolymorphicProxySerializer(
    component_name="DraftAction", serializers={**BODIES}, resource_type_field_name="action", many=False
)
