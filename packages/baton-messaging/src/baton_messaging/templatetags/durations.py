"""Filters ``duration`` and ``rate``: two digits that matter, with the unit."""

from django import template

from baton_messaging.health.wording import duration, two_digits

register = template.Library()
register.filter("duration", duration)
register.filter("rate", two_digits)
