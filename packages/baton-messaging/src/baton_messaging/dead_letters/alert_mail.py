"""The mail to the owner of a queue: a receiver of ``dead_letters_alert``.

Names, counts and times only: the error's text may hold more than a mailbox should.
"""

from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.dispatch import receiver
from django.template.loader import render_to_string
from django.utils import translation

from baton_messaging.dead_letters.alerts import Alert
from baton_messaging.signals import dead_letters_alert


@receiver(dead_letters_alert, dispatch_uid="baton_messaging.mail_alert")
def mail_alert(*, alert: Alert, **_kwargs: Any) -> None:
    """Send the mail, in the project's language."""
    with translation.override(settings.LANGUAGE_CODE):
        context = {"alert": alert, "group": alert.group}
        subject = render_to_string("baton_messaging/mail/alert_subject.txt", context)
        body = render_to_string("baton_messaging/mail/alert.txt", context)
    send_mail(" ".join(subject.split()), body, None, [alert.owner.email])
