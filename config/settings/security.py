"""Secrets, hosts, proxies, cookies: the default is the safe one, debug loosens it."""

from datetime import timedelta
from urllib.parse import urlsplit

from config.env import env
from config.settings.base import PUBLIC_URL

SECRET_KEY = env.DJANGO_SECRET_KEY
SECRET_KEY_FALLBACKS = env.DJANGO_SECRET_KEY_FALLBACKS  # old keys: what they signed is still accepted

# --- Names: the site's own address needs no further variable ---------------------------------------------------------
_public = urlsplit(PUBLIC_URL)
_LOOPBACK = ("localhost", ".localhost", "127.0.0.1", "[::1]")  # no page elsewhere can have these for its own name
_own_names = {urlsplit(env.PUBLIC_URL).hostname or ""}
if env.DJANGO_DEBUG:
    _own_names |= {env.WEB_HOST, *_LOOPBACK}
ALLOWED_HOSTS = [*env.DJANGO_ALLOWED_HOSTS, *sorted(_own_names - {""})]
CSRF_TRUSTED_ORIGINS = [*env.DJANGO_TRUSTED_ORIGINS, f"{_public.scheme}://{_public.netloc.rpartition('@')[2]}"]

# --- Proxies: what they say counts only where there are any ----------------------------------------------------------
PROXY_COUNT = env.PROXY_COUNT  # config/web/client_address.py
USE_X_FORWARDED_HOST = env.PROXY_COUNT > 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.PROXY_COUNT else None

# --- HTTPS, unless the site says of itself that it has none ----------------------------------------------------------
_IS_HTTPS = not env.DJANGO_DEBUG and not env.PUBLIC_URL.startswith("http://")
SECURE_SSL_REDIRECT = _IS_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^metrics$"]  # Prometheus asks the process, not the proxy; /healthz: config/web/probes.py
SECURE_HSTS_SECONDS = env.DJANGO_HSTS_SECONDS if _IS_HTTPS else 0
# Not for other names below this one, and in no browser's built-in list: neither can be taken back from here.
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = False
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # which ask for both
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = _IS_HTTPS
SESSION_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True

METRICS_TOKEN = env.METRICS_TOKEN  # who may read /metrics: baton_messaging/observability/prometheus/views.py

# --- Logging in: throttled by account and by address (django-axes) ---------------------------------------------------
AUTHENTICATION_BACKENDS = ["config.web.login_throttle.LoginThrottle", "django.contrib.auth.backends.ModelBackend"]
AXES_LOCKOUT_PARAMETERS = ["username", "ip_address"]  # either
AXES_FAILURE_LIMIT = 10  # wrong passwords (count), then ...
AXES_COOLOFF_TIME = timedelta(minutes=5)  # ... that long not even the right one is looked at
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # or an attacker who goes on keeps the owner out for ever
AXES_CLIENT_IP_CALLABLE = "config.web.client_address.client_address"
AXES_LOCKOUT_CALLABLE = "config.web.error_pages.too_many_logins"
AXES_DISABLE_ACCESS_LOG = True  # of who logged in: personal data that nobody asks for
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576  # bytes; the largest order (100 lines) is about 12 kB

DEFAULT_EXCEPTION_REPORTER = "config.web.error_report.ErrorReporter"
DEFAULT_EXCEPTION_REPORTER_FILTER = "config.web.error_report.ErrorReportFilter"
CSRF_FAILURE_VIEW = "config.web.error_pages.csrf_failure"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
