"""Secrets, hosts, cookies: the default is the safe one, debug loosens it."""

from config.env import env

SECRET_KEY = env.DJANGO_SECRET_KEY
SECRET_KEY_FALLBACKS = env.DJANGO_SECRET_KEY_FALLBACKS  # old keys: what they signed is still accepted
ALLOWED_HOSTS = env.DJANGO_ALLOWED_HOSTS or (["*"] if env.DJANGO_DEBUG else [])

METRICS_TOKEN = env.METRICS_TOKEN  # who may read /metrics: baton_messaging/observability/prometheus/views.py

SECURE_SSL_REDIRECT = not env.DJANGO_DEBUG
SECURE_HSTS_SECONDS = 0 if env.DJANGO_DEBUG else 31_536_000  # a year, the usual minimum of preload lists
SECURE_HSTS_INCLUDE_SUBDOMAINS = not env.DJANGO_DEBUG
SECURE_HSTS_PRELOAD = not env.DJANGO_DEBUG
SESSION_COOKIE_SECURE = not env.DJANGO_DEBUG
CSRF_COOKIE_SECURE = not env.DJANGO_DEBUG
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576  # bytes; the largest order (100 lines) is about 12 kB

CSRF_FAILURE_VIEW = "config.web.error_pages.csrf_failure"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
