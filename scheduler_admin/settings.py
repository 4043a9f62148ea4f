"""Settings. Everything that differs between installations is an environment variable, documented where it is read.

docs/settings.md is made of those comments, ``# NAME (unit): what it does, and why``, and of the defaults in the code.
"""

import os
import re
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

import dj_database_url
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

BASE_DIR = Path(__file__).resolve().parent.parent


def _flag(name: str, default: str = "0") -> bool:
    return os.environ.get(name, default).lower() in {"1", "true", "yes", "on"}


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "") or str(default)
    if not text.isdecimal():
        raise ImproperlyConfigured(f"{name} is {text}, which is not a whole number.")
    return int(text)


def _fernet_keys(text: str) -> list[str]:
    keys = [key.strip() for key in text.split(",") if key.strip()]
    for number, key in enumerate(keys, 1):
        try:
            Fernet(key)
        except ValueError:  # and never say which
            raise ImproperlyConfigured(f"Key {number} of CREDENTIALS_KEY is no Fernet key.") from None
    return keys


def _networks(name: str) -> list[IPv4Network | IPv6Network]:
    found = []
    for text in filter(None, map(str.strip, os.environ.get(name, "").split(","))):
        try:
            found.append(ip_network(text))
        except ValueError as error:
            raise ImproperlyConfigured(f"{name} holds {text}, which is not a network such as 10.1.0.0/16.") from error
    return found


def _service_account(name: str) -> str:
    text = os.environ.get(name, "")
    if text and not re.fullmatch(r"[-a-z0-9]+/[-.a-z0-9]+", text):
        raise ImproperlyConfigured(f"{name} is {text}, which is not a service account such as scheduler-admin/engine.")
    return text


def _address(text: str) -> tuple[str, int] | None:
    host, _colon, port = text.rpartition(":")
    if text and not (host and port.isdecimal()):
        raise ImproperlyConfigured(f"METRICS_LISTEN is {text}, which is not an address such as 0.0.0.0:9101.")
    return (host, int(port)) if text else None


def _with_issuer(name: str, *, address: bool = False) -> str:
    text = os.environ.get(name, "")
    if not os.environ.get("OIDC_ISSUER"):
        return text
    if not text:
        raise ImproperlyConfigured(f"OIDC_ISSUER is set, so {name} is needed too: see docs/operations/people.md.")
    if address and not text.startswith("https://") and not INSECURE_HTTP:
        raise ImproperlyConfigured(f"{name} has to begin with https://.")
    return text


# DEBUG (0 or 1): 1 shows tracebacks in the browser. Never on a machine that others reach: they tell of the inside.
DEBUG = _flag("DEBUG")
# SECRET_KEY (text): signs sessions and keys what is stored of tokens; the same for all processes. A new one signs
# everybody out, and ends all tokens, unless the former stands in the next. `make demo` and the tests make one of their
# own.
SECRET_KEY = os.environ.get("SECRET_KEY", "")
if not SECRET_KEY:
    raise ImproperlyConfigured("Set SECRET_KEY to a long random text, the same for web, workers and beat.")
