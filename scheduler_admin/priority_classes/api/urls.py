"""The addresses of priority_classes in the REST API."""

from django.urls import URLPattern, path, re_path

from scheduler_admin.priority_classes.api import views as priority_classes

urlpatterns: list[URLPattern] = [
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
]
