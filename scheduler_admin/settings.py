"""Django settings. Everything that differs between installations is an environment variable with a comment.

docs/settings.md is generated from these comments, ``# NAME (unit): text``, and from the defaults in the code.
"""

import os
from datetime import timedelta
from pathlib import Path

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from scheduler_admin.beat_schedule import BEAT_SCHEDULE
from scheduler_admin.core.monitoring.logs import logging_settings
from scheduler_admin.environment import (
    parse_address,
    parse_fernet_keys,
    read_choice,
    read_flag,
    read_networks,
    read_number,
    read_service_account,
    read_with_issuer,
)

BASE_DIR = Path(__file__).resolve().parent.parent


# DEBUG (0 or 1): 1 shows tracebacks in the browser. Never use it where others can reach the site, because tracebacks
# reveal internals. Compose and the chart do not pass it.
DEBUG = read_flag("DEBUG")
# SECRET_KEY (text): Signs sessions and keys the hashes of API tokens. All processes need the same value. If you
# change it without adding the old key to SECRET_KEY_FALLBACKS, all users are signed out and all tokens stop working.
# `make demo` and the tests generate their own.
SECRET_KEY = os.environ.get("SECRET_KEY", "")
if not SECRET_KEY:
    raise ImproperlyConfigured("Set SECRET_KEY to a long random text. Web, workers and beat need the same value.")
# SECRET_KEY_FALLBACKS (texts, comma-separated): Former values of SECRET_KEY. A session or token is moved to the new
# key when it is used. Remove a former key when all have been moved.
SECRET_KEY_FALLBACKS = [key for key in os.environ.get("SECRET_KEY_FALLBACKS", "").split(",") if key]
# CREDENTIALS_KEY (Fernet keys, comma-separated): Keys that encrypt stored credentials. All processes need the same
# value. The first key encrypts; every key decrypts. Without a key, no credentials can be stored. To generate one, see
# [Stored credentials](operations/connect.md#stored-credentials).
CREDENTIALS_KEYS = parse_fernet_keys(os.environ.get("CREDENTIALS_KEY", ""))
# KUBECONFIG_PLACES (folders and files, separated by `:`): Kubeconfigs that administrators can choose on the page
# *Connect a cluster* and in the REST API. The list is limited because a kubeconfig can name programs that the server
# runs. Files that others can write are rejected, and so are files in `/proc`, `/dev` and `/tmp`. Commands of
# `manage.py` accept any kubeconfig. The image sets it to `/etc/kubeconfigs`.
KUBECONFIG_PLACES = os.environ.get("KUBECONFIG_PLACES") or "~/.kube:$KUBECONFIG"
# ALLOWED_HOSTS (host names, comma-separated): Host names of the site. Requests for other names are rejected, so that
# links in emails and caches cannot lead to a foreign site.
ALLOWED_HOSTS = [name for name in os.environ.get("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]").split(",") if name]
# CSRF_TRUSTED_ORIGINS (origins, comma-separated): Origins that can submit forms. Needed behind a proxy that
# terminates TLS, because the site then sees another scheme than the browser.
CSRF_TRUSTED_ORIGINS = [origin for origin in os.environ.get("CSRF_TRUSTED_ORIGINS", "").split(",") if origin]
# SITE_URL (address): Address of the site for users. Events on pods and notifications link to it.
SITE_URL = os.environ.get("SITE_URL", "http://127.0.0.1:8000").rstrip("/")
# DOCS_URL (address): Address under which your users can read the folder `docs` of this version: of the documentation
# site (`https://docs.example.com/docs`), or of a Git server (`https://git.example.com/scheduler-admin/blob/main/docs`).
# Each page then links to the document about it ([the site](operations/install.md#documentation)).
DOCS_URL = os.environ.get("DOCS_URL", "").rstrip("/")
if DOCS_URL and not DOCS_URL.startswith(("https://", "http://")):
    raise ImproperlyConfigured("DOCS_URL must start with https:// or http://.")
