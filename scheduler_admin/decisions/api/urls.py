"""The addresses of decisions in the REST API."""

from django.urls import URLPattern, path, re_path

from scheduler_admin.decisions.api import changes, decisions, events, pods, replays, saved_filters, victims

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/saved-filters", saved_filters.SavedFiltersView.as_view(), name="saved_filters"),
    path("clusters/<slug:name>/saved-filters/<int:pk>", saved_filters.SavedFilterView.as_view(), name="saved_filter"),
    path("clusters/<slug:name>/decisions", decisions.DecisionsView.as_view(), name="decisions"),
    re_path(
        r"^clusters/(?P<name>[-\w]+)/pods/(?P<namespace>[^/\s\x00]+)/(?P<pod>[^/\s\x00]+)\Z",
        pods.PodView.as_view(),
        name="pod",
    ),
    path("events", events.EventsView.as_view(), name="events"),
    path("pods", pods.PodsView.as_view(), name="pods"),
    path("victims", victims.VictimsView.as_view(), name="victims"),
    path("decisions/<int:pk>", decisions.DecisionDetailView.as_view(), name="decision"),
    path("decisions/<int:pk>/otherwise", changes.OtherwiseView.as_view(), name="otherwise"),
    path("decisions/<int:pk>/replay", replays.ReplayView.as_view(), name="replay"),
]
