"""The addresses of the pages of queues."""

from django.urls import URLPattern, path, register_converter

from scheduler_admin.queues.converters import DraftConverter
from scheduler_admin.queues.pages.drafts import acts, publishing
from scheduler_admin.queues.pages.drafts import views as drafts
from scheduler_admin.queues.pages.revisions import import_views
from scheduler_admin.queues.pages.revisions import views as revisions
from scheduler_admin.queues.pages.tree import views as queues

register_converter(DraftConverter, "draft")
urlpatterns: list[URLPattern] = [
    path("clusters/<slug:name>/queues/", queues.tree, name="queues"),
    path("clusters/<slug:name>/queues.csv", queues.as_csv, name="queues_csv"),
    path("clusters/<slug:name>/queues/<str:path>/", queues.queue, name="queue"),
    path("clusters/<slug:name>/queues/<str:path>/usage.json", queues.usage, name="queue_usage"),
    path("clusters/<slug:name>/queues/<str:path>/usage-table/", queues.usage_table, name="queue_usage_table"),
    path("clusters/<slug:name>/editor/", drafts.editor, name="editor"),
    path("clusters/<slug:name>/import/", import_views.importing, name="import"),
    path("clusters/<slug:name>/drafts/<draft:pk>/", drafts.draft, name="draft"),
    path("clusters/<slug:name>/drafts/<draft:pk>/news/", drafts.draft_news, name="draft_news"),
    path("clusters/<slug:name>/drafts/<draft:pk>/forecast/", drafts.draft_forecast, name="draft_forecast"),
    path("clusters/<slug:name>/drafts/<draft:pk>/edit/", acts.edit, name="draft_edit"),
    path("clusters/<slug:name>/drafts/<draft:pk>/add/", acts.add, name="draft_add"),
    path("clusters/<slug:name>/drafts/<draft:pk>/rename/", acts.rename, name="draft_rename"),
    path("clusters/<slug:name>/drafts/<draft:pk>/move/", acts.move, name="draft_move"),
    path("clusters/<slug:name>/drafts/<draft:pk>/copy/", acts.copy, name="draft_copy"),
    path("clusters/<slug:name>/drafts/<draft:pk>/delete/", acts.delete, name="draft_delete"),
    path("clusters/<slug:name>/drafts/<draft:pk>/undo/", acts.undo, name="draft_undo"),
    path("clusters/<slug:name>/drafts/<draft:pk>/redo/", acts.redo, name="draft_redo"),
    path("clusters/<slug:name>/drafts/<draft:pk>/rules/", acts.rules, name="draft_rules"),
    path("clusters/<slug:name>/drafts/<draft:pk>/name/", acts.name_draft, name="draft_name"),
    path("clusters/<slug:name>/drafts/<draft:pk>/cells/", acts.cells, name="draft_cells"),
    path("clusters/<slug:name>/drafts/<draft:pk>/merge/", acts.merge, name="draft_merge"),
    path("clusters/<slug:name>/drafts/<draft:pk>/choose/", acts.choose, name="draft_choose"),
    path("clusters/<slug:name>/drafts/<draft:pk>/publish/", publishing.publish, name="draft_publish"),
    path("clusters/<slug:name>/drafts/<draft:pk>/approve/", publishing.approve, name="draft_approve"),
    path("clusters/<slug:name>/drafts/<draft:pk>/discard/", publishing.discard, name="draft_discard"),
    path("clusters/<slug:name>/revisions/", revisions.revisions, name="revisions"),
    path("clusters/<slug:name>/revisions/<int:number>/", revisions.revision, name="revision"),
    path(
        "clusters/<slug:name>/revisions/<int:number>/forecast/", revisions.revision_forecast, name="revision_forecast"
    ),
    path("clusters/<slug:name>/revisions/<int:number>/tree.json", revisions.as_json, name="revision_json"),
    path("clusters/<slug:name>/revisions/<int:number>/queues.yaml", revisions.as_yaml, name="revision_yaml"),
    path("clusters/<slug:name>/revisions/<int:number>/export/", revisions.export, name="revision_export"),
    path("clusters/<slug:name>/revisions/<int:number>/export/<slug:form>.yaml", revisions.exported, name="exported"),
    path("clusters/<slug:name>/revisions/<int:number>/back/", revisions.revision_back, name="revision_back"),
    path("clusters/<slug:name>/revisions/<int:number>/restore/", revisions.revision_restore, name="revision_restore"),
]
