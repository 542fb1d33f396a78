"""Queues examined: does the broker have each as this release declares it?"""

from typing import Any

from celery import current_app
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.broker.rabbitmq.declarations import misdeclared
from baton_messaging.broker.rabbitmq.shovel import message_count
from baton_messaging.database.deadline import Deadline
from baton_messaging.diagnosis.doctor.examination import BROKER, DEADLINE_SECONDS, examines, or_well
from baton_messaging.health.broker_connection import broker_connection
from baton_messaging.health.diagnosis import Diagnosis, finding
from baton_messaging.health.resource import Kind, Resource


@examines("declaration of the queues", needs=(BROKER,))
def examine_declarations() -> list[Diagnosis]:
    """Find queues that RabbitMQ has with other arguments (F18). What does not exist yet is not made here."""
    with broker_connection(Deadline.after(DEADLINE_SECONDS)) as connection:
        if connection.transport.driver_type != "amqp":
            return []
        channel: Any = connection.channel()
        queues = [queue for queue in current_app.amqp.queues.values() if message_count(channel, queue.name) is not None]
        found = misdeclared(connection, queues)
    wrong = [
        finding(
            Resource(Kind.SETTING, one.queue),
            format_lazy(_("declaration of {queue}"), queue=one.queue),
            found=one.detail,
            wanted=_("the arguments of this release"),
            remedy=_("Give it the arguments that this release declares; nothing is lost on the way."),
            command=one.remedy,
        )
        for one in found
    ]
    return or_well(wrong, _("declaration of the queues"), found=_("as declared"))
