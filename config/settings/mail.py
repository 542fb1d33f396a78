"""Mail: by default each mail is a file below the state directory. EMAIL_URL says otherwise: see config/email_url.py."""

from email.utils import parseaddr

from config.email_url import BadEmailUrl, mail_settings
from config.env import end, env

try:
    globals().update(mail_settings(env.EMAIL_URL, default_folder=env.BATON_STATE_DIR / "mail"))
except BadEmailUrl as error:
    end(str(error))

DEFAULT_FROM_EMAIL = env.DEFAULT_FROM_EMAIL
# The right-hand side of every Message-ID. It must not change between two attempts at the same mail.
NOTIFICATIONS_MESSAGE_ID_DOMAIN = parseaddr(DEFAULT_FROM_EMAIL)[1].rpartition("@")[2]
