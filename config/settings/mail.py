"""Mail: by default each mail is a file below the state directory. EMAIL_URL says otherwise: see config/mail/url.py."""

from config.env import end, env
from config.mail.url import BadEmailUrl, mail_settings

try:
    globals().update(mail_settings(env.EMAIL_URL, default_folder=env.BATON_STATE_DIR / "mail"))
except BadEmailUrl as error:
    end(str(error))

DEFAULT_FROM_EMAIL = env.DEFAULT_FROM_EMAIL
