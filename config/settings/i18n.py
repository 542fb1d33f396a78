"""Languages and time: English and Japanese; every time is aware and in UTC."""

from django.utils.translation import gettext_lazy as _

from config.settings.base import BASE_DIR

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("ja", _("Japanese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
FORMAT_MODULE_PATH = "config.formats"
TIME_ZONE = "UTC"
