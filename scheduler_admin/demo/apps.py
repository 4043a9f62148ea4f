from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "scheduler_admin.demo"
    label = "demo"
