"""Each broker's client is an extra: without that of Redis everything runs on RabbitMQ."""

import os
import subprocess
import sys

WITHOUT_REDIS = """
import sys

sys.modules["redis"] = None  # importing it raises ModuleNotFoundError, as if it were not installed

import django

django.setup()

import importlib

for name in ("relaying.loop", "worker.consumer", "worker.pool", "worker.request", "processes.worker", "consumer",
             "dead_letters.intake.collector", "recovery.reconciler", "maintenance.queue_migration",
             "broker.rabbitmq.transport", "broker.inspect.depth", "broker.inspect.find", "broker.inspect.peek",
             "broker.inspect.snapshot", "diagnosis.triage.gather.broker"):
    importlib.import_module(f"baton_messaging.{name}")

import kombu
from baton_messaging.broker import transports

transports.install()
print(kombu.Connection("amqp://").transport.driver_type)
try:
    kombu.Connection("redis://").transport
except ModuleNotFoundError as error:
    print(error)
"""


def test_without_the_client_of_redis_all_runs_on_rabbitmq_and_a_redis_url_is_told_what_to_install() -> None:
    environment = {**os.environ, "CELERY_BROKER_URL": "amqp://guest:guest@localhost:5672//"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_REDIS],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    driver, sentence = done.stdout.strip().split("\n")
    assert driver == "amqp"
    assert sentence == (
        "The broker's URL is one of Redis, whose client is not installed. Install the extra `redis` of baton-messaging."
    )
