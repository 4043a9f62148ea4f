from django.apps import AppConfig


class CopiesConfig(AppConfig):
    name = "scheduler_admin.copies"
    label = "copies"
    default_auto_field = "django.db.models.BigAutoField"
