"""Settings, all from variables: an embedded and a production installation differ by these only (docs: README)."""

from pathlib import Path
from typing import Any

import environ
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from pipeline_web.addresses import host_written, hosts_answered, origin_of, own_address
from pipeline_web.checked import choice, decimal, objects, switch, whole
from pipeline_web.databases import database_settings
from pipeline_web.keys import disk_name, encryption_keys, key_read_or_created
from pipeline_web.leases import lease_settings
from pipeline_web.variables import VARIABLES, running_variables

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
env.ENVIRON = VARIABLES

#: "embedded" (one machine, SQLite, generated keys) or "production" (every key and address given).
MODE = env.str("PIPELINE_MODE", "embedded")
EMBEDDED = MODE == "embedded"
DEBUG = switch("DEBUG", False)

DATA_DIR = Path(env.str("DATA_DIR", str(BASE_DIR / "data"))).resolve()

SECRET_KEY = env.str("SECRET_KEY", "")
ENCRYPTION_KEYS = encryption_keys(env.list("ENCRYPTION_KEYS", default=[]))
if EMBEDDED:
    for _name, _value in running_variables(DATA_DIR).items():
        VARIABLES.setdefault(_name, _value)
    SECRET_KEY = SECRET_KEY or key_read_or_created(DATA_DIR / "keys" / "secret_key")
    ENCRYPTION_KEYS = ENCRYPTION_KEYS or [key_read_or_created(DATA_DIR / "keys" / "encryption_key")]
elif len(SECRET_KEY) < 40 or not ENCRYPTION_KEYS:
    raise ImproperlyConfigured("production needs SECRET_KEY (40 characters or more) and ENCRYPTION_KEYS: set both in the environment")

HOST = env.str("HOST", "127.0.0.1")
PORT = whole("PORT", 8000, least=1, most=65535)
ALLOWED_HOSTS = hosts_answered(env.list("ALLOWED_HOSTS", cast=str.strip, default=[]), HOST)
PUBLIC_URL = env.str("PUBLIC_URL", "") or f"http://{host_written(HOST)}:{PORT}"
#: The address people type is ours, also where TLS ends at a proxy and a request comes without it.
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", cast=origin_of, default=[origin_of(PUBLIC_URL)] if "://" in PUBLIC_URL else [])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "csp",
    "jobs",
    "checkpoints",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
]

ROOT_URLCONF = "pipeline_web.urls"
ASGI_APPLICATION = "pipeline_web.asgi.application"

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
                "csp.context_processors.nonce",
            ]
        },
    }
]


