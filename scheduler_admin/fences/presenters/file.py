"""The map of fences as a file that needs nothing else."""

from datetime import datetime

from django.http import Http404, QueryDict
from django.template.loader import render_to_string

from scheduler_admin.accounts.scopes import Who
from scheduler_admin.clusters.models import Cluster
from scheduler_admin.fences.drawing.standalone import STANDALONE_POLICY, sheet, style
from scheduler_admin.fences.presenters.map import fences_page

MEDIA_TYPE = "image/svg+xml"


def svg(user: Who, cluster: Cluster, query: QueryDict, now: datetime) -> str:
    """What a person may see of it, as the page's address asks for. Raises Http404 where there is nothing to draw."""
    shown = fences_page(user, cluster, query, now)
    if shown.picture is None:
        raise Http404
    given = {"cluster": cluster, "shown": shown, "sheet": sheet(shown.picture, shown.key, now), "style": style()}
    return render_to_string("fences/fences.svg", given)


def headers(cluster: Cluster) -> dict[str, str]:
    """What goes with the file."""
    return {
        "Content-Disposition": f'attachment; filename="{cluster.name}-fences.svg"',
        "Content-Security-Policy": STANDALONE_POLICY,
        "Cache-Control": "private, no-store",
    }
