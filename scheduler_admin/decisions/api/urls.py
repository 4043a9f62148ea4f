"""The addresses of decisions in the REST API."""

from django.urls import URLPattern, URLResolver, path, re_path

from scheduler_admin.decisions.api import counterfactuals, decisions, events, pods, replays, saved_filters, victims
from scheduler_admin.rest.viewsets import router

ROWS = router()
ROWS.register("clusters/<slug:name>/saved-filters", saved_filters.SavedFilterViewSet, basename="saved-filter")
ROWS.register("decisions", decisions.DecisionViewSet, basename="decision")
ROWS.register("victims", victims.VictimViewSet, basename="victim")
urlpatterns: list[URLPattern | URLResolver] = [
    *ROWS.urls,
    path(
        "clusters/<slug:name>/decisions",
        decisions.ClusterDecisionViewSet.as_view({"get": "list"}),
        name="decision-list",
    ),
    re_path(
        r"^clusters/(?P<name>[-\w]+)/pods/(?P<namespace>[^/\s\x00]+)/(?P<pod>[^/\s\x00]+)\Z",
        pods.PodView.as_view(),
        name="pod",
    ),
    path("events", events.EventsView.as_view(), name="events"),
    path("pods", pods.PodsView.as_view(), name="pods"),
    path("decisions/<int:pk>/counterfactuals", counterfactuals.CounterfactualsView.as_view(), name="counterfactuals"),
    path("decisions/<int:pk>/replay", replays.ReplayView.as_view(), name="replay"),
]
