"""The addresses of queues in the REST API."""

from django.urls import URLPattern, URLResolver, path, re_path

from scheduler_admin.queues.api import hierarchies, lint, queues, revisions, trees
from scheduler_admin.queues.api.drafts import imports, views
from scheduler_admin.rest.viewsets import router

ROWS = router()
ROWS.register("hierarchies", hierarchies.HierarchyViewSet, basename="hierarchy")
ROWS.register("hierarchies/<slug:name>/drafts", views.DraftViewSet, basename="draft")
ROWS.register("hierarchies/<slug:name>/revisions", hierarchies.RevisionViewSet, basename="revision")
urlpatterns: list[URLPattern | URLResolver] = [
    *ROWS.urls,
    path("clusters/<slug:name>/queues", queues.QueuesView.as_view(), name="queues"),
    re_path(
        r"^clusters/(?P<name>[-\w]+)/queues/(?P<path>[^/\s\x00]+)\Z", queues.QueueDetailView.as_view(), name="queue"
    ),
    path("hierarchies/<slug:name>/lint", lint.TreeLintView.as_view(), name="tree_lint"),
    path("hierarchies/<slug:name>/tree", trees.TreeView.as_view(), name="tree"),
    path("hierarchies/<slug:name>/drafts/import", imports.DraftImportView.as_view(), name="draft_import"),
    path("hierarchies/<slug:name>/drafts/<int:pk>/actions", views.DraftActionsView.as_view(), name="draft_actions"),
    path("hierarchies/<slug:name>/drafts/<int:pk>/forecast", views.DraftForecastView.as_view(), name="draft_forecast"),
    path("hierarchies/<slug:name>/drafts/<int:pk>/publish", views.DraftPublishView.as_view(), name="draft_publish"),
    path(
        "hierarchies/<slug:name>/revisions/<int:number>/diff",
        revisions.RevisionDiffView.as_view(),
        name="revision_diff",
    ),
    path(
        "hierarchies/<slug:name>/revisions/<int:number>/roll-back", revisions.RollBackView.as_view(), name="roll_back"
    ),
    path("hierarchies/<slug:name>/revisions/<int:number>/restore", revisions.RestoreView.as_view(), name="restore"),
    path("lint", lint.LintView.as_view(), name="lint"),
]