# SECRET_KEY_FALLBACKS (texts, comma-separated): former keys. A session, or a token, goes over to the new key when it is
# used; take a former key away when all have.
SECRET_KEY_FALLBACKS = [key for key in os.environ.get("SECRET_KEY_FALLBACKS", "").split(",") if key]
# CREDENTIALS_KEY (Fernet keys, comma-separated): seal stored credentials; the same for all processes. The first seals,
# each opens; without one none are stored. How to make one: [Stored
# credentials](operations/connect.md#stored-credentials).
CREDENTIALS_KEYS = _fernet_keys(os.environ.get("CREDENTIALS_KEY", ""))
# KUBECONFIG_PLACES (folders and files, separated by `:`): kubeconfigs that admins may choose on the page *Connect a
# cluster* and by the REST API, as these make a process of ours run what they name. None is taken that others may write,
# and none under `/proc`, `/dev` or `/tmp`. Commands of `manage.py` take any.
KUBECONFIG_PLACES = os.environ.get("KUBECONFIG_PLACES") or "~/.kube:$KUBECONFIG"
# ALLOWED_HOSTS (host names, comma-separated): under which the site is reached. Others are refused, as links that are
# mailed or cached would lead wherever a request says.
ALLOWED_HOSTS = [name for name in os.environ.get("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").split(",") if name]
# CSRF_TRUSTED_ORIGINS (origins, comma-separated): from where forms are taken; needed behind a proxy that ends TLS, as
# the site sees another scheme than the browser.
CSRF_TRUSTED_ORIGINS = [origin for origin in os.environ.get("CSRF_TRUSTED_ORIGINS", "").split(",") if origin]
# SITE_URL (address): how people reach the site; Events on pods and notifications link to it.
SITE_URL = os.environ.get("SITE_URL", "http://127.0.0.1:8000").rstrip("/")
# INSECURE_HTTP (0 or 1): 1 serves without TLS (cookies without Secure, no redirect). For this machine only.
INSECURE_HTTP = _flag("INSECURE_HTTP")
# ADMIN_SITE (0 or 1): 1 turns Django's own admin site on under `/admin/`, for repairs.
ADMIN_SITE = _flag("ADMIN_SITE")
# SIMULATOR_URL (address): where the demo's simulator is; its buttons show only with this and the next.
# SIMULATOR_CLUSTER (cluster): what that cluster is called here.
# SIMULATOR_TOKEN (text): what the simulator asks for, where it asks for one.
SIMULATOR_URL = os.environ.get("SIMULATOR_URL", "").rstrip("/")
SIMULATOR_CLUSTER = os.environ.get("SIMULATOR_CLUSTER", "")
SIMULATOR_TOKEN = os.environ.get("SIMULATOR_TOKEN", "")
# JOURNAL_MB (megabytes): journal kept for each cluster; decisions from before that can no longer be
# [replayed](operations/replay.md). A size rather than a time, as the disk has to hold it: some five busy days.
JOURNAL_MB = _number("JOURNAL_MB", 250)
# USAGE_10S_HOURS (hours): how long usage is [kept](operations/retention.md) by points of ten seconds: what is
# looked at to the second is today's.
# USAGE_1MIN_DAYS (days): how long by the minute: a whole month can be looked into.
# USAGE_1H_DAYS (days): how long by the hour: this year beside the last one, of which budgets are made.
USAGE_10S_HOURS = _number("USAGE_10S_HOURS", 24)
USAGE_1MIN_DAYS = _number("USAGE_1MIN_DAYS", 31)
USAGE_1H_DAYS = _number("USAGE_1H_DAYS", 731)
# EMAIL_HOST (host name): the server that sends [notifications](operations/notifications.md) as e-mail; without it none
# are.
# EMAIL_PORT (port): of that server; 587 is where mail is handed in.
# EMAIL_HOST_USER (text): as whom to sign in there; without one nobody signs in.
# EMAIL_HOST_PASSWORD (text): with which password.
EMAIL_HOST = os.environ.get("EMAIL_HOST", "")
EMAIL_PORT = _number("EMAIL_PORT", 587)
EMAIL_HOST_USER = os.environ.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("EMAIL_HOST_PASSWORD", "")
# EMAIL_USE_TLS (0 or 1): 0 sends without STARTTLS, in the clear.
EMAIL_USE_TLS = _flag("EMAIL_USE_TLS", "1")
EMAIL_TIMEOUT = 8
# EMAIL_FROM (mail address): the sender of that mail.
DEFAULT_FROM_EMAIL = os.environ.get("EMAIL_FROM") or "scheduler-admin@localhost"
# DIGEST_HOUR (hour of the day, UTC): from when on channels are told of the day before.
DIGEST_HOUR = _number("DIGEST_HOUR", 6)
if DIGEST_HOUR > 23:  # noqa: PLR2004 - the last of a day
    raise ImproperlyConfigured(f"DIGEST_HOUR is {DIGEST_HOUR}: it is an hour of the day, 0 to 23.")
# NOTIFICATION_NETWORKS (networks such as `10.1.0.0/16`, comma-separated): of those that are not the Internet's, the
# ones that webhooks may lead into. None by itself: tenants choose where webhooks lead.
NOTIFICATION_NETWORKS = _networks("NOTIFICATION_NETWORKS")
# METRICS_TOKEN (16 characters or more): whoever has it reads [/metrics](operations/monitoring.md#metrics); without one
# nobody does.
METRICS_TOKEN = os.environ.get("METRICS_TOKEN", "")
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:  # noqa: PLR2004 - as the sentence says
    raise ImproperlyConfigured("METRICS_TOKEN has to have 16 characters or more.")
