"""Version 1 of the REST API."""

from django.urls import URLPattern, URLResolver, path, re_path

from scheduler_admin.accounts.api import accounts, site_settings, tokens
from scheduler_admin.clusters.api import cluster, clusters, connections, quota, settings, stops
from scheduler_admin.comparisons import api as comparisons
from scheduler_admin.decisions.api import changes, decisions, events, pods, replays, saved_filters, victims
from scheduler_admin.fences.api import drawing, fences
from scheduler_admin.journal.api import passes, snapshots
from scheduler_admin.ledger.api import ledger, repeat_victims
from scheduler_admin.nodes import api as nodes
from scheduler_admin.notifications import api
from scheduler_admin.pending.api import asks, reasons, workloads
from scheduler_admin.priority_classes.api import views as priority_classes
from scheduler_admin.queues.api import hierarchies, lint, queues, revisions, trees
from scheduler_admin.queues.api.drafts import imports, views
from scheduler_admin.rest.base import NothingHere
from scheduler_admin.rest.schema import SchemaView
from scheduler_admin.sync import api as copies
from scheduler_admin.usage.api import views as usage_view

app_name = "api"
urlpatterns: list[URLPattern | URLResolver] = [
    path("openapi.json", SchemaView.as_view(), name="openapi"),
    path("clusters", clusters.ClustersView.as_view(), name="clusters"),
    path("clusters/<slug:name>", cluster.ClusterView.as_view(), name="cluster"),
    path("clusters/<slug:name>/asks", asks.AsksView.as_view(), name="asks"),
    path("clusters/<slug:name>/check", connections.CheckView.as_view(), name="check"),
    path("clusters/<slug:name>/comparisons", comparisons.ComparisonsView.as_view(), name="comparisons"),
    path("clusters/<slug:name>/comparisons/<int:pk>", comparisons.ComparisonView.as_view(), name="comparison"),
    path(
        "clusters/<slug:name>/comparisons/<int:pk>/stop",
        comparisons.ComparisonStopView.as_view(),
        name="comparison_stop",
    ),
    path("clusters/<slug:name>/copy", copies.CopyView.as_view(), name="copy"),
    path("clusters/<slug:name>/copy/acts", copies.CopyActsView.as_view(), name="copy_acts"),
    path("clusters/<slug:name>/credentials", connections.CredentialsView.as_view(), name="credentials"),
    path("clusters/<slug:name>/fences", fences.FencesView.as_view(), name="fences"),
    path("clusters/<slug:name>/fences.svg", drawing.FencesFileView.as_view(), name="fences_file"),
    path(
        "clusters/<slug:name>/priority-classes",
        priority_classes.PriorityClassesView.as_view(),
        name="priority_classes",
    ),
    re_path(
        r"^clusters/(?P<name>[-\w]+)/priority-classes/(?P<priority_class>[^/\s\x00]+)\Z",
        priority_classes.PriorityClassView.as_view(),
        name="priority_class",
    ),
    path("clusters/<slug:name>/quota", quota.QuotaView.as_view(), name="quota"),
    path("clusters/<slug:name>/queues", queues.QueuesView.as_view(), name="queues"),
    # Not <str:path>: a NUL in an address must be a 404 here, not an error of the database.
    re_path(
        r"^clusters/(?P<name>[-\w]+)/queues/(?P<path>[^/\s\x00]+)\Z", queues.QueueDetailView.as_view(), name="queue"
    ),
    path("clusters/<slug:name>/saved-filters", saved_filters.SavedFiltersView.as_view(), name="saved_filters"),
    path("clusters/<slug:name>/saved-filters/<int:pk>", saved_filters.SavedFilterView.as_view(), name="saved_filter"),
    path("clusters/<slug:name>/settings", settings.ClusterSettingsView.as_view(), name="settings"),
    path("clusters/<slug:name>/snapshots", snapshots.SnapshotsView.as_view(), name="snapshots"),
    path("clusters/<slug:name>/snapshots/upload", snapshots.SnapshotUploadView.as_view(), name="snapshot_upload"),
    path("clusters/<slug:name>/snapshots/<int:pk>", snapshots.SnapshotView.as_view(), name="snapshot"),
    path("clusters/<slug:name>/snapshots/<int:pk>/file", snapshots.SnapshotFileView.as_view(), name="snapshot_file"),
    path(
        "clusters/<slug:name>/snapshots/<int:pk>/forecast",
        snapshots.SnapshotForecastView.as_view(),
        name="snapshot_forecast",
    ),
    path("clusters/<slug:name>/nodes", nodes.NodesView.as_view(), name="nodes"),
    re_path(r"^clusters/(?P<name>[-\w]+)/nodes/(?P<node>[^/\s\x00]+)\Z", nodes.NodeView.as_view(), name="node"),
    path("clusters/<slug:name>/pending-workloads", workloads.PendingWorkloadsView.as_view(), name="pending_workloads"),
    path(
        "clusters/<slug:name>/pending-workloads/<str:namespace>/<str:workload>/waiting",
        reasons.WorkloadWaitingView.as_view(),
        name="workload_waiting",
    ),
    path("clusters/<slug:name>/pods", nodes.ListedPodsView.as_view(), name="application_pods"),
    path("clusters/<slug:name>/usage", usage_view.UsageView.as_view(), name="usage"),
    path("clusters/<slug:name>/decisions", decisions.DecisionsView.as_view(), name="decisions"),
    path("clusters/<slug:name>/passes", passes.PassesView.as_view(), name="passes"),
    path("clusters/<slug:name>/passes/<int:pk>", passes.PassView.as_view(), name="pass"),
    path("clusters/<slug:name>/repeat-victims", repeat_victims.RepeatsView.as_view(), name="repeats"),
    re_path(
        r"^clusters/(?P<name>[-\w]+)/pods/(?P<namespace>[^/\s\x00]+)/(?P<pod>[^/\s\x00]+)\Z",
        pods.PodView.as_view(),
        name="pod",
    ),
    path("events", events.EventsView.as_view(), name="events"),
    path("hierarchies", hierarchies.HierarchiesView.as_view(), name="hierarchies"),
    path("hierarchies/<slug:name>", hierarchies.HierarchyView.as_view(), name="hierarchy"),
    path("hierarchies/<slug:name>/lint", lint.TreeLintView.as_view(), name="tree_lint"),
    path("hierarchies/<slug:name>/tree", trees.TreeView.as_view(), name="tree"),
    path("hierarchies/<slug:name>/drafts", views.DraftsView.as_view(), name="drafts"),
    path("hierarchies/<slug:name>/drafts/import", imports.DraftImportView.as_view(), name="draft_import"),
    path("hierarchies/<slug:name>/drafts/<int:pk>", views.DraftView.as_view(), name="draft"),
    path("hierarchies/<slug:name>/drafts/<int:pk>/acts", views.DraftActsView.as_view(), name="draft_acts"),
    path("hierarchies/<slug:name>/drafts/<int:pk>/forecast", views.DraftForecastView.as_view(), name="draft_forecast"),
    path("hierarchies/<slug:name>/drafts/<int:pk>/publish", views.DraftPublishView.as_view(), name="draft_publish"),
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
    path("audit", accounts.AuditView.as_view(), name="audit"),
    path("tenants", accounts.TenantsView.as_view(), name="tenants"),
    path("tokens", tokens.TokensView.as_view(), name="tokens"),
    path("tokens/<int:pk>", tokens.TokenView.as_view(), name="token"),
    path("users", accounts.UsersView.as_view(), name="users"),
    path("site", site_settings.SiteView.as_view(), name="site"),
    path("group-mappings", site_settings.MappingsView.as_view(), name="mappings"),
    path("group-mappings/<int:pk>", site_settings.MappingView.as_view(), name="mapping"),
    path("notification-channels", api.ChannelsView.as_view(), name="channels"),
    path("notification-channels/<int:pk>", api.ChannelView.as_view(), name="channel"),
    path("notification-channels/<int:pk>/notifications", api.LatestView.as_view(), name="channel_latest"),
    path("pauses", stops.PausesView.as_view(), name="pauses"),
    path("pauses/<int:pk>", stops.PauseView.as_view(), name="pause"),
    path("pods", pods.PodsView.as_view(), name="pods"),
    path("victims", victims.VictimsView.as_view(), name="victims"),
    path("windows", stops.WindowsView.as_view(), name="windows"),
    path("windows/<int:pk>", stops.WindowView.as_view(), name="window"),
    path("decisions/<int:pk>", decisions.DecisionDetailView.as_view(), name="decision"),
    path("decisions/<int:pk>/otherwise", changes.OtherwiseView.as_view(), name="otherwise"),
    path("decisions/<int:pk>/replay", replays.ReplayView.as_view(), name="replay"),
    path("decisions/<int:pk>/waiting", reasons.WaitingView.as_view(), name="waiting"),
    # Not <path:rest>: a line may end within an address.
    re_path(r"^(?P<rest>[\s\S]*)\Z", NothingHere.as_view(), name="nothing"),
]
