from django.apps import AppConfig


class DecisionsConfig(AppConfig):
    """Holds the migrations of every model whose ``app_label`` is "history": the name that its tables have."""

    name = "scheduler_admin.decisions"
    label = "history"
