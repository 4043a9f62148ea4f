from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "scheduler_admin.clusters"
    label = "clusters"
    default_auto_field = "django.db.models.BigAutoField"