# METRICS_LISTEN (address and port, such as `0.0.0.0:9101`): where the engine's worker serves its own metrics; without
# one it does not. Needs METRICS_TOKEN.
METRICS_LISTEN = _address(os.environ.get("METRICS_LISTEN", ""))
if METRICS_LISTEN and not METRICS_TOKEN:
    raise ImproperlyConfigured(
        "METRICS_LISTEN is set, so METRICS_TOKEN is needed too: see docs/operations/monitoring.md."
    )
# STREAMED_LISTS (0 or 1): 1 reads clusters as streams where their API servers offer that (Kubernetes 1.34 and later),
# which spares these memory; it costs the engine's worker twice the CPU time at its start, see
# [Performance](performance.md).
STREAMED_LISTS = _flag("STREAMED_LISTS")
# FAULT_AT (`kill:POINT` or `stop:POINT`): where the worker kills or stops itself, for tests of crashes; leave it empty.
FAULT_AT = os.environ.get("FAULT_AT", "")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",  # its templates of controls
    "django_htmx",
    "axes",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "scheduler_admin.accounts",
    "scheduler_admin.queues",
    "scheduler_admin.clusters",
    "scheduler_admin.priority_classes",
    "scheduler_admin.sync",
    "scheduler_admin.journal",
    "scheduler_admin.usage",
    "scheduler_admin.decisions",
    "scheduler_admin.counts",
    "scheduler_admin.notifications",
    "scheduler_admin.ledger",
    "scheduler_admin.nodes",
    "scheduler_admin.pending",
    "scheduler_admin.worker",
    "scheduler_admin.comparisons",
    "scheduler_admin.fences",
    "scheduler_admin.rest",
    "scheduler_admin.site",
    "scheduler_admin.demo",
]
if ADMIN_SITE:
    INSTALLED_APPS.insert(0, "django.contrib.admin")

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "scheduler_admin.site.security.content_security_policy",
    "scheduler_admin.site.security.theirs_alone",
    "scheduler_admin.site.security.no_nul",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "scheduler_admin.site.allowances.Allowances",  # before that of CSRF, which reads whole forms
    "django.middleware.csrf.CsrfViewMiddleware",
    "scheduler_admin.site.security.NoNulInForms",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "scheduler_admin.accounts.sign_in.oidc_renewal.Renewal",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",  # the last: it answers in place of a page
]

ROOT_URLCONF = "scheduler_admin.urls"
WSGI_APPLICATION = "scheduler_admin.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "scheduler_admin.site.context.site",
            ],
        },
    },
]

FORM_RENDERER = "scheduler_admin.core.forms.FormRenderer"

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# DATABASE_URL (address): `postgres://user:password@host/name` or `sqlite:///path`. PostgreSQL's JIT is off for its
# connections and nothing waits longer than LOCK_WAIT_S for a lock, which `?options=...` replaces.
# LOCK_WAIT_S (seconds): how long what another process has locked in the database is waited for, and PostgreSQL's answer
# to who connects. At least 1. The default of web servers is 4; then they answer 503.
DATABASE_URL = os.environ.get("DATABASE_URL", f"sqlite:///{BASE_DIR / 'var' / 'db.sqlite3'}")
_LOCK_WAIT_S = _number("LOCK_WAIT_S", 20)
if not _LOCK_WAIT_S:  # for ever, to PostgreSQL
    raise ImproperlyConfigured("LOCK_WAIT_S is 0: it has to be 1 or more.")
