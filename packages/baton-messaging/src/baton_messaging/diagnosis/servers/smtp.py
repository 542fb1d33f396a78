"""Replies of a mail server as a diagnosis: by code what it refuses to all of us, whose that is, and what mends it.

Of one recipient or one text a mail server complains when it is named them; that is the mail's fault, and its consumer's
team decides. What it says to a greeting, a login or a sender stops every mail: the platform's. *Source*. RFC 5321,
4954 and 3463; RFC 6647 (greylisting).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from baton_messaging.health.diagnosis import Text

_CODE: Final = re.compile(r"(?:^|SMTP code |[ (])([245]\d\d)(?=[ ).,]|$)")
_TLS_WANTED: Final = re.compile("STARTTLS|TLS|encrypt", re.IGNORECASE)

_LATER: Final = (
    _("{name} puts us off"),
    _(
        "Wait: it is tried again. If it goes on, ask those who run it to let this sender through (greylisting, a limit "
        "of the rate)."
    ),
)
_LOGIN: Final = (_("{name} refuses our login"), _("Correct user and password in EMAIL_URL, or have them given anew."))
_SENDER: Final = (
    _("{name} takes no mail from our sender"),
    _("Let it accept DEFAULT_FROM_EMAIL for this login, or name a sender there that it accepts."),
)
_SPEECH: Final = (
    _("{name} does not understand us"),
    _("Look whether host and port of EMAIL_URL lead to a mail server for sending (587 or 465)."),
)
#: By code: what it says of {name}, and the step.
REPLIES: Final[Mapping[int, tuple[Any, Text]]] = {
    421: (
        _("{name} takes no more connections for now"),
        _("Wait: it is tried again. If it goes on, let fewer workers send at a time, or ask those who run it."),
    ),
    450: _LATER,
    451: _LATER,
    452: (
        _("{name} has no room, or takes no more mails from us for now"),
        _("Wait: it is tried again. If it goes on, ask those who run it to make room or to raise our quota."),
    ),
    454: (
        _("{name} cannot check logins or begin TLS for now"),
        _("Wait: it is tried again. If it goes on, ask those who run it to look at its logins and its certificate."),
    ),
    530: (
        _("{name} wants a login before it takes a mail"),
        _("Give EMAIL_URL a user and a password."),
    ),
    534: (
        _("{name} wants another kind of login"),
        _("Give EMAIL_URL a password for applications, or turn on that kind of login there."),
    ),
    535: _LOGIN,
    538: (
        _("{name} wants TLS before it takes a login"),
        _("Let EMAIL_URL begin with smtp+tls:// or smtps://."),
    ),
    550: _SENDER,
    551: _SENDER,
    552: (
        _("{name} has no room for mails of ours"),
        _("Ask those who run it to make room or to raise our quota."),
    ),
    553: _SENDER,
    554: (
        _("{name} takes nothing from our address"),
        _("Look on which list of senders of spam the address of this machine stands, and have it taken off."),
    ),
    **dict.fromkeys((500, 501, 502, 503, 504), _SPEECH),
}


def told_by_smtp(said: str) -> tuple[Any, Text] | None:
    """Return what a reply means, and the step; None if there is no reply in what was said.

    >>> str(told_by_smtp("535 5.7.8 bad credentials")[0]), told_by_smtp("Connection refused")
    ('{name} refuses our login', None)
    """
    if "STARTTLS" in said and "not support" in said:
        step = _("Let EMAIL_URL begin with smtp:// if the way to it is safe, or with smtps:// and its port for TLS.")
        return _("{name} offers no TLS (STARTTLS), which we want"), step
    if not (found := _CODE.search(said)):
        return None
    code = int(found[1])
    if code == 530 and _TLS_WANTED.search(said):  # noqa: PLR2004 - a reply code
        return REPLIES[538]
    return REPLIES.get(code)