DATABASES = {
    "default": database_settings(
        env.str("DATABASE_URL", ""), whole("DATABASE_CONN_MAX_AGE", 60), otherwise=DATA_DIR / "pipeline_web.sqlite3"
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", "redis://127.0.0.1:6379/0")
#: The layer waits five seconds for a message; the client's own time-out, as long by default, would now and then cut an idle socket.
_CHANNEL_REDIS = {"address": REDIS_URL, "socket_timeout": 20, "socket_connect_timeout": 5}
CHANNEL_LAYERS = {
    "default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [_CHANNEL_REDIS], "capacity": 1000, "expiry": 30}}
}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_DEFAULT_QUEUE = "pipeline"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
#: In which it is two in the night, when checkpoints are cleaned up, and three, when the history is.
CELERY_TIMEZONE = env.str("CLEANUP_TIME_ZONE", "UTC")
#: Tasks are short; one that hangs must not keep its place for ever.
CELERY_TASK_TIME_LIMIT = 1800
#: A connection that dies without a word is noticed and opened anew within about 20 s, by worker, beat and web.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": 15,
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "health_check_interval": 10,
}

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "jobs.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated", "jobs.api.authentication.TokenScopePermission"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "jobs.api.negotiation.JsonAlways",
    "URL_FORMAT_OVERRIDE": None,
    "DEFAULT_PARSER_CLASSES": ["jobs.api.parsers.BoundedJsonParser"],
    "DEFAULT_SCHEMA_CLASS": "jobs.api.schema.AddressedAutoSchema",
    "EXCEPTION_HANDLER": "jobs.api.errors.exception_response",
    "DEFAULT_PAGINATION_CLASS": "jobs.api.pagination.CreateTimeCursorPagination",
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Pipeline Web",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "OAS_VERSION": "3.1.0",
    "POSTPROCESSING_HOOKS": ["jobs.api.schema.live_messages"],
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/sign-in"
LOGIN_REDIRECT_URL = "/"
CSRF_FAILURE_VIEW = "jobs.api.sign_in.csrf_refused"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_COOKIES = switch("SECURE_COOKIES", not EMBEDDED)
SESSION_COOKIE_SECURE = SECURE_COOKIES
CSRF_COOKIE_SECURE = SECURE_COOKIES
#: uvicorn's own variable: the proxies whose word it takes for where somebody asks from. Here it is only told.
FORWARDED_ALLOW_IPS = env.str("FORWARDED_ALLOW_IPS", "127.0.0.1")
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "worker-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
FRONTEND_DIST = BASE_DIR / "frontend" / "dist"
STATICFILES_DIRS = [FRONTEND_DIST] if FRONTEND_DIST.is_dir() else []
WHITENOISE_USE_FINDERS = EMBEDDED
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# ── the engine ──────────────────────────────────────────────────────────────
SPARK_MASTER = env.str("SPARK_MASTER", "local[*]")
# Whole, as the archive of Java's classes is made for: the JVM compares paths as they are written.
SPARK_JARS_DIR = Path(env.str("SPARK_JARS_DIR", str(BASE_DIR / ".venv" / "spark-jars"))).resolve()
SPARK_DRIVER_MEMORY = env.str("SPARK_DRIVER_MEMORY", "2g")
SPARK_DRIVER_JAVA_OPTIONS = env.str("SPARK_DRIVER_JAVA_OPTIONS", "")
#: Live Spark folders; shared by all hosts when the master is not local.
CHECKPOINT_ROOT = Path(env.str("CHECKPOINT_ROOT", str(DATA_DIR / "checkpoints")))
#: Whether every worker's host sees the same CHECKPOINT_ROOT; if not, an execution stays on the host whose disk holds its position.
CHECKPOINT_ROOT_SHARED = switch("CHECKPOINT_ROOT_SHARED", not SPARK_MASTER.startswith("local"))
STORAGE_HOST = env.str("STORAGE_HOST", "") or disk_name(DATA_DIR / "keys" / "storage_host" if EMBEDDED else None)
LOG_DIR = Path(env.str("LOG_DIR", str(DATA_DIR / "logs")))
#: Folders that file nodes and SQLite connections of the projects that share files may use (after realpath).
FILE_ROOTS = [Path(root).resolve() for root in env.list("FILE_ROOTS", cast=str.strip, default=[str(DATA_DIR / "files")])]
#: Where each project has a folder of its own, called as the project is.
PROJECT_FILES = Path(env.str("PROJECT_FILES", str(DATA_DIR / "project-files"))).resolve()
_OWN_ADDRESS = own_address(HOST, PORT)
#: `host:port` pairs that HTTP nodes may reach although the address is private; the embedded start reaches its own demo API as well.
HTTP_ALLOWED_HOSTS = [*env.list("HTTP_ALLOWED_HOSTS", cast=str.strip, default=[]), *([_OWN_ADDRESS] if EMBEDDED else [])]
#: JSON files with the JDBC drivers and the kinds of file stores that connections may use; none where they are empty.
JDBC_DRIVERS = Path(env.str("JDBC_DRIVERS")).resolve() if env.str("JDBC_DRIVERS", "") else None
FILE_STORES = Path(env.str("FILE_STORES")).resolve() if env.str("FILE_STORES", "") else None
#: Where the examples find the demo API.
DEMO_API_URL = f"http://{_OWN_ADDRESS}/demo/api"
#: Token of the demo API; empty where the demo does not exist.
DEMO_API_TOKEN = (env.str("DEMO_API_TOKEN", "") or key_read_or_created(DATA_DIR / "keys" / "demo_token")) if EMBEDDED else ""

#: Memory of a driver that only answers the editor.
SPARK_INTERACTIVE_MEMORY = env.str("SPARK_INTERACTIVE_MEMORY", "1g")
#: Driver processes of each worker: shared by executions, kept for the editor's questions, and at most for executions of their own.
SHARED_DRIVERS = whole("SHARED_DRIVERS", 1)
INTERACTIVE_DRIVERS = whole("INTERACTIVE_DRIVERS", 1)
DEDICATED_DRIVERS = whole("DEDICATED_DRIVERS", 4)
#: Executions that a shared driver runs at a time.
DRIVER_SLOTS = whole("DRIVER_SLOTS", 30, least=1)
LEASE_SECONDS, LEASE_RENEW_SECONDS = lease_settings(whole("LEASE_SECONDS", 15), whole("LEASE_RENEW_SECONDS", 3))
CLAIM_POLL_SECONDS = decimal("CLAIM_POLL_SECONDS", 1.0, least=0.1)
START_TIMEOUT_SECONDS = whole("START_TIMEOUT_SECONDS", 300, least=1)
#: In a preview, a person's Python is stopped after this; the editor itself waits for a minute.
PREVIEW_CODE_SECONDS = decimal("PREVIEW_CODE_SECONDS", 30.0, least=1)
#: So much memory a person's Python may take in each worker that answers the editor; 0 sets no limit.
PREVIEW_CODE_MEGABYTES = whole("PREVIEW_CODE_MEGABYTES", 2048, zero="no limit")
STOP_GRACE_SECONDS = whole("STOP_GRACE_SECONDS", 30)
#: A worker that took no task for so long, though some waited, ends itself to be started anew.
WORKER_SILENT_SECONDS = whole("WORKER_SILENT_SECONDS", 60, least=1)
RECONCILE_SECONDS = decimal("RECONCILE_SECONDS", 2.0, least=0.1)
#: Connections that jobs use are tried so often; 0 never.
CONNECTION_CHECK_SECONDS = decimal("CONNECTION_CHECK_SECONDS", 300.0, zero="never")
#: Whether who asks from this machine needs no token for /metrics. Behind a proxy on the same machine everybody seems to.
METRICS_WITHOUT_TOKEN = switch("METRICS_WITHOUT_TOKEN", EMBEDDED)
#: The largest archive of a checkpoint that is taken, and the most files in one.
CHECKPOINT_ARCHIVE_BYTES = whole("CHECKPOINT_ARCHIVE_BYTES", 10 * 1024**3)
CHECKPOINT_ARCHIVE_FILES = whole("CHECKPOINT_ARCHIVE_FILES", 100_000)
#: Of jobs that say nothing else: seconds between checkpoints and rows between them (0 none), how long one may take, how long it is
#: quiet after one, how many may fail in a row (-1 any number), and what becomes of them at the end of an execution (keep or delete).
CHECKPOINT_INTERVAL_SECONDS = decimal("CHECKPOINT_INTERVAL_SECONDS", 60.0, zero="none by time")
CHECKPOINT_ROWS = whole("CHECKPOINT_ROWS", 0, zero="none by rows")
CHECKPOINT_TIMEOUT_SECONDS = decimal("CHECKPOINT_TIMEOUT_SECONDS", 300.0, least=1)
CHECKPOINT_MIN_PAUSE_SECONDS = decimal("CHECKPOINT_MIN_PAUSE_SECONDS", 0.0)
CHECKPOINT_TOLERABLE_FAILURES = whole("CHECKPOINT_TOLERABLE_FAILURES", -1, least=-1)
#: The store of checkpoints by its name: local, database, the scheme of an address below, or one that a package brings.
CHECKPOINT_STORAGE = env.str("CHECKPOINT_STORAGE", "local").lower()
#: Stores beyond the local disk, such as s3://bucket/folder; several by comma, one of each scheme.
CHECKPOINT_STORAGE_URLS = [url.rstrip("/") for url in env.list("CHECKPOINT_STORAGE_URL", cast=str.strip, default=[]) if url]
#: How to sign in to the S3 among them: without a key, as this machine is signed in; without an endpoint, Amazon's.
CHECKPOINT_STORAGE_KEY = env.str("CHECKPOINT_STORAGE_KEY", "")
CHECKPOINT_STORAGE_SECRET = env.str("CHECKPOINT_STORAGE_SECRET", "")
CHECKPOINT_STORAGE_ENDPOINT = env.str("CHECKPOINT_STORAGE_ENDPOINT", "")
CHECKPOINT_STORAGE_REGION = env.str("CHECKPOINT_STORAGE_REGION", "")
#: What else the library of a store is told: {"hdfs": {"user": "pipeline"}}.
CHECKPOINT_STORAGE_OPTIONS: dict[str, dict[str, Any]] = objects("CHECKPOINT_STORAGE_OPTIONS")
#: The largest checkpoint that goes into the database.
CHECKPOINT_DATABASE_BYTES = whole("CHECKPOINT_DATABASE_BYTES", 4 * 1024**2)
CHECKPOINTS_ON_CANCEL = choice("CHECKPOINTS_ON_CANCEL", "keep", ("keep", "delete"))
CHECKPOINTS_ON_COMPLETION = choice("CHECKPOINTS_ON_COMPLETION", "keep", ("keep", "delete"))
CHECKPOINTS_KEPT = whole("CHECKPOINTS_KEPT", 10, least=1)
CHECKPOINTS_KEPT_HOURS = decimal("CHECKPOINTS_KEPT_HOURS", 7 * 24.0, most=876_000, zero="for ever")
CHECKPOINTS_KEPT_BYTES = whole("CHECKPOINTS_KEPT_BYTES", 0, zero="any room")
#: Days after which finished executions, rejected rows and past times of schedules are forgotten, and rows of deleted checkpoints; 0 never.
HISTORY_KEPT_DAYS = whole("HISTORY_KEPT_DAYS", 90, most=36_500, zero="for ever")
CHECKPOINT_HISTORY_DAYS = whole("CHECKPOINT_HISTORY_DAYS", 30, most=36_500, zero="for ever")
#: Newest rejected rows of each node of an execution that stay; 0 any number.
REJECTED_ROWS_KEPT = whole("REJECTED_ROWS_KEPT", 10_000, zero="any number")

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        # 503 is how /readyz says "not yet", several times a second during a start.
        "not_yet": {"()": "django.utils.log.CallbackFilter", "callback": lambda record: getattr(record, "status_code", 0) != 503}
    },
    "formatters": {"line": {"format": "%(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["not_yet"]}},
    "root": {"handlers": ["console"], "level": choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))},
}
