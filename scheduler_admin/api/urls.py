"""Version 1 of the REST API."""

from django.urls import URLPattern, URLResolver, path, re_path

from scheduler_admin.api import (
    channels,
    comparisons,
    connections,
    drafts,
    hierarchies,
    ledger,
    limits,
    lint,
    otherwise,
    pods,
    priority_classes,
    repeats,
    revisions,
    site,
    stops,
    trees,
    views,
    waiting,
)
from scheduler_admin.api.base import NothingHere
from scheduler_admin.api.schema import SchemaView

app_name = "api"
urlpatterns: list[URLPattern | URLResolver] = [
    path("openapi.json", SchemaView.as_view(), name="openapi"),
    path("clusters", views.ClustersView.as_view(), name="clusters"),
    path("clusters/<slug:name>", views.ClusterView.as_view(), name="cluster"),
    path("clusters/<slug:name>/check", connections.CheckView.as_view(), name="check"),
    path("clusters/<slug:name>/comparisons", comparisons.ComparisonsView.as_view(), name="comparisons"),
    path("clusters/<slug:name>/comparisons/<int:pk>", comparisons.ComparisonView.as_view(), name="comparison"),
    path(
        "clusters/<slug:name>/comparisons/<int:pk>/stop",
        comparisons.ComparisonStopView.as_view(),
        name="comparison_stop",
    ),
    path("clusters/<slug:name>/credentials", connections.CredentialsView.as_view(), name="credentials"),
    path(
        "clusters/<slug:name>/priority-classes",
        priority_classes.PriorityClassesView.as_view(),
        name="priority_classes",
    ),
    re_path(
        r"^clusters/(?P<name>[-\w]+)/priority-classes/(?P<priority_class>[^/\s\x00]+)$",
        priority_classes.PriorityClassView.as_view(),
        name="priority_class",
    ),
    path("clusters/<slug:name>/queues", views.QueuesView.as_view(), name="queues"),
    # Not <str:path>: a NUL in an address must be a 404 here, not an error of the database.
    re_path(r"^clusters/(?P<name>[-\w]+)/queues/(?P<path>[^/\s\x00]+)$", views.QueueDetailView.as_view(), name="queue"),
    path("clusters/<slug:name>/settings", limits.ClusterSettingsView.as_view(), name="settings"),
    path("clusters/<slug:name>/usage", views.UsageView.as_view(), name="usage"),
    path("clusters/<slug:name>/decisions", views.DecisionsView.as_view(), name="decisions"),
    path("clusters/<slug:name>/repeat-victims", repeats.RepeatsView.as_view(), name="repeats"),
    re_path(
        r"^clusters/(?P<name>[-\w]+)/pods/(?P<namespace>[^/\s\x00]+)/(?P<pod>[^/\s\x00]+)$",
        pods.PodView.as_view(),
        name="pod",
    ),
    path("hierarchies", hierarchies.HierarchiesView.as_view(), name="hierarchies"),
    path("hierarchies/<slug:name>", hierarchies.HierarchyView.as_view(), name="hierarchy"),
    path("hierarchies/<slug:name>/lint", lint.TreeLintView.as_view(), name="tree_lint"),
    path("hierarchies/<slug:name>/tree", trees.TreeView.as_view(), name="tree"),
    path("hierarchies/<slug:name>/drafts", drafts.DraftsView.as_view(), name="drafts"),
    path("hierarchies/<slug:name>/drafts/<int:pk>", drafts.DraftView.as_view(), name="draft"),
    path("hierarchies/<slug:name>/drafts/<int:pk>/acts", drafts.DraftActsView.as_view(), name="draft_acts"),
    path("hierarchies/<slug:name>/drafts/<int:pk>/forecast", drafts.DraftForecastView.as_view(), name="draft_forecast"),
    path("hierarchies/<slug:name>/drafts/<int:pk>/publish", drafts.DraftPublishView.as_view(), name="draft_publish"),
    path("hierarchies/<slug:name>/revisions", hierarchies.RevisionsView.as_view(), name="revisions"),
    path("hierarchies/<slug:name>/revisions/<int:number>", hierarchies.RevisionView.as_view(), name="revision"),
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
    path("ledger", ledger.LedgerView.as_view(), name="ledger"),
    path("site", site.SiteView.as_view(), name="site"),
    path("group-mappings", site.MappingsView.as_view(), name="mappings"),
    path("group-mappings/<int:pk>", site.MappingView.as_view(), name="mapping"),
    path("notification-channels", channels.ChannelsView.as_view(), name="channels"),
    path("notification-channels/<int:pk>", channels.ChannelView.as_view(), name="channel"),
    path("notification-channels/<int:pk>/notifications", channels.LatestView.as_view(), name="channel_latest"),
    path("pauses", stops.PausesView.as_view(), name="pauses"),
    path("pauses/<int:pk>", stops.PauseView.as_view(), name="pause"),
    path("windows", stops.WindowsView.as_view(), name="windows"),
    path("windows/<int:pk>", stops.WindowView.as_view(), name="window"),
    path("decisions/<int:pk>", views.DecisionDetailView.as_view(), name="decision"),
    path("decisions/<int:pk>/otherwise", otherwise.OtherwiseView.as_view(), name="otherwise"),
    path("decisions/<int:pk>/waiting", waiting.WaitingView.as_view(), name="waiting"),
    re_path(r"^(?P<rest>.*)$", NothingHere.as_view(), name="nothing"),
]
