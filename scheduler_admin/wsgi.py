"""What gunicorn serves. It loads this once, then forks its processes, so nothing here connects or starts a thread."""

import ctypes
import gc
import os
from contextlib import suppress
from threading import Timer
from time import thread_time
from typing import Any

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.urls import reverse
from django.utils import translation

from scheduler_admin.core.monitoring.tracing import start_tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_admin.settings")


_LONG_S = 1.0
"""CPU time of an answer after which garbage is looked for, which takes about a tenth of a second."""


_SOON_S = 0.1


def tidy() -> None:
    """Look for garbage, and give the memory that is free back to the system, where the C library keeps it."""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)


class Request(WSGIRequest):
    """A request whose memory is free as soon as it is answered.

    Others refer to themselves, by ``request.user`` for example, and so what a page was made of stays until the garbage
    collector looks at it. What took long, such as a document of 20,000 queues, leaves hundreds of megabytes of other
    objects that refer to themselves, so they are looked for at once.
    """

    def __init__(self, environ: dict[str, Any]) -> None:
        super().__init__(environ)
        self._began = thread_time()

    def close(self) -> None:
        """Forget everything; Django calls this when the last byte of the answer is sent."""
        took_s = thread_time() - self._began
        super().close()
        vars(self).clear()
        if took_s > _LONG_S:
            later = Timer(_SOON_S, tidy)  # once the answer itself is gone, too
            later.daemon = True
            later.start()


class Application(WSGIHandler):
    """Django's application with such requests."""

    request_class = Request


def load() -> Application:
    """Return the application with all that the first requests would load: views and message catalogs."""
    start_tracing("web")
    django.setup(set_prefix=False)
    made = Application()
    reverse("web:home")
    for code, _name in settings.LANGUAGES:
        with translation.override(code):
            translation.gettext("")
    return made


application = load()
# Garbage is looked for when 50,000 containers are left, as answers make thousands: else it takes a sixth of the time.
# Soon after, all is looked through, as serializers of REST refer to themselves.
gc.set_threshold(50_000, 2, 2)
gc.collect()
gc.freeze()  # what is loaded by now stays: else every other answer waits until all of it was looked through for garbage
