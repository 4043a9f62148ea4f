"""Version 1 of the REST API: the addresses of every app."""

from django.urls import URLPattern, URLResolver, path, re_path

from scheduler_admin.accounts.api import urls as accounts
from scheduler_admin.clusters.api import urls as clusters
from scheduler_admin.comparisons.api import urls as comparisons
from scheduler_admin.decisions.api import urls as decisions
from scheduler_admin.fences.api import urls as fences
from scheduler_admin.journal.api import urls as journal
from scheduler_admin.ledger.api import urls as ledger
from scheduler_admin.nodes.api import urls as nodes
from scheduler_admin.notifications.api import urls as notifications
from scheduler_admin.pending.api import urls as pending
from scheduler_admin.priority_classes.api import urls as priority_classes
from scheduler_admin.queues.api import urls as queues
from scheduler_admin.rest.base import NothingHere
from scheduler_admin.rest.openapi.document import SchemaView
from scheduler_admin.sync.api import urls as sync
from scheduler_admin.usage.api import urls as usage

app_name = "api"
urlpatterns: list[URLPattern | URLResolver] = [
    path("openapi.json", SchemaView.as_view(), name="openapi"),
    *accounts.urlpatterns,
    *clusters.urlpatterns,
    *comparisons.urlpatterns,
    *decisions.urlpatterns,
    *fences.urlpatterns,
    *journal.urlpatterns,
    *ledger.urlpatterns,
    *nodes.urlpatterns,
    *notifications.urlpatterns,
    *pending.urlpatterns,
    *priority_classes.urlpatterns,
    *queues.urlpatterns,
    *sync.urlpatterns,
    *usage.urlpatterns,
    # Not <path:rest>: a line may end within an address.
    re_path(r"^(?P<rest>[\s\S]*)\Z", NothingHere.as_view(), name="nothing"),
]
