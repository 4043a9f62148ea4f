"""Every page: the addresses of every app."""

from django.urls import URLPattern, URLResolver, path
from django.views.i18n import set_language

from scheduler_admin.accounts import urls as accounts
from scheduler_admin.clusters import urls as clusters
from scheduler_admin.comparisons import urls as comparisons
from scheduler_admin.decisions import urls as decisions
from scheduler_admin.demo import urls as demo
from scheduler_admin.fences import urls as fences
from scheduler_admin.journal import urls as journal
from scheduler_admin.ledger import urls as ledger
from scheduler_admin.nodes import urls as nodes
from scheduler_admin.notifications import urls as notifications
from scheduler_admin.priority_classes import urls as priority_classes
from scheduler_admin.queues import urls as queues
from scheduler_admin.site.pages import shell
from scheduler_admin.sync import urls as sync

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", shell.home, name="home"),
    path("language/", set_language, name="language"),
    path("find/", shell.find, name="find"),
    path("about/", shell.about, name="about"),
    path("about/close/", shell.close_introduction, name="close_introduction"),
    path("docs/api/", shell.api_docs, name="api_docs"),
    path("docs/glossary/", shell.glossary, name="glossary"),
    *accounts.urlpatterns,
    *clusters.urlpatterns,
    *comparisons.urlpatterns,
    *decisions.urlpatterns,
    *demo.urlpatterns,
    *fences.urlpatterns,
    *journal.urlpatterns,
    *ledger.urlpatterns,
    *nodes.urlpatterns,
    *notifications.urlpatterns,
    *priority_classes.urlpatterns,
    *queues.urlpatterns,
    *sync.urlpatterns,
]
