"""What gunicorn serves."""

import gc
import os

from django.core.wsgi import get_wsgi_application

from scheduler_admin.core.monitoring.tracing import start_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_admin.settings")
os.environ.setdefault("LOCK_WAIT_S", "4")  # somebody waits for the answer
start_tracing("web")
application = get_wsgi_application()
gc.set_threshold(50_000, 20, 20)  # an answer makes thousands of containers that hold no circles: looking takes a sixth
gc.collect()
gc.freeze()  # what is loaded by now stays: else every other answer waits until all of it was looked through for garbage
