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
from scheduler_admin.decisions.services.saved_filters import change_filter, save_filter
from scheduler_admin.rest.viewsets import AsRead, Changed, Created, Destroyed, InCluster, Listed


class SavedFilterSerializer(serializers.ModelSerializer[SavedFilter]):
    """A saved filter of the history."""

    class Meta:
        model = SavedFilter
        fields = ["id", "name", "query"]
        read_only_fields = fields
        extra_kwargs = {
            "id": {"help_text": "Number of the filter."},
            "name": {"help_text": "Name of the filter."},
            "query": {
                "source": "address",
                "help_text": "Query string of the page History, such as `queue=root.a&range=7d`.",
            },
        }


class NewSavedFilterSerializer(serializers.Serializer[Any]):
    """A filter to save."""

    name = serializers.CharField(max_length=limits.FILTER_NAME, help_text="Name of the filter.")
    query = serializers.CharField(
        source="address",
        max_length=limits.FILTER_ADDRESS,
        help_text="Query string of the page History, such as `queue=root.a&range=7d`.",
    )


class SavedFiltersSerializer(serializers.Serializer[Any]):
    """Your saved filters of a cluster, by name."""

    results = SavedFilterSerializer(many=True, help_text="Your saved filters for the cluster, by name.")


class SavedFilterViewSet(AsRead, Listed, Created, Changed, Destroyed, InCluster):
    """Your saved filters of a cluster, by name. Other users do not see them."""

    actions = {"GET": "view", "POST": "view", "PATCH": "view", "DELETE": "view"}
    deletes_unread = True
    staff_only = True
    tag = "decisions"
    resource = "saved_filter", "saved_filters"
    queryset = SavedFilter.objects.all()
    serializer_class = SavedFilterSerializer
    list_class = SavedFiltersSerializer
    body_class = NewSavedFilterSerializer

    def make(self, given: dict[str, Any]) -> SavedFilter:
        """Save a filter for yourself; it is shown on the page History."""
        filters = _filters(given["address"])
        return save_filter(owner=self.user, cluster=self.named_cluster, name=given["name"], filters=filters)

    def change(self, row: SavedFilter, given: dict[str, Any]) -> SavedFilter:
        """Change the name or the query."""
        filters = _filters(given["address"]) if "address" in given else None
        return change_filter(saved=row, name=given.get("name", row.name), filters=filters)

    def remove(self, row: SavedFilter) -> None:
        """Delete the filter."""
        row.delete()


def _filters(query: str) -> Filters:
    """Return the filters that a query string stands for. Raises ValidationError."""
    asked = dict(parse_qsl(query))
    if any("\0" in text for text in asked.values()):
        raise ValidationError({"address": ProhibitNullCharactersValidator.message})
    return Filters.of(asked, timezone.now())
