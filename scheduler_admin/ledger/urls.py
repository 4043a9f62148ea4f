"""The addresses of the pages of ledger."""

from django.urls import URLPattern, path

from scheduler_admin.ledger.pages import ledger, repeat_victims

urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/history/repeats/", repeat_victims.repeats, name="repeats"),
    path("ledger/", ledger.ledger, name="ledger"),
    path("ledger.csv", ledger.as_csv, name="ledger_csv"),
    path("ledger.json", ledger.as_json, name="ledger_json"),
]
