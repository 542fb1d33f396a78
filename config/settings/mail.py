"""Mail: by default each mail is a file below the state directory. EMAIL_URL says otherwise: see config/mail/url.py."""

from email.utils import parseaddr

from config.env import end, env
from config.mail.url import BadEmailUrl, mail_settings

try:
    globals().update(mail_settings(env.EMAIL_URL, default_folder=env.BATON_STATE_DIR / "mail"))
except BadEmailUrl as error:
    end(str(error))

DEFAULT_FROM_EMAIL = env.DEFAULT_FROM_EMAIL
# The right-hand side of every Message-ID. It must not change between two attempts at the same mail.
NOTIFICATIONS_MESSAGE_ID_DOMAIN = parseaddr(DEFAULT_FROM_EMAIL)[1].rpartition("@")[2]
