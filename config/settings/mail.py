"""Mail: by default each mail is a file below the state directory."""

from config.env import env

EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = env.BATON_STATE_DIR / "mail"
DEFAULT_FROM_EMAIL = "shop@example.com"