DATABASES = {"default": dj_database_url.parse(DATABASE_URL, conn_max_age=600)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    _FILE = Path(DATABASES["default"]["NAME"])
    if "DATABASE_URL" in os.environ and not _FILE.parent.is_dir():  # SQLite's own error names neither
        raise ImproperlyConfigured(f"DATABASE_URL names the file {_FILE}, but there is no folder {_FILE.parent}.")
    # Writers queue instead of failing; FULL, because an intent must survive a crash before its eviction is sent.
    DATABASES["default"]["CONN_MAX_AGE"] = None
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": _LOCK_WAIT_S,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
else:
    # Compiling a query takes PostgreSQL seconds where it expects many rows; ours end after a page of them. Who waits
    # for a lock holds others up: better to fail, and be tried again, as with SQLite.
    _OPTIONS = DATABASES["default"].setdefault("OPTIONS", {})
    _OPTIONS.setdefault("options", f"-c jit=off -c lock_timeout={_LOCK_WAIT_S}s")
    _OPTIONS.setdefault("connect_timeout", _LOCK_WAIT_S)

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",  # lets no password through where there were too many wrong ones
    "scheduler_admin.accounts.doors.PeopleBackend",
    "scheduler_admin.accounts.oidc.Backend",
]
# SIGN_IN_FAILURES (passwords): wrong ones for a name from an address, until that name takes none from there ([Wrong
# passwords](operations/people.md#wrong-passwords)): enough for who has forgotten which, too few to guess. 0: any
# number.
AXES_FAILURE_LIMIT = _number("SIGN_IN_FAILURES", 5)
AXES_ENABLED = bool(AXES_FAILURE_LIMIT)
# SIGN_IN_WAIT_MINUTES (minutes): for how long, after the last wrong one that was looked at; former ones are forgotten
# as late. At least 1.
AXES_COOLOFF_TIME = timedelta(minutes=_number("SIGN_IN_WAIT_MINUTES", 15))
if not AXES_COOLOFF_TIME:  # for ever, to django-axes
    raise ImproperlyConfigured("SIGN_IN_WAIT_MINUTES is 0: it has to be 1 or more.")
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]  # by the name alone anybody could keep anybody out
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # the wait ends when it was said to
AXES_CLIENT_IP_CALLABLE = "scheduler_admin.accounts.sign_in.attempts.address_of"
AXES_WHITELIST_CALLABLE = "scheduler_admin.accounts.sign_in.attempts.without_password"
AXES_LOCKOUT_CALLABLE = "scheduler_admin.accounts.sign_in.lockout.answer"
AXES_DISABLE_ACCESS_LOG = True  # it would grow for ever
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username", "csrfmiddlewaretoken"]  # who mistakes the field types the password there
# OIDC_ISSUER (address): `issuer`, to the letter, of the OpenID provider at which people may [sign in,
# too](operations/people.md#single-sign-on). The addresses stand in its `/.well-known/openid-configuration`.
# OIDC_CLIENT_ID (text): of the client that is registered there.
# OIDC_CLIENT_SECRET (text): of that client.
# OIDC_AUTHORIZATION_ENDPOINT (address): `authorization_endpoint`, to which people are sent.
# OIDC_TOKEN_ENDPOINT (address): `token_endpoint`, which the site asks.
# OIDC_JWKS_ENDPOINT (address): `jwks_uri`, where the provider's keys are.
# OIDC_END_SESSION_ENDPOINT (address): `end_session_endpoint`: who signs out here is offered to sign out there too.
OIDC_ISSUER = os.environ.get("OIDC_ISSUER", "")
OIDC_RP_CLIENT_ID = _with_issuer("OIDC_CLIENT_ID")
OIDC_RP_CLIENT_SECRET = _with_issuer("OIDC_CLIENT_SECRET")
OIDC_OP_AUTHORIZATION_ENDPOINT = _with_issuer("OIDC_AUTHORIZATION_ENDPOINT", address=True)
OIDC_OP_TOKEN_ENDPOINT = _with_issuer("OIDC_TOKEN_ENDPOINT", address=True)
OIDC_OP_JWKS_ENDPOINT = _with_issuer("OIDC_JWKS_ENDPOINT", address=True)
OIDC_OP_USER_ENDPOINT = ""  # what is known of a person stands in the ID token, which is signed
OIDC_END_SESSION_ENDPOINT = os.environ.get("OIDC_END_SESSION_ENDPOINT", "")
# OIDC_NAME (text): what the provider is called on the sign-in page.
# OIDC_SCOPES (scopes, separated by blanks): what is asked for.
# OIDC_GROUPS_CLAIM (claim): where the ID token has the groups.
# OIDC_SIGN_ALGORITHM (`RS256` or `ES256`): how the provider signs; none that the client's own secret could make.
OIDC_NAME = os.environ.get("OIDC_NAME", "") or OIDC_ISSUER
OIDC_RP_SCOPES = os.environ.get("OIDC_SCOPES") or "openid email profile"
OIDC_GROUPS_CLAIM = os.environ.get("OIDC_GROUPS_CLAIM") or "groups"
OIDC_RP_SIGN_ALGO = os.environ.get("OIDC_SIGN_ALGORITHM") or "RS256"
if OIDC_RP_SIGN_ALGO not in {"RS256", "ES256"}:
    raise ImproperlyConfigured(f"OIDC_SIGN_ALGORITHM is {OIDC_RP_SIGN_ALGO}: RS256 and ES256 are known.")
