"""Every page."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, path
from django.views.i18n import set_language

from scheduler_admin.web.views import clusters, connecting, decision, demo, fences, history, pods, queues, shell

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", shell.home, name="home"),
    path("sign-in/", shell.SignIn.as_view(), name="login"),
    path("sign-out/", LogoutView.as_view(), name="logout"),
    path("language/", set_language, name="language"),
    path("clusters/", clusters.clusters, name="clusters"),
    path("clusters/connect/", connecting.connecting, name="connect"),
    path("clusters/<slug:name>/pause/", clusters.pause, name="cluster_pause"),
    path("clusters/<slug:name>/queues/", queues.tree, name="queues"),
    path("clusters/<slug:name>/queues/<str:path>/", queues.queue, name="queue"),
    path("clusters/<slug:name>/queues/<str:path>/usage.json", queues.usage, name="queue_usage"),
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
]
