"""The addresses of priority_classes in the REST API."""

from django.urls import URLPattern, URLResolver

from scheduler_admin.priority_classes.api import views as priority_classes
from scheduler_admin.rest.viewsets import router

ROWS = router()
ROWS.register("clusters/<slug:name>/priority-classes", priority_classes.PriorityClassViewSet, basename="priority-class")
urlpatterns: list[URLPattern | URLResolver] = ROWS.urls
