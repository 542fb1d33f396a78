"""Apps, middleware, templates, static files: what makes this a Django project."""

from pathlib import Path

from config.env import env

BASE_DIR = Path(__file__).resolve().parent.parent.parent

DEBUG = env.DJANGO_DEBUG

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "config.web.admin_site.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",  # Django 6.1 demands it for ArrayField and BrinIndex
    "django.contrib.staticfiles",
    "axes",
    "django_celery_results",
    "django_htmx",
    "django_structlog",
    "ninja",
    "config",
    "baton_messaging",
    "baton_messaging.ui",
    "orders",
    "inventory",
    "notifications",
]

MIDDLEWARE = [
    "config.web.request_log.RequestLogMiddleware",
    "baton_messaging.middleware.correlate",
    "config.web.content_security.ContentSecurityMiddleware",  # for each answer, whoever gives it
    "config.web.probes.ProbeMiddleware",  # before what asks for a Host or for HTTPS
    "config.web.https.EndlessRedirectMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.web.private_answers.PrivateAnswersMiddleware",  # behind the static files, which may be kept
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "config.web.body_limit.BodyLimitMiddleware",  # before anything reads the body, after the language is known
    "config.web.query_text.QueryTextMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.web.polled_login.PolledLoginMiddleware",
    "axes.middleware.AxesMiddleware",  # last, as its documentation asks
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = DEBUG  # in debug files are served from where they lie; without it, `collectstatic` first

# Where links in mails lead: a worker has no request to take the site's address from.
PUBLIC_URL = env.PUBLIC_URL or f"http://{env.WEB_HOST}:{env.WEB_PORT}"
FLOWER_URL = env.FLOWER_URL or f"http://{env.FLOWER_HOST}:{env.FLOWER_PORT}"

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "home"
