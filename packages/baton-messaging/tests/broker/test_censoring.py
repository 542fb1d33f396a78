"""What Celery prints of a configuration holds no secret, whatever its setting is called."""

from typing import Any

import pytest
from baton_messaging.broker.censoring import MASK, censored, censored_settings
from celery import Celery
from celery.app.utils import bugreport

MARK = "hunter2"


@pytest.mark.parametrize(
    "address",
    [
        f"redis://:{MARK}@h:6379/0",
        f"amqps://user:{MARK}@h/vhost",
        f"sentinel://:{MARK}@h1:1;sentinel://:{MARK}@h2:1/0",
        f"redis://{MARK}@h:1",
        f"postgres://u:a@{MARK}@h/db",
        f"https://h/x?a=1&password={MARK}",
        f"cannot connect to redis://:{MARK}@h:1 now",
    ],
)
def test_passwords_in_addresses_go(address: str) -> None:
    assert MARK not in censored(address)
    assert "h" in censored(address)


def test_what_a_name_calls_a_secret_goes_at_any_depth() -> None:
    options: Any = {"sentinel_kwargs": {"password": MARK}, "nodes": [{"secret_key": MARK}], "visibility_timeout": 30}
    assert MARK not in str(censored(options))
    assert censored(options)["visibility_timeout"] == 30


def test_settings_that_are_not_celerys_are_left_out() -> None:
    shown = censored_settings({"STRIPE_ACCOUNT": MARK, "ADMINS": MARK, "CELERY_TIMEZONE": "UTC", "task_acks_late": 1})
    assert shown == {"CELERY_TIMEZONE": "UTC", "task_acks_late": 1}


def test_neither_table_nor_report_of_an_application_shows_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from baton_messaging.install import install

    app = Celery("marked", set_as_current=False)
    app.config_from_object(
        {
            "CELERY_BROKER_READ_URL": f"redis://:{MARK}@h:1",
            "CELERY_BROKER_TRANSPORT_OPTIONS": {"sentinel_kwargs": {"password": MARK}},
            "CELERY_RESULT_BACKEND": f"db+postgresql://u:{MARK}@h/x",
            "PAYMENT_ENDPOINT": f"https://{MARK}.example",
        },
        namespace="CELERY",
    )
    install(app)
    for printed in (app.conf.table(with_defaults=True), app.conf.table(), bugreport(app)):
        assert MARK not in str(printed)
    assert MASK in str(app.conf.table())
