"""The project's settings on a machine that has none of its environment."""

import os

os.environ.setdefault("SECRET_KEY", "only-for-tests")
os.environ.setdefault("INSECURE_HTTP", "1")
os.environ["EMAIL_HOST"] = "mail.invalid"  # the mail of tests goes to a list
os.environ["CREDENTIALS_KEY"] = "b25seS1mb3ItdGVzdHMtb25seS1mb3ItdGVzdHMtLS0="

from scheduler_admin.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # speed, not safety
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True  # serves straight from the sources: nothing is collected for tests