# INSECURE_HTTP (0 or 1): 1 serves the site without TLS (no Secure cookies, no redirect to HTTPS). Use it only on your
# own machine.
INSECURE_HTTP = read_flag("INSECURE_HTTP")
# ADMIN_SITE (0 or 1): 1 turns on the Django admin site under `/admin/`, for repairs.
ADMIN_SITE = read_flag("ADMIN_SITE")
# SIMULATOR_URL (address): Address of the demo's simulator. The demo buttons are shown only if this and
# SIMULATOR_CLUSTER are set.
# SIMULATOR_CLUSTER (cluster): Name of the simulated cluster in Scheduler Admin.
# SIMULATOR_TOKEN (text): Token for the simulator, if it requires one.
SIMULATOR_URL = os.environ.get("SIMULATOR_URL", "").rstrip("/")
SIMULATOR_CLUSTER = os.environ.get("SIMULATOR_CLUSTER", "")
SIMULATOR_TOKEN = os.environ.get("SIMULATOR_TOKEN", "")
# JOURNAL_MB (megabytes): Size of the journal of each cluster. Decisions older than the journal can no longer be
# [replayed](operations/replay.md). The limit is a size, not a time, so that it fits the disk. The default is enough
# for about five busy days.
JOURNAL_MB = read_number("JOURNAL_MB", 250)
# USAGE_10S_HOURS (hours): How long usage is [kept](operations/retention.md) in points of 10 seconds. The default
# covers the current day.
# USAGE_1MIN_DAYS (days): How long usage is kept in points of one minute. The default covers a whole month.
# USAGE_1H_DAYS (days): How long usage is kept in points of one hour. The default allows comparing this year with the
# last.
USAGE_10S_HOURS = read_number("USAGE_10S_HOURS", 24)
USAGE_1MIN_DAYS = read_number("USAGE_1MIN_DAYS", 31)
USAGE_1H_DAYS = read_number("USAGE_1H_DAYS", 731)
# EMAIL_HOST (host name): Mail server for email [notifications](operations/notifications.md). Without it, no email is
# sent.
# EMAIL_PORT (port): Port of the mail server. 587 is the port for mail submission.
# EMAIL_HOST_USER (text): Username for the mail server. Without it, no authentication is used.
# EMAIL_HOST_PASSWORD (text): Password for the mail server.
EMAIL_HOST = os.environ.get("EMAIL_HOST", "")
EMAIL_PORT = read_number("EMAIL_PORT", 587)
EMAIL_HOST_USER = os.environ.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("EMAIL_HOST_PASSWORD", "")
# EMAIL_USE_TLS (0 or 1): 0 sends mail unencrypted, without STARTTLS.
EMAIL_USE_TLS = read_flag("EMAIL_USE_TLS", "1")
EMAIL_TIMEOUT = 8
# EMAIL_FROM (mail address): Sender of the email notifications.
DEFAULT_FROM_EMAIL = os.environ.get("EMAIL_FROM") or "scheduler-admin@localhost"
# DIGEST_HOUR (hour of the day, UTC): Hour from which the digest of the previous day is sent.
DIGEST_HOUR = read_number("DIGEST_HOUR", 6)
if DIGEST_HOUR > 23:  # noqa: PLR2004 - the last hour of a day
    raise ImproperlyConfigured(f"DIGEST_HOUR is {DIGEST_HOUR}. It must be an hour of the day, 0 to 23.")
# NOTIFICATION_NETWORKS (networks such as `10.1.0.0/16`, comma-separated): Private networks that webhooks can call. By
# default, webhooks can call only public addresses, because tenants choose where webhooks lead.
NOTIFICATION_NETWORKS = read_networks("NOTIFICATION_NETWORKS")
# METRICS_TOKEN (text of at least 16 characters): Token for reading [/metrics](operations/monitoring.md#metrics).
# Without it, the metrics cannot be read.
METRICS_TOKEN = os.environ.get("METRICS_TOKEN", "")
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:  # noqa: PLR2004 - as the sentence says
    raise ImproperlyConfigured("METRICS_TOKEN must have at least 16 characters.")
# METRICS_LISTEN (address and port, such as `0.0.0.0:9101`): Address where a worker serves its own metrics.
# Without it, it serves none. Needs METRICS_TOKEN. The chart sets it.
METRICS_LISTEN = parse_address(os.environ.get("METRICS_LISTEN", ""))
if METRICS_LISTEN and not METRICS_TOKEN:
    raise ImproperlyConfigured(
        "METRICS_LISTEN is set, so METRICS_TOKEN is required. See docs/operations/monitoring.md."
    )