OIDC_USE_PKCE = True
OIDC_TIMEOUT = 10
OIDC_AUTHENTICATION_CALLBACK_URL = "web:oidc_callback"
OIDC_RENEW_ID_TOKEN_EXPIRY_SECONDS = 900  # then a page that is opened asks the provider again, unseen
# TOKEN_REVIEW_CLUSTER (cluster): [tokens](operations/people.md#tokens-of-a-cluster) of the service accounts and users
# of the cluster that is called so here are good for the REST API.
# TOKEN_REVIEW_AUDIENCES (audiences, comma-separated): a token must be meant for one of them, so that what every pod
# finds in its file is not enough.
TOKEN_REVIEW_CLUSTER = os.environ.get("TOKEN_REVIEW_CLUSTER", "")
TOKEN_REVIEW_AUDIENCES = (os.environ.get("TOKEN_REVIEW_AUDIENCES") or "scheduler-admin").split(",")
# ENGINE_SERVICE_ACCOUNT (NAMESPACE/NAME): that of the engine's pods, where web's have another, as with the Helm chart:
# a check of the cluster in which they run asks for its rights.
ENGINE_SERVICE_ACCOUNT = _service_account("ENGINE_SERVICE_ACCOUNT")
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "web:login"
LOGIN_REDIRECT_URL = "web:home"
LOGOUT_REDIRECT_URL = "web:login"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
# STATIC_ROOT (path): where collectstatic puts files.
STATIC_ROOT = Path(os.environ.get("STATIC_ROOT", BASE_DIR / "staticfiles"))
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "scheduler_admin.site.assets.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = not INSECURE_HTTP
SECURE_HSTS_SECONDS = 0 if INSECURE_HTTP else 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = not INSECURE_HTTP
SECURE_HSTS_PRELOAD = not INSECURE_HTTP
SESSION_COOKIE_SECURE = not INSECURE_HTTP
CSRF_COOKIE_SECURE = not INSECURE_HTTP
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
# BEHIND_TLS_PROXY (0 or 1): 1 where one proxy in front sets `X-Forwarded-Proto` itself, and adds to `X-Forwarded-For`
# whom it speaks for. With 0 neither header is believed, as anybody can send them.
if _flag("BEHIND_TLS_PROXY"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "scheduler_admin.accounts.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "scheduler_admin.rest.openapi.views.RestSchema",
    "DEFAULT_VERSIONING_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,  # the form of an answer is asked for in Accept alone
    "NUM_PROXIES": int(_flag("BEHIND_TLS_PROXY")),  # whose X-Forwarded-For is believed
}
# API_RATE (requests a minute): what a token, or a person, may send to the REST API; 0: any number.
# API_RATE_ANONYMOUS (requests a minute): likewise from an address, without a token that is good, so guesses too; 0: any
# number.
API_RATE = _number("API_RATE", 1200)
API_RATE_ANONYMOUS = _number("API_RATE_ANONYMOUS", 60)
# UPLOAD_MB_AN_HOUR (MB): what one person may upload within an hour, in files of more than a megabyte; 0: any amount.
UPLOAD_MB_AN_HOUR = _number("UPLOAD_MB_AN_HOUR", 500)
# WORK_S_A_MINUTE (seconds): of CPU time that a token, or a person, may take of a web process within a minute; 0: any.
WORK_S_A_MINUTE = _number("WORK_S_A_MINUTE", 20)
# FORECAST_WORK_S (seconds): of CPU time that one forecast of a tree may take; beyond there is none, and the answer says
# so. 0: any.
FORECAST_WORK_S = _number("FORECAST_WORK_S", 30)
SPECTACULAR_SETTINGS = {
    "TITLE": "Scheduler Admin",
    "DESCRIPTION": "Queue trees, their usage against guarantees, and every preemption decision with its reason.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,  # a text that may be empty in an answer may not in a request
    "PATH_CONVERTER_OVERRIDES": {"object": str},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "scheduler_admin.rest.openapi.views.describe_all",
    ],
    "ENUM_NAME_OVERRIDES": {
        "ChannelKind": "scheduler_admin.notifications.models.Channel.Kind",
        "ComparisonState": "scheduler_admin.comparisons.models.Comparison.State",
        "MembershipRoleEnum": "scheduler_admin.accounts.models.Membership.Role",
        "UserRoleEnum": "scheduler_admin.accounts.models.User.Role",
        "DecisionState": "scheduler_admin.decisions.models.Decision.State",
        "NotificationState": "scheduler_admin.notifications.models.Notification.State",
        "PreemptionPolicyEnum": "scheduler_admin.rest.fields.QUEUE_POLICIES",
        "PodPreemptionPolicy": "scheduler_admin.priority_classes.api.serializers.POLICIES",
        "VictimState": "scheduler_admin.decisions.models.Victim.State",
    },
}

