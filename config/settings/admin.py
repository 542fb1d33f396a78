"""The admin's look (django-unfold)."""

from typing import Any

from django.templatetags.static import static

# The pages' green, from light to dark (static/baton.css).
_GREENS = ("97%", "93%", "87%", "80%", "70%", "60%", "48%", "42%", "36%", "30%", "22%")
_STEPS = ("50", "100", "200", "300", "400", "500", "600", "700", "800", "900", "950")


def _icon(_request: Any) -> str:
    return static("baton.svg")  # known only once the settings are


def _styles_script(_request: Any) -> str:
    return static("admin_styles.js")


def _frame_script(_request: Any) -> str:
    return static("baton_messaging/frame.js")


def _styles(_request: Any) -> str:
    return static("admin.css")


UNFOLD = {
    "SITE_TITLE": "Baton",
    "SITE_HEADER": "Baton",
    "SITE_ICON": _icon,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _icon}],
    "SCRIPTS": [_styles_script, _frame_script],
    "STYLES": [_styles],
    "SHOW_LANGUAGES": True,
    "SHOW_VIEW_ON_SITE": True,
    "SIDEBAR": {"navigation": "config.web.admin_menu.menu"},
    "COLORS": {"primary": {step: f"oklch({light} 0.08 178)" for step, light in zip(_STEPS, _GREENS, strict=True)}},
}
