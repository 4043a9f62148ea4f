"""Tags about the state of a cluster: what keeps evictions back, what is wrong, and how to pause it."""

from django import template
from django.utils import timezone

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
def pause_form() -> PauseForm:
    """Return an empty form that pauses a cluster."""
    return PauseForm()