# STREAMED_LISTS (0 or 1): 1 reads clusters as streams if their API servers support it (Kubernetes 1.34 and later).
# Streams save memory in the API server. They cost the engine worker twice the CPU time when it starts, see
# [Performance](performance.md).
STREAMED_LISTS = read_flag("STREAMED_LISTS")
# ALIVE_FILE (path): File that a Celery worker touches every ten seconds while it consumes messages, for
# [probes](operations/monitoring.md#probes). Without it, none is touched. Compose and the chart set it.
ALIVE_FILE = os.environ.get("ALIVE_FILE", "")
# REVISION (text): Revision of the sources, which `/version` shows. The image sets it if it was built with
# `--build-arg REVISION=...`.
REVISION = os.environ.get("REVISION", "")
# FAULT_AT (`kill:POINT` or `stop:POINT`): Point at which the worker kills or stops itself, for crash tests. Leave it
# empty. Compose and the chart do not pass it.
FAULT_AT = os.environ.get("FAULT_AT", "")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",  # for its widget templates
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
    "scheduler_admin.health.middleware.probes",
    "scheduler_admin.site.request_log.request_log",
    "scheduler_admin.metrics.requests.timed",
    "scheduler_admin.health.turns.in_turn",  # after probes, which never wait
    "django.middleware.security.SecurityMiddleware",
    "scheduler_admin.site.security.content_security_policy",
    "scheduler_admin.site.security.theirs_alone",
    "scheduler_admin.site.security.no_nul",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "scheduler_admin.site.compression.Compression",  # after whitenoise, whose files are compressed once and for all
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "scheduler_admin.site.allowances.Allowances",  # before CsrfViewMiddleware, which reads whole forms
    "django.middleware.csrf.CsrfViewMiddleware",
    "scheduler_admin.site.security.NoNulInForms",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "scheduler_admin.accounts.sign_in.oidc_renewal.Renewal",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",  # must be last: it can replace the response
]

ROOT_URLCONF = "scheduler_admin.urls"
WSGI_APPLICATION = "scheduler_admin.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "scheduler_admin.site.rendering.Templates",
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
# DATABASE_URL (address): `postgres://user:password@host/name` or `sqlite:///path`. For PostgreSQL, connections turn
# off JIT and parallel queries, and wait no longer than LOCK_WAIT_S for a lock. `?options=...` replaces all of this.
# Compose sets it.
# LOCK_WAIT_S (seconds): How long a process waits for a database lock, and for PostgreSQL to accept a connection. At
# least 1. The web server uses 4 by default and then responds with 503.
DATABASE_URL = os.environ.get("DATABASE_URL", f"sqlite:///{BASE_DIR / 'var' / 'db.sqlite3'}")
_LOCK_WAIT_S = read_number("LOCK_WAIT_S", 20)
if not _LOCK_WAIT_S:  # PostgreSQL would wait forever
    raise ImproperlyConfigured("LOCK_WAIT_S is 0. It must be at least 1.")
