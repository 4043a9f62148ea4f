"""Every page."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, path
from django.views.i18n import set_language

from scheduler_admin.web.views import (
    clusters,
    connecting,
    connection,
    decision,
    demo,
    draft_acts,
    drafts,
    fences,
    history,
    pods,
    priority_classes,
    queues,
    revisions,
    settings,
    shell,
)

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", shell.home, name="home"),
    path("sign-in/", shell.SignIn.as_view(), name="login"),
    path("sign-out/", LogoutView.as_view(), name="logout"),
    path("language/", set_language, name="language"),
    path("clusters/", clusters.clusters, name="clusters"),
    path("clusters/connect/", connecting.connecting, name="connect"),
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
    path("clusters/<slug:name>/editor/", drafts.editor, name="editor"),
    path("clusters/<slug:name>/editor/start/", draft_acts.start, name="draft_start"),
    path("clusters/<slug:name>/drafts/<int:pk>/", drafts.draft, name="draft"),
    path("clusters/<slug:name>/drafts/<int:pk>/news/", drafts.draft_news, name="draft_news"),
    path("clusters/<slug:name>/drafts/<int:pk>/forecast/", drafts.draft_forecast, name="draft_forecast"),
    path("clusters/<slug:name>/drafts/<int:pk>/edit/", draft_acts.edit, name="draft_edit"),
    path("clusters/<slug:name>/drafts/<int:pk>/add/", draft_acts.add, name="draft_add"),
    path("clusters/<slug:name>/drafts/<int:pk>/rename/", draft_acts.rename, name="draft_rename"),
    path("clusters/<slug:name>/drafts/<int:pk>/move/", draft_acts.move, name="draft_move"),
    path("clusters/<slug:name>/drafts/<int:pk>/delete/", draft_acts.delete, name="draft_delete"),
    path("clusters/<slug:name>/drafts/<int:pk>/merge/", draft_acts.merge, name="draft_merge"),
    path("clusters/<slug:name>/drafts/<int:pk>/choose/", draft_acts.choose, name="draft_choose"),
    path("clusters/<slug:name>/drafts/<int:pk>/publish/", draft_acts.publish, name="draft_publish"),
    path("clusters/<slug:name>/drafts/<int:pk>/discard/", draft_acts.discard, name="draft_discard"),
    path("clusters/<slug:name>/revisions/", revisions.revisions, name="revisions"),
    path("clusters/<slug:name>/revisions/<int:number>/", revisions.revision, name="revision"),
    path(
        "clusters/<slug:name>/revisions/<int:number>/forecast/", revisions.revision_forecast, name="revision_forecast"
    ),
    path("clusters/<slug:name>/revisions/<int:number>/tree.json", revisions.as_json, name="revision_json"),
    path("clusters/<slug:name>/revisions/<int:number>/queues.yaml", revisions.as_yaml, name="revision_yaml"),
    path("clusters/<slug:name>/revisions/<int:number>/back/", revisions.revision_back, name="revision_back"),
    path("clusters/<slug:name>/demo/surge/", demo.surge, name="demo_surge"),
    path("clusters/<slug:name>/demo/speed/", demo.speed, name="demo_speed"),
    path("clusters/<slug:name>/demo/reset/", demo.reset, name="demo_reset"),
    path("clusters/<slug:name>/fences/", fences.fences, name="fences"),
    path("clusters/<slug:name>/fences.svg", fences.as_svg, name="fences_svg"),
    path("clusters/<slug:name>/history/", history.history, name="history"),
    path("clusters/<slug:name>/history.csv", history.as_csv, name="history_csv"),
    path("clusters/<slug:name>/history.json", history.as_json, name="history_json"),
    path("clusters/<slug:name>/decisions/<int:pk>/", decision.decision, name="decision"),
    path("pods/", pods.pods, name="pods"),
    path("pods/<slug:name>/<str:namespace>/<str:pod>/", pods.pod, name="pod"),
    path("pods/<slug:name>/<str:namespace>/<str:pod>/waiting/", pods.waiting, name="pod_waiting"),
]
