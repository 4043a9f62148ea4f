from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "scheduler_admin.api"
    label = "api"
    default_auto_field = "django.db.models.BigAutoField"