DATABASES = {"default": dj_database_url.parse(DATABASE_URL, conn_max_age=600)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    _FILE = Path(DATABASES["default"]["NAME"])
    if (
        "DATABASE_URL" in os.environ and not _FILE.parent.is_dir()
    ):  # SQLite's own error names neither the file nor the folder
        raise ImproperlyConfigured(
            f"DATABASE_URL names the file {_FILE}, but the folder {_FILE.parent} does not exist."
        )
    # Writers queue instead of failing. FULL: an intent must survive a crash before its eviction is sent.
    DATABASES["default"]["CONN_MAX_AGE"] = None
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": _LOCK_WAIT_S,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
else:
    # JIT takes PostgreSQL seconds for queries with many expected rows, but pages read only a few of them. For the same
    # reason it would start other processes, which takes longer than most of these queries. A process that waits for a
    # lock blocks others, so it fails and retries, as with SQLite.
    _OPTIONS = DATABASES["default"].setdefault("OPTIONS", {})
    _OPTIONS.setdefault("options", f"-c jit=off -c max_parallel_workers_per_gather=0 -c lock_timeout={_LOCK_WAIT_S}s")
    _OPTIONS.setdefault("connect_timeout", _LOCK_WAIT_S)
    # After a restart of PostgreSQL, each kept connection would fail once more.
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# DATABASE_REPLICA_URL (address): A PostgreSQL server that replicates that of DATABASE_URL. Pages and GET requests of
# the REST API read from it ([read replica](operations/install.md#read-replica)). Only the web server uses it.
if DATABASE_REPLICA_URL := os.environ.get("DATABASE_REPLICA_URL", ""):
    DATABASES["replica"] = DATABASES["default"] | dj_database_url.parse(DATABASE_REPLICA_URL, conn_max_age=600)
    DATABASES["replica"]["OPTIONS"] = DATABASES["default"]["OPTIONS"] | DATABASES["replica"].get("OPTIONS", {})
    DATABASES["replica"]["TEST"] = {"MIRROR": "default"}
    DATABASE_ROUTERS = ["scheduler_admin.core.database.replica.Router"]
    MIDDLEWARE.insert(1, "scheduler_admin.core.database.replica.reading")

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",  # rejects all passwords after too many wrong ones
    "scheduler_admin.accounts.doors.PeopleBackend",
    "scheduler_admin.accounts.oidc.Backend",
]
# SIGN_IN_FAILURES (passwords): Wrong passwords for a username from one address, after which that username cannot sign
# in from there ([Wrong passwords](operations/people.md#wrong-passwords)). The default allows for honest mistakes but
# not for guessing. 0: no limit.
AXES_FAILURE_LIMIT = read_number("SIGN_IN_FAILURES", 5)
AXES_ENABLED = bool(AXES_FAILURE_LIMIT)
# SIGN_IN_WAIT_MINUTES (minutes): How long such a lockout lasts after the last wrong password that counted. Earlier
# wrong passwords are forgotten after the same time. At least 1.
AXES_COOLOFF_TIME = timedelta(minutes=read_number("SIGN_IN_WAIT_MINUTES", 15))
if not AXES_COOLOFF_TIME:  # django-axes would lock out forever
    raise ImproperlyConfigured("SIGN_IN_WAIT_MINUTES is 0. It must be at least 1.")
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]  # with the username alone, anybody could lock out anybody
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # the lockout ends at the announced time
AXES_CLIENT_IP_CALLABLE = "scheduler_admin.accounts.sign_in.attempts.address_of"
AXES_WHITELIST_CALLABLE = "scheduler_admin.accounts.sign_in.attempts.without_password"
AXES_LOCKOUT_CALLABLE = "scheduler_admin.accounts.sign_in.lockout.answer"
AXES_DISABLE_ACCESS_LOG = True  # its table would grow without limit
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username", "csrfmiddlewaretoken"]  # users may type the password into the username field
# OIDC_ISSUER (address): Exact `issuer` of the OpenID provider for [single
# sign-on](operations/people.md#single-sign-on). The addresses below are listed in its
# `/.well-known/openid-configuration`.
# OIDC_CLIENT_ID (text): ID of the client that is registered with the provider.
# OIDC_CLIENT_SECRET (text): Secret of that client.
# OIDC_AUTHORIZATION_ENDPOINT (address): `authorization_endpoint`, where users sign in.
# OIDC_TOKEN_ENDPOINT (address): `token_endpoint`, which the site calls.
# OIDC_JWKS_ENDPOINT (address): `jwks_uri`, which has the keys of the provider.
# OIDC_END_SESSION_ENDPOINT (address): `end_session_endpoint`. If it is set, users who sign out can also sign out of
# the provider.
OIDC_ISSUER = os.environ.get("OIDC_ISSUER", "")
OIDC_RP_CLIENT_ID = read_with_issuer("OIDC_CLIENT_ID")
OIDC_RP_CLIENT_SECRET = read_with_issuer("OIDC_CLIENT_SECRET")
OIDC_OP_AUTHORIZATION_ENDPOINT = read_with_issuer("OIDC_AUTHORIZATION_ENDPOINT", address=True)
OIDC_OP_TOKEN_ENDPOINT = read_with_issuer("OIDC_TOKEN_ENDPOINT", address=True)
OIDC_OP_JWKS_ENDPOINT = read_with_issuer("OIDC_JWKS_ENDPOINT", address=True)
OIDC_OP_USER_ENDPOINT = ""  # all facts about a user come from the signed ID token
OIDC_END_SESSION_ENDPOINT = os.environ.get("OIDC_END_SESSION_ENDPOINT", "")
# OIDC_NAME (text): Name of the provider on the sign-in page.
# OIDC_SCOPES (scopes, separated by blanks): Scopes to request.
# OIDC_GROUPS_CLAIM (claim): Claim of the ID token that contains the groups.
# OIDC_SIGN_ALGORITHM (`RS256` or `ES256`): Signature algorithm of the provider. Algorithms that sign with the client
# secret are not supported.
OIDC_NAME = os.environ.get("OIDC_NAME", "") or OIDC_ISSUER
OIDC_RP_SCOPES = os.environ.get("OIDC_SCOPES") or "openid email profile"
OIDC_GROUPS_CLAIM = os.environ.get("OIDC_GROUPS_CLAIM") or "groups"
OIDC_RP_SIGN_ALGO = os.environ.get("OIDC_SIGN_ALGORITHM") or "RS256"
if OIDC_RP_SIGN_ALGO not in {"RS256", "ES256"}:
    raise ImproperlyConfigured(f"OIDC_SIGN_ALGORITHM is {OIDC_RP_SIGN_ALGO}. It must be RS256 or ES256.")
