"""One's own filters of a cluster's history, by the names that one gave them."""

from typing import Any
from urllib.parse import parse_qsl

from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator
from django.utils import timezone
from rest_framework import serializers

from scheduler_admin.core import limits
from scheduler_admin.decisions.models import SavedFilter
from scheduler_admin.decisions.selectors.history_filters import Filters
from scheduler_admin.decisions.services.saved_filters import save_filter
from scheduler_admin.rest.viewsets import Created, Destroyed, InCluster, Listed


class SavedFilterSerializer(serializers.ModelSerializer[SavedFilter]):
    """Filters by a name."""

    class Meta:
        model = SavedFilter
        fields = ["id", "name", "address"]
        read_only_fields = fields
        extra_kwargs = {"address": {"help_text": "What stands after the `?` of History: queue=root.a&range=7d."}}


class NewSavedFilterSerializer(serializers.Serializer[Any]):
    """Which filters, and what they are to be called."""

    name = serializers.CharField(max_length=limits.FILTER_NAME)
    address = serializers.CharField(
        max_length=limits.FILTER_ADDRESS,
        help_text="As History has it. What it does not know is left out, and so are defaults.",
    )


class SavedFiltersSerializer(serializers.Serializer[Any]):
    """All that one kept of a cluster, by name."""

    results = SavedFilterSerializer(many=True)


class SavedFilterViewSet(Listed, Created, Destroyed, InCluster):
    """Your own, whatever your role: nobody sees another's."""

    actions = {"GET": "view", "POST": "view", "DELETE": "view"}
    staff_only = True
    tag = "decisions"
    resource = "saved_filter", "saved_filters"
    operations = {"create": "save_filter"}
    queryset = SavedFilter.objects.all()
    serializer_class = SavedFilterSerializer
    list_class = SavedFiltersSerializer
    body_class = NewSavedFilterSerializer

    def make(self, given: dict[str, Any]) -> SavedFilter:
        """Keep some for yourself: they stand on the page History from then on."""
        asked = dict(parse_qsl(given["address"]))
        if any("\0" in text for text in asked.values()):
            raise ValidationError({"address": ProhibitNullCharactersValidator.message})
        filters = Filters.of(asked, timezone.now())
        return save_filter(owner=self.user, cluster=self.named_cluster, name=given["name"], filters=filters)

    def remove(self, row: SavedFilter) -> None:
        """Forget them."""
        row.delete()
