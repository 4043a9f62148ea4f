"""The addresses of ledger in the REST API."""

from django.urls import URLPattern, path

from scheduler_admin.ledger.api import ledger, repeat_victims

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/repeat-victims", repeat_victims.RepeatVictimsView.as_view(), name="repeats"),
    path("ledger", ledger.LedgerView.as_view(), name="ledger"),
]