OIDC_USE_PKCE = True
OIDC_TIMEOUT = 10
OIDC_AUTHENTICATION_CALLBACK_URL = "web:oidc_callback"
OIDC_RENEW_ID_TOKEN_EXPIRY_SECONDS = 900  # afterwards, a page view renews the session in the background
# TOKEN_REVIEW_CLUSTER (cluster): Cluster whose service account and user
# [tokens](operations/people.md#tokens-of-a-cluster) can be used with the REST API.
# TOKEN_REVIEW_AUDIENCES (audiences, comma-separated): Audiences of which a token must have one, so that the default
# token of a pod is not enough.
TOKEN_REVIEW_CLUSTER = os.environ.get("TOKEN_REVIEW_CLUSTER", "")
TOKEN_REVIEW_AUDIENCES = (os.environ.get("TOKEN_REVIEW_AUDIENCES") or "scheduler-admin").split(",")
# ISSUER_NETWORKS (networks such as `10.1.0.0/16`, comma-separated): Private networks in which issuers of
# [workload identities](operations/people.md#pipelines-without-a-stored-token) can be, such as a GitLab of your own.
ISSUER_NETWORKS = read_networks("ISSUER_NETWORKS")
# ENGINE_SERVICE_ACCOUNT (NAMESPACE/NAME): Service account of the engine's pods, if web uses another one, as in the
# Helm chart, which sets it. A check of the cluster in which they run then checks the permissions of this account.
ENGINE_SERVICE_ACCOUNT = read_service_account("ENGINE_SERVICE_ACCOUNT")
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
# STATIC_ROOT (path): Folder where collectstatic puts files. The image sets it.
STATIC_ROOT = Path(os.environ.get("STATIC_ROOT", BASE_DIR / "staticfiles"))
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "scheduler_admin.site.assets.PackageFinder",
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
# BEHIND_TLS_PROXY (0 or 1): 1 if a single proxy in front of the site sets `X-Forwarded-Proto` itself and adds the
# client address to `X-Forwarded-For`. With 0, both headers are ignored, because any client can send them.
if read_flag("BEHIND_TLS_PROXY"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "scheduler_admin.accounts.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["scheduler_admin.rest.media.JsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "scheduler_admin.rest.openapi.views.RestSchema",
    "DEFAULT_VERSIONING_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,  # only the Accept header selects the format of a response
    "NUM_PROXIES": int(read_flag("BEHIND_TLS_PROXY")),  # trusted proxies that set X-Forwarded-For
}
# API_RATE (requests per minute): Requests that a token or a user can send to the REST API. 0: no limit.
# API_RATE_ANONYMOUS (requests per minute): Requests without a valid token that an address can send to the REST API,
# which includes guesses. 0: no limit.
API_RATE = read_number("API_RATE", 1200)
API_RATE_ANONYMOUS = read_number("API_RATE_ANONYMOUS", 60)
# A tree that is pasted, or sent with an idempotency key, is read at once; see LARGEST in engine.formats.registry. All
# other forms and bodies are limited before they are read.
DATA_UPLOAD_MAX_MEMORY_SIZE = 17 * 2**20
# UPLOAD_MB_AN_HOUR (MB): How much one user can upload within an hour in files larger than 1 MB. 0: no limit.
UPLOAD_MB_AN_HOUR = read_number("UPLOAD_MB_AN_HOUR", 500)
# WORK_S_A_MINUTE (seconds): CPU time of a web process that a token or a user can use within a minute. 0: no limit.
WORK_S_A_MINUTE = read_number("WORK_S_A_MINUTE", 20)
# FORECAST_WORK_S (seconds): CPU time for one forecast of a tree. A forecast that needs more is stopped, and the
# response says so. 0: no limit.
FORECAST_WORK_S = read_number("FORECAST_WORK_S", 30)
SPECTACULAR_SETTINGS = {
    # Generators name their package after the title. It must not be that of our own client, scheduler_admin_client.
    "TITLE": "Scheduler Admin REST API",
    "DESCRIPTION": "Queue trees, their usage against guarantees, and every preemption decision with its reason.",
    "VERSION": "1.0",  # of the API, not of the product: see docs/api.md
    "LICENSE": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    "SERVERS": [{"url": "/", "description": "This site"}],
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,  # a text that can be empty in responses must not be empty in requests
    "PATH_CONVERTER_OVERRIDES": {"object": str},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "scheduler_admin.rest.openapi.rules.describe_all",
        "scheduler_admin.notifications.api.webhooks.describe_webhooks",
    ],
    "WEBHOOKS": "scheduler_admin.notifications.api.webhooks.WEBHOOKS",
    "ENUM_NAME_OVERRIDES": {
        "BorderReasonEnum": "scheduler_admin.fences.api.fences.REASONS",
        "NotificationChannelKind": "scheduler_admin.notifications.models.Channel.Kind",
        "ComparisonState": "scheduler_admin.comparisons.models.Comparison.State",
        "MembershipRoleEnum": "scheduler_admin.accounts.models.Membership.Role",
        "UserRoleEnum": "scheduler_admin.accounts.models.User.Role",
        "DecisionStepKindEnum": "scheduler_admin.decisions.models.Step.Kind",
        "DecisionState": "scheduler_admin.decisions.models.Decision.State",
        "NotificationState": "scheduler_admin.notifications.models.Notification.State",
        "PreemptionPolicyEnum": "scheduler_admin.rest.fields.QUEUE_POLICIES",
        "PodPreemptionPolicy": "scheduler_admin.priority_classes.api.serializers.POLICIES",
        "VictimState": "scheduler_admin.decisions.models.Victim.State",
        "GroupKind": "scheduler_admin.decisions.api.serializers.GROUP_KINDS",
    },
}

