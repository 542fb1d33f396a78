"""The stack of the shop: web, workers of the apps, and a mail server that does as it is told."""

import sys
from pathlib import Path

from baton_dev.blame.stack import Part, Stack, usual_parts, worker
from baton_dev.servers.ports import free_port
from baton_dev.testing.smtp_server import SmtpServer, smtp_server


class ShopStack(Stack):
    """``mail`` is the server that takes the shop's letters."""

    parts = {
        **usual_parts(),
        "apps": worker("apps", "orders", "inventory", "notifications", "baton"),
        "bulk": worker("bulk", "orders.bulk"),
        "web": Part([sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py", "config.wsgi"], beats=False),
    }

    def __init__(self, folder: Path, *, database_url: str, broker_url: str, names: tuple[str, ...] = ()) -> None:
        super().__init__(folder, database_url=database_url, broker_url=broker_url, names=names)
        self.web_port = free_port(seed=f"{folder}/web")
        self.mail: SmtpServer = self.opened.enter_context(smtp_server())

    def environment(self) -> dict[str, str]:
        """Return what every process of the system is given."""
        return {
            **super().environment(),
            "EMAIL_URL": f"smtp://127.0.0.1:{self.mail.port}?timeout=20",
            "WEB_PORT": str(self.web_port),
            "WEB_PROCESSES": "1",
        }

    def mend(self) -> None:
        """Let the mail server be friendly again, too."""
        self.mail.replies.clear()
        self.mail.unknown_recipients.clear()
        super().mend()


STACK = ShopStack
