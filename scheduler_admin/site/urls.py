"""Every page."""

from django.urls import URLPattern, URLResolver, path
from django.views.i18n import set_language

from scheduler_admin.accounts.pages import oidc, site_settings
from scheduler_admin.clusters.pages import clusters, connect, connection, settings
from scheduler_admin.comparisons.pages import views
from scheduler_admin.decisions.pages import decision, history, pods, saved_filters
from scheduler_admin.demo import pages as demo
from scheduler_admin.fences.pages import views as fences
from scheduler_admin.journal.pages import snapshots
from scheduler_admin.ledger.pages import ledger, repeat_victims
from scheduler_admin.nodes.pages import views as nodes
from scheduler_admin.notifications import pages as notifications
from scheduler_admin.priority_classes.pages import views as priority_classes
from scheduler_admin.queues.pages.drafts import acts
from scheduler_admin.queues.pages.drafts import views as drafts
from scheduler_admin.queues.pages.revisions import import_views
from scheduler_admin.queues.pages.revisions import views as revisions
from scheduler_admin.queues.pages.tree import views as queues
from scheduler_admin.site.pages import shell
from scheduler_admin.sync.pages import views as pages

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", shell.home, name="home"),
    path("sign-in/", shell.SignIn.as_view(), name="login"),
    path("sign-out/", shell.SignOut.as_view(), name="logout"),
    path("sign-in/elsewhere/", oidc.Begin.as_view(), name="oidc"),
    path("sign-in/elsewhere/back/", oidc.Back.as_view(), name="oidc_callback"),
    path("site/", site_settings.site, name="site"),
    path("notifications/", notifications.notifications, name="notifications"),
    path("notifications/<int:pk>/", notifications.channel, name="notification_channel"),
    path("language/", set_language, name="language"),
    path("docs/api/", shell.api_docs, name="api_docs"),
    path("clusters/", clusters.clusters, name="clusters"),
    path("clusters/connect/", connect.connecting, name="connect"),
    path("clusters/<slug:name>/connection/", connection.connection, name="connection"),
    path("clusters/<slug:name>/pause/", clusters.pause, name="cluster_pause"),
    path("clusters/<slug:name>/settings/", settings.settings, name="settings"),
    path("clusters/<slug:name>/priority-classes/", priority_classes.priority_classes, name="priority_classes"),
    path(
        "clusters/<slug:name>/priority-classes/<str:priority_class>/",
        priority_classes.priority_class,
        name="priority_class",
    ),
    path("clusters/<slug:name>/queues/", queues.tree, name="queues"),
    path("clusters/<slug:name>/queues/<str:path>/", queues.queue, name="queue"),
    path("clusters/<slug:name>/queues/<str:path>/usage.json", queues.usage, name="queue_usage"),
    path("clusters/<slug:name>/nodes/", nodes.nodes, name="nodes"),
    path("clusters/<slug:name>/nodes/<str:node>/", nodes.node, name="node"),
    path("clusters/<slug:name>/application/", nodes.application, name="application"),
    path("clusters/<slug:name>/editor/", drafts.editor, name="editor"),
    path("clusters/<slug:name>/import/", import_views.importing, name="import"),
    path("clusters/<slug:name>/editor/start/", acts.start, name="draft_start"),
    path("clusters/<slug:name>/drafts/<int:pk>/", drafts.draft, name="draft"),
    path("clusters/<slug:name>/drafts/<int:pk>/news/", drafts.draft_news, name="draft_news"),
    path("clusters/<slug:name>/drafts/<int:pk>/forecast/", drafts.draft_forecast, name="draft_forecast"),
    path("clusters/<slug:name>/drafts/<int:pk>/edit/", acts.edit, name="draft_edit"),
    path("clusters/<slug:name>/drafts/<int:pk>/add/", acts.add, name="draft_add"),
    path("clusters/<slug:name>/drafts/<int:pk>/rename/", acts.rename, name="draft_rename"),
    path("clusters/<slug:name>/drafts/<int:pk>/move/", acts.move, name="draft_move"),
    path("clusters/<slug:name>/drafts/<int:pk>/copy/", acts.copy, name="draft_copy"),
    path("clusters/<slug:name>/drafts/<int:pk>/delete/", acts.delete, name="draft_delete"),
    path("clusters/<slug:name>/drafts/<int:pk>/undo/", acts.undo, name="draft_undo"),
    path("clusters/<slug:name>/drafts/<int:pk>/redo/", acts.redo, name="draft_redo"),
    path("clusters/<slug:name>/drafts/<int:pk>/rules/", acts.rules, name="draft_rules"),
    path("clusters/<slug:name>/drafts/<int:pk>/merge/", acts.merge, name="draft_merge"),
    path("clusters/<slug:name>/drafts/<int:pk>/choose/", acts.choose, name="draft_choose"),
    path("clusters/<slug:name>/drafts/<int:pk>/publish/", acts.publish, name="draft_publish"),
    path("clusters/<slug:name>/drafts/<int:pk>/approve/", acts.approve, name="draft_approve"),
    path("clusters/<slug:name>/drafts/<int:pk>/discard/", acts.discard, name="draft_discard"),
    path("clusters/<slug:name>/compare/", views.compare, name="compare"),
    path("clusters/<slug:name>/compare/<int:pk>/", views.comparison, name="comparison"),
    path("clusters/<slug:name>/compare/<int:pk>/stop/", views.stop, name="comparison_stop"),
    path("clusters/<slug:name>/compare/<int:pk>/plot.json", views.plot, name="comparison_plot"),
    path("clusters/<slug:name>/compare/<int:pk>/figures.csv", views.as_csv, name="comparison_csv"),
    path("clusters/<slug:name>/compare/<int:pk>/figures.json", views.as_json, name="comparison_json"),
    path("clusters/<slug:name>/revisions/", revisions.revisions, name="revisions"),
    path("clusters/<slug:name>/revisions/<int:number>/", revisions.revision, name="revision"),
    path(
        "clusters/<slug:name>/revisions/<int:number>/forecast/", revisions.revision_forecast, name="revision_forecast"
    ),
    path("clusters/<slug:name>/revisions/<int:number>/tree.json", revisions.as_json, name="revision_json"),
    path("clusters/<slug:name>/revisions/<int:number>/queues.yaml", revisions.as_yaml, name="revision_yaml"),
    path("clusters/<slug:name>/revisions/<int:number>/export/", revisions.export, name="revision_export"),
    path("clusters/<slug:name>/revisions/<int:number>/export/<slug:form>.yaml", revisions.exported, name="exported"),
    path("clusters/<slug:name>/revisions/<int:number>/back/", revisions.revision_back, name="revision_back"),
    path("clusters/<slug:name>/revisions/<int:number>/restore/", revisions.revision_restore, name="revision_restore"),
    path("clusters/<slug:name>/copy/", pages.copies, name="copies"),
    path("clusters/<slug:name>/snapshots/", snapshots.snapshots, name="snapshots"),
    path("clusters/<slug:name>/snapshots/<int:pk>/", snapshots.snapshot, name="snapshot"),
    path("clusters/<slug:name>/snapshots/<int:pk>/forecast/", snapshots.snapshot_forecast, name="snapshot_forecast"),
    path("clusters/<slug:name>/snapshots/<int:pk>/snapshot.zip", snapshots.snapshot_file, name="snapshot_file"),
    path("clusters/<slug:name>/snapshots/<int:pk>/delete/", snapshots.snapshot_delete, name="snapshot_delete"),
    path("clusters/<slug:name>/demo/surge/", demo.surge, name="demo_surge"),
    path("clusters/<slug:name>/demo/speed/", demo.speed, name="demo_speed"),
    path("clusters/<slug:name>/demo/reset/", demo.reset, name="demo_reset"),
    path("clusters/<slug:name>/fences/", fences.fences, name="fences"),
    path("clusters/<slug:name>/fences.svg", fences.as_svg, name="fences_svg"),
    path("clusters/<slug:name>/history/", history.history, name="history"),
    path("clusters/<slug:name>/history/saved/", saved_filters.saved_filters, name="saved_filters"),
    path("clusters/<slug:name>/history/saved/<int:pk>/", saved_filters.saved_filter, name="saved_filter"),
    path("clusters/<slug:name>/history/repeats/", repeat_victims.repeats, name="repeats"),
    path("clusters/<slug:name>/history.csv", history.as_csv, name="history_csv"),
    path("clusters/<slug:name>/history.json", history.as_json, name="history_json"),
    path("clusters/<slug:name>/decisions/<int:pk>/", decision.decision, name="decision"),
    path("clusters/<slug:name>/decisions/<int:pk>/replay.zip", decision.replay, name="decision_replay"),
    path("ledger/", ledger.ledger, name="ledger"),
    path("ledger.csv", ledger.as_csv, name="ledger_csv"),
    path("ledger.json", ledger.as_json, name="ledger_json"),
    path("pods/", pods.pods, name="pods"),
    path("pods/<slug:name>/<str:namespace>/<str:pod>/", pods.pod, name="pod"),
    path("workloads/<slug:name>/<str:namespace>/<str:workload>/", pods.workload, name="workload"),
    path("pods/<slug:name>/<str:namespace>/<str:pod>/waiting/", pods.waiting, name="pod_waiting"),
]
