"""The admin's look (django-unfold)."""

UNFOLD = {
    "SITE_TITLE": "Baton",
    "SITE_HEADER": "Baton",
    "SITE_SYMBOL": "relay",
    "SHOW_VIEW_ON_SITE": True,
}