# REDIS_URL (address): Celery's broker, and the counts of requests to the REST API: `redis://host:6379/0`, or
# `redis+socket:///path` for a unix socket.
REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
CELERY_BROKER_URL = REDIS_URL
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Counts of requests, which all web processes share.
    "limits": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL.replace("redis+socket://", "unix://", 1),
        "OPTIONS": {"socket_timeout": 0.5, "socket_connect_timeout": 0.5},
    },
}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "housekeeping"
# What concerns one cluster is sent to the worker that owns it; see scheduler_admin.clusters.watching.ownership.
CELERY_TASK_ROUTES = {
    "scheduler_admin.comparisons.tasks.run_comparison": {"queue": "comparisons"},
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # for ever; waits grow from two seconds to half a minute
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # What is lost with a worker is sent again by beat, or past its time: Redis keeps no copy until it is done.
    "ack_emulation": False,
    "socket_timeout": 10,
    "socket_connect_timeout": 10,
    "health_check_interval": 10,  # a connection whose other end is gone is given up after twice that
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    # One entry that asks which clusters are due; the clusters' own intervals live in the database.
    "due-clusters": {
        "task": "scheduler_admin.history.tasks.send_due_passes",
        "schedule": 1.0,
        "options": {"expires": 1.0, "queue": "engine"},
    },
    # A look at each is due once a minute, and what people ask for at once.
    "due-copies": {
        "task": "scheduler_admin.copies.tasks.send_due_visits",
        "schedule": 2.0,
        "options": {"expires": 2.0},
    },
    "heartbeats": {
        "task": "scheduler_admin.history.tasks.check_heartbeats",
        "schedule": 10.0,
        "options": {"expires": 10.0},
    },
    "work-out-changes": {
        "task": "scheduler_admin.history.tasks.work_out_changes",
        "schedule": 5.0,
        "options": {"expires": 5.0},
    },
    "send-notifications": {
        "task": "scheduler_admin.notifications.tasks.send_notifications",
        "schedule": 2.0,
        "options": {"expires": 2.0},
    },
    "send-comparisons": {
        "task": "scheduler_admin.comparisons.tasks.send_comparisons",
        "schedule": 2.0,
        "options": {"expires": 2.0},
    },
    "write-digests": {
        "task": "scheduler_admin.history.tasks.write_due_digests",
        "schedule": 300.0,
        "options": {"expires": 300.0},
    },
    "roll-up-usage": {
        "task": "scheduler_admin.history.tasks.roll_up_usage",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "tally-hours": {
        "task": "scheduler_admin.history.tasks.tally_hours",
        "schedule": 60.0,
        "options": {"expires": 60.0},
    },
    "prune": {"task": "scheduler_admin.history.tasks.prune", "schedule": 600.0, "options": {"expires": 600.0}},
}

# LOG_LEVEL (`DEBUG`, `INFO`, `WARNING` or `ERROR`): from which on the log, on standard error, takes lines.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {"axes": {"level": "WARNING"}},  # it tells of every sign-in four times
    "root": {"handlers": ["console"], "level": os.environ.get("LOG_LEVEL", "INFO")},
}
