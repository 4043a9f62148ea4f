"""The Django project: trees as editable models, the engine in Celery workers, pages and the REST API."""
