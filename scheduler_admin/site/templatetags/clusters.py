"""Tags about the state of a cluster: what keeps evictions back, what is wrong, and how to pause it."""

from functools import cache

from django import template
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from scheduler_admin.clusters.forms.pauses import PauseForm
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.clusters.pages import troubles as found
from scheduler_admin.clusters.pages.holds import HoldNotice, hold_notices

register = template.Library()


@register.simple_tag(takes_context=True)
def holds(context: template.Context, cluster: Cluster) -> list[HoldNotice]:
    """What keeps evictions back in a cluster now, as far as the reader may know it."""
    return hold_notices(cluster, context["request"].user)


@register.simple_tag(takes_context=True)
def troubles(context: template.Context, cluster: Cluster) -> list[found.Trouble]:
    """What is wrong with a cluster now, as far as the reader may know it, the worst first."""
    return found.troubles(cluster, context["request"].user, timezone.now())


@register.simple_tag
def pause_fields() -> SafeString:
    """Return the fields of an empty form that pauses a cluster, which every page of a cluster has."""
    return _pause_fields(get_language())


@cache
def _pause_fields(_language: str | None) -> SafeString:
    """Draw the fields in the language of the request, once in a process: Django draws each out of four templates."""
    return render_to_string("clusters/_pause_fields.html", {"form": PauseForm()})
