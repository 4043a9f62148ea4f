"""The addresses of the pages of decisions."""

from django.urls import URLPattern, path

from scheduler_admin.decisions.pages import decision, history, pods, saved_filters

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/history/", history.history, name="history"),
    path("clusters/<slug:name>/history/saved/", saved_filters.saved_filters, name="saved_filters"),
    path("clusters/<slug:name>/history/saved/<int:pk>/", saved_filters.saved_filter, name="saved_filter"),
    path("clusters/<slug:name>/history.csv", history.as_csv, name="history_csv"),
    path("clusters/<slug:name>/history.json", history.as_json, name="history_json"),
    path("clusters/<slug:name>/decisions/<int:pk>/", decision.decision, name="decision"),
    path("clusters/<slug:name>/decisions/<int:pk>/replay.zip", decision.replay, name="decision_replay"),
    path("pods/", pods.pods, name="pods"),
    path("pods/<slug:name>/<str:namespace>/<str:pod>/", pods.pod, name="pod"),
    path("workloads/<slug:name>/<str:namespace>/<str:workload>/", pods.workload, name="workload"),
    path("pods/<slug:name>/<str:namespace>/<str:pod>/waiting/", pods.waiting, name="pod_waiting"),
]
