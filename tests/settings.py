"""The project's settings on a machine that has none of its environment."""

import os

os.environ.setdefault("SECRET_KEY", "only-for-tests")
os.environ.setdefault("INSECURE_HTTP", "1")
os.environ["EMAIL_HOST"] = "mail.invalid"  # the mail of tests goes to a list
os.environ["CREDENTIALS_KEY"] = "b25seS1mb3ItdGVzdHMtb25seS1mb3ItdGVzdHMtLS0="

from scheduler_admin.settings import *  # noqa: F403
from tests.runner import database

if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":  # noqa: F405
    # A file, as where it is used: in memory threads would share one connection, and fail where others wait.
    DATABASES["default"]["TEST"] = {"NAME": str(database.file())}  # noqa: F405
else:
    DATABASES["default"]["TEST"] = {"NAME": database.name()}  # noqa: F405
CACHES = {name: {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": name} for name in CACHES}  # noqa: F405
API_RATE = API_RATE_ANONYMOUS = 0  # a test asks more in a frozen minute than anybody does
WORK_S_A_MINUTE = 0  # nor for as long
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # speed, not safety
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True  # serves straight from the sources: nothing is collected for tests
