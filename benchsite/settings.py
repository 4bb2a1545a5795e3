"""The one settings file. The environment decides; a wrong value fails loudly.

STATE (default ./var) holds everything written at run time. DATABASE_URL and CELERY_BROKER_URL turn the embedded
default (SQLite, a broker on a socket under STATE) into production.
"""

from __future__ import annotations

import ipaddress
import logging
import os
from pathlib import Path
from typing import Any

import dj_database_url
from django.contrib.messages import constants as messages
from django.core.exceptions import ImproperlyConfigured

from benchsite.state import State

BASE_DIR = Path(__file__).resolve().parent.parent
STATE = State.from_environment(BASE_DIR)


def env_bool(name: str, default: bool) -> bool:
    value = os.environ.get(name, "1" if default else "0").lower()
    if value not in ("0", "1", "true", "false"):
        raise ImproperlyConfigured(f"{name} must be 0 or 1, not {value!r}")
    return value in ("1", "true")


def env_number(name: str, default: int) -> int:
    value = os.environ.get(name) or str(default)
    if not value.isdecimal():
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}")
    return int(value)


def env_list(name: str) -> list[str]:
    return [item.strip() for item in os.environ.get(name, "").split(",") if item.strip()]


def env_networks(name: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    try:
        return [ipaddress.ip_network(item) for item in env_list(name)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be addresses or networks, as 10.0.0.0/8: {error}") from None


def env_secret(name: str) -> str:
    """The variable, or the content of the file that NAME_FILE names; empty when there is neither."""
    file = os.environ.get(f"{name}_FILE")
    if not file:
        return os.environ.get(name, "")
    if os.environ.get(name):
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; one of them counts")
    try:
        return Path(file).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{name}_FILE cannot be read: {error}") from None


def env_database(url: str) -> dict[str, Any]:
    """What is wrong is not repeated: the URL holds a password."""
    try:
        # A connection that a restart of the server has ended is noticed before it is used.
        found = dict(dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True))
    except ValueError:
        found = {}
    if found.get("ENGINE") not in ("django.db.backends.postgresql", "django.db.backends.sqlite3"):
        raise ImproperlyConfigured(
            "DATABASE_URL must be like postgres://user@host:5432/name or sqlite:////path/to/file"
        )
    return found


DEBUG = env_bool("DEBUG", False)
SECRET_KEY = env_secret("SECRET_KEY") or STATE.secret("secret_key")
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *env_list("ALLOWED_HOSTS")]
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
# Behind a TLS proxy: cookies over https only. The embedded default is plain http on a loopback address.
BEHIND_TLS = env_bool("BEHIND_TLS", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = BEHIND_TLS
# The authority that signed the site's certificate, where other machines do not know it: the install line carries it.
AUTHORITY_FILE = os.environ.get("AUTHORITY_FILE", "")
# Other programs of a host whose certificate is such a one may be plain http: browsers are not told otherwise.
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS and not AUTHORITY_FILE else 0
# Private networks within which the site is served over plain http: operators are told on every page.
PLAIN_HTTP = env_networks("PLAIN_HTTP")
# Asked from inside, without the proxy: health, and the API of agents, which use plain http on a loopback address only.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^api/agent/"]
# Who may tell in a header whom a request comes from (benchsite/limits.py).
TRUSTED_PROXIES = env_networks("TRUSTED_PROXIES")
CLIENT_ADDRESS_HEADER = os.environ.get("CLIENT_ADDRESS_HEADER") or "X-Forwarded-For"
RATE_LIMITS = env_bool("RATE_LIMITS", True)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
# Subdomains are not ours to decide about; without TLS there is nothing to redirect to and no secure cookie.
WITHOUT_TLS = [] if BEHIND_TLS else ["security.W004", "security.W008", "security.W012", "security.W016"]
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021", *WITHOUT_TLS]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "template_partials",
    "runs",
    "agents",
    "benchsite",
]

MIDDLEWARE = [
    "benchsite.limits.client_address",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Static files, which come before, are neither counted nor logged.
    "benchsite.requests.observed",
    # Pages and JSON are a tenth as long; what hides the tokens in a page from guesses by its length comes with it.
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    # Before anything reads the body.
    "benchsite.middleware.RoomForMore",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "benchsite.middleware.ClosedReading",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "benchsite.middleware.content_security_policy",
    "benchsite.middleware.ReadAgain",
    "django_htmx.middleware.HtmxMiddleware",
    "benchsite.limits.rate_limit",
    "benchsite.limits.body_limit",
]

ROOT_URLCONF = "benchsite.urls"
WSGI_APPLICATION = "benchsite.wsgi.application"

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
                "benchsite.context.context",
            ],
        },
    }
]

# WAL + IMMEDIATE + 20 s had no lock error where Django's defaults had hundreds; with FULL a commit waits for the disk
# (docs/decisions/0001). The web server waits 5 s: who asks comes again, its threads are few.
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;",
}
SQLITE: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(STATE.database), "CONN_MAX_AGE": 60}
# SQLite's file is not named by a URL: the path of STATE may hold any character.
DATABASE_URL = env_secret("DATABASE_URL")
DATABASES = {"default": env_database(DATABASE_URL) if DATABASE_URL else SQLITE}
if DATABASES["default"]["ENGINE"] == SQLITE["ENGINE"]:
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
    # A file also in tests: in memory it hides lock errors.
    DATABASES["default"]["TEST"] = {"NAME": str(STATE.path / "test.sqlite3")}
