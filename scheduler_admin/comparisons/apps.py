from django.apps import AppConfig


class ComparisonsConfig(AppConfig):
    name = "scheduler_admin.comparisons"
    label = "comparisons"
    default_auto_field = "django.db.models.BigAutoField"
