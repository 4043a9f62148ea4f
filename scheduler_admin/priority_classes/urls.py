"""The addresses of the pages of priority_classes."""

from django.urls import URLPattern, path

from scheduler_admin.priority_classes.pages import views as priority_classes

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/priority-classes/", priority_classes.priority_classes, name="priority_classes"),
    path(
        "clusters/<slug:name>/priority-classes/<str:priority_class>/",
        priority_classes.priority_class,
        name="priority_class",
    ),
]