else:
    DATABASES["default"]["PASSWORD"] = env_secret("DATABASE_PASSWORD") or DATABASES["default"]["PASSWORD"]
    # A machine that swallows packets would hold every thread of the web server for minutes.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 5)

# As the style sheet calls them.
MESSAGE_TAGS = {messages.SUCCESS: "good", messages.WARNING: "warn", messages.ERROR: "bad"}

AUTH_USER_MODEL = "runs.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATIC_ROOT = STATE.path / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "benchsite.storage.ArtefactStorage", "OPTIONS": {"location": STATE.artefacts}},
    "staticfiles": {"BACKEND": os.environ.get("STATICFILES_BACKEND", "benchsite.storage.StaticFilesStorage")},
}

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024
# A comparison names up to 1,000 runs, and says how it is shown; a preview has four fields for each of 500 entries.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2_500
# An import says itself that 500 are too many.
DATA_UPLOAD_MAX_NUMBER_FILES = 1_000

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "runs.api.permissions.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["runs.api.permissions.PublicReadScopedWrite"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["runs.api.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "runs.api.errors.exception_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Benchsite API",
    "DESCRIPTION": "Store, run and compare database benchmarks.",
    "VERSION": "1",
    # Names of operations begin after it, whatever else has an address.
    "SCHEMA_PATH_PREFIX": "/api",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["runs.api.permissions.PublicReadScopedWrite"],
    # 3.1 is JSON Schema as it is: the upload document's own description is part of it.
    "OAS_VERSION": "3.1.1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "runs.api.schema.add_upload_document",
        "runs.api.schema.add_common_answers",
        "runs.api.examples.add",
    ],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

CELERY_BROKER_URL = env_secret("CELERY_BROKER_URL") or STATE.broker_url()
if not CELERY_BROKER_URL.startswith(("redis://", "rediss://", "redis+socket://")):
    raise ImproperlyConfigured("CELERY_BROKER_URL must be like redis://:password@host:6379/0")
# Who reaches the broker shall not stop workers with a message.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_CONSUMER = "benchsite.liveness:Consumer"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A broker that stands still must not make a page hang: the message may be lost, the database row is the truth.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 60, "socket_timeout": 1, "socket_connect_timeout": 1}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BEAT_SCHEDULER = "benchsite.liveness:Scheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 2
# Touched with each sign of life of worker or beat, where a container's health check looks at it.
ALIVE_FILE = os.environ.get("ALIVE_FILE")

# With less room than this on the disk of STATE new uploads and runs are refused (runs/space.py).
DISK_RESERVE_MB = env_number("DISK_RESERVE_MB", 200)

# The limit of files that are read as a stream, unpacked: logs of single transactions (runs/imports/sent.py).
IMPORT_STREAMED_MB = env_number("IMPORT_STREAMED_MB", 1024)

# Where commits of a system are shown: postgresql=https://example.org/commit/{commit}, by the slug of the DBMS or *.
COMMIT_URLS = dict(pair.partition("=")[::2] for pair in env_list("COMMIT_URLS"))
if any(not url.startswith("https://") for url in COMMIT_URLS.values()):
    raise ImproperlyConfigured("COMMIT_URLS must be DBMS=https://…/{commit}, several parted by commas")

# Who may see results without a login: everybody (1) or nobody (0).
PUBLIC_READ = env_bool("PUBLIC_READ", True)
# What new experiments, uploads and reports are: public, unlisted or private.
DEFAULT_VISIBILITY = os.environ.get("DEFAULT_VISIBILITY", "public")
if DEFAULT_VISIBILITY not in ("public", "unlisted", "private"):
    raise ImproperlyConfigured(f"DEFAULT_VISIBILITY must be public, unlisted or private, not {DEFAULT_VISIBILITY!r}")

# Whether agents may register without a one-time code; they wait for approval then.
OPEN_REGISTRATION = env_bool("OPEN_REGISTRATION", False)

# Whether two agents on one machine measure one after the other. Without it they disturb each other: for tests.
EXCLUSIVE_MACHINES = env_bool("EXCLUSIVE_MACHINES", True)

# Whether the first experiment is made, once per database (agents/reruns/first.py).
FIRST_RUN = env_bool("FIRST_RUN", True)

# Mail goes out by this server; without it no rule tells by e-mail.
EMAIL_HOST = os.environ.get("EMAIL_HOST", "")
EMAIL_PORT = env_number("EMAIL_PORT", 25)
EMAIL_HOST_USER = os.environ.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env_secret("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env_bool("EMAIL_USE_TLS", False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = os.environ.get("EMAIL_FROM") or "benchsite@localhost"
# Private networks that webhooks may call, also by plain http.
TELL_NETWORKS = env_networks("TELL_NETWORKS")

LOG_LEVEL = os.environ.get("LOG_LEVEL") or "INFO"
if LOG_LEVEL not in logging.getLevelNamesMapping():
    raise ImproperlyConfigured(f"LOG_LEVEL must be DEBUG, INFO, WARNING, ERROR or CRITICAL, not {LOG_LEVEL!r}")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}{request_id}: {message}", "style": "{"}},
    "filters": {"request": {"()": "benchsite.log.WithRequest"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request"]}},
    # The sweep runs every few seconds: two lines about each would be most of the worker's log.
    "loggers": {
        **{name: {"level": "WARNING"} for name in ("celery.worker.strategy", "celery.app.trace")},
        # Each request that waits for a thread, of which a page has several.
        "waitress.queue": {"level": "ERROR"},
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}