# REDIS_URL (address): Redis for Celery and for counting REST API requests: `redis://host:6379/0`, or
# `redis+socket:///path` for a Unix socket. Compose sets it, and so does the chart if it installs Redis.
REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
CELERY_BROKER_URL = REDIS_URL
_REDIS_CACHE = {
    "BACKEND": "django.core.cache.backends.redis.RedisCache",
    "LOCATION": REDIS_URL.replace("redis+socket://", "unix://", 1),
}
_SOON = {"socket_timeout": 0.5, "socket_connect_timeout": 0.5}
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Request counters that all web processes share.
    "limits": {**_REDIS_CACHE, "OPTIONS": _SOON},
    # Documents that people preview before they import them.
    "documents": {
        **_REDIS_CACHE,
        "OPTIONS": {**_SOON, "serializer": "scheduler_admin.queues.services.previews.TextSerializer"},
    },
}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "housekeeping"
# Tasks of one cluster go to the worker that owns it; see scheduler_admin.clusters.watching.ownership.
CELERY_TASK_ROUTES = {
    "scheduler_admin.comparisons.tasks.run_comparison": {"queue": "comparisons"},
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # retry forever; the delay grows from two seconds to half a minute
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # Redis keeps no copy of running tasks: beat sends a lost task again, or it has expired.
    "ack_emulation": False,
    "socket_timeout": 10,
    "socket_connect_timeout": 10,
    "health_check_interval": 10,  # a dead connection is closed after twice this time
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = BEAT_SCHEDULE

# OTEL_EXPORTER_OTLP_ENDPOINT (address): Address of an OpenTelemetry collector, for
# [traces](operations/monitoring.md#traces). Without it, none are sent.
OTEL_EXPORTER_OTLP_ENDPOINT = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")  # OpenTelemetry reads these itself
# OTEL_TRACES_SAMPLER (sampler): Which traces are sent, such as `parentbased_traceidratio`.
OTEL_TRACES_SAMPLER = os.environ.get("OTEL_TRACES_SAMPLER", "parentbased_always_on")
# OTEL_TRACES_SAMPLER_ARG (part): For a sampler with a ratio, the part of the traces that is sent, such as `0.01`.
OTEL_TRACES_SAMPLER_ARG = os.environ.get("OTEL_TRACES_SAMPLER_ARG", "")
# LOG_LEVEL (`DEBUG`, `INFO`, `WARNING` or `ERROR`): Lowest level of log messages, which are written to standard
# error.
# LOG_FORMAT (`text` or `json`): Form of the log. `json` writes an object on each line, for log collectors. In both, a
# line has the ids of the request, the cluster, the pass and the decision that it belongs to.
LOGGING = logging_settings(
    read_choice("LOG_LEVEL", "INFO", "DEBUG", "WARNING", "ERROR"), read_choice("LOG_FORMAT", "text", "json")
)
