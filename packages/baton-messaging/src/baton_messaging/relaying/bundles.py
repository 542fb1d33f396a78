"""Bundles carry messages to one consumer, as many at a time as it takes.

Adaptive by itself: with one message waiting a bundle holds one, under load it is filled up to ``bundle_size``, or to
what a worker takes (MAX_MESSAGE_BYTES).
Three kinds of failure are told apart: the broker's (BrokerTrouble: stop and back off), one queue's (QueueTrouble: the
others go on), and the message's own. A queue that is gone is declared again by a second try at once; if that does not
help, the message counts as at fault, so that it ends on the list and not in a wait without an end.
"""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import amqp.exceptions
import kombu
import structlog

from baton_messaging.broker.errors import BROKER_ERRORS, UnroutableMessage
from baton_messaging.broker.rabbitmq.declarations import remedy_for
from baton_messaging.broker.rabbitmq.transport import BrokerBlocked
from baton_messaging.conf import baton
from baton_messaging.errors import MessagingError
from baton_messaging.health.refusals import classify
from baton_messaging.messages.bundle import Bundle
from baton_messaging.messages.envelope import Envelope
from baton_messaging.routing.ownership import queue_of
from baton_messaging.routing.send import send_bundle
from baton_messaging.routing.subscriptions import subscription_named

log = structlog.get_logger(__name__)

Refusals = dict[UUID, Exception]

#: What the note of a message begins with that its queue did not take.
QUEUE_FULL: Final = "queue full"
_WRONG_TYPE: Final = "WRONGTYPE"  # Redis: under the queue's name lies something of another application
_BASIC_CLASS = 60  # AMQP's class of publishing; an error of class 50 comes from declaring the queue


class BrokerTrouble(MessagingError):
    """The broker is away or takes nothing. No message is at fault."""


class BrokerFull(BrokerTrouble):
    """The broker is there, and will say when it takes messages again on this connection."""


class QueueTrouble(MessagingError):
    """One queue takes nothing (full, or declared otherwise); the other queues do. No message is at fault."""


def send_bundles(consumer: str, envelopes: Sequence[Envelope], *, producer: kombu.Producer) -> Refusals:
    """Send the messages; return those that were refused, each with QueueTrouble or with an error of its own.

    Raises BrokerTrouble.
    """
    subscription = subscription_named(consumer)
    size = subscription.bundle_size if subscription else 1
    bundles = list(Bundle.of(consumer, envelopes).pieces(max_count=min(size, baton().max_bundle_size)))
    if len(bundles) > 1 and _send_in_a_batch(bundles, producer):
        return {}
    refusals: Refusals = {}
    for bundle in bundles:
        refusals |= _send(bundle, producer)
    return refusals


def _send_in_a_batch(bundles: Sequence[Bundle], producer: kombu.Producer) -> bool:
    """Send all and wait for the broker once; tell whether it took everything.

    If not, they are sent one by one, which shows whose fault it is; the inbox absorbs those that had arrived.
    """
    try:
        with producer.batch():  # type: ignore[attr-defined]  # the stubs are older
            for bundle in bundles:
                _publish(bundle, producer)
    except Exception as error:
        log.warning("batch_refused", consumer=bundles[0].consumer, error_class=type(error).__name__)
        return False
    return True


def _send(bundle: Bundle, producer: kombu.Producer) -> Refusals:
    """Send a bundle; what no queue takes once more, by which its queue is declared again."""
    refusals = _try_to_send(bundle, producer)
    unroutable = {message_id for message_id, error in refusals.items() if isinstance(error, UnroutableMessage)}
    if not unroutable:
        return refusals
    others = {message_id: error for message_id, error in refusals.items() if message_id not in unroutable}
    return others | _try_to_send(bundle.only(unroutable), producer)


def _try_to_send(bundle: Bundle, producer: kombu.Producer) -> Refusals:
    try:
        _publish(bundle, producer)
    except BrokerBlocked as error:
        raise BrokerFull(str(error)) from error
    except amqp.exceptions.MessageNacked as error:  # x-overflow: reject-publish
        return _refused(bundle, QueueTrouble(f"{QUEUE_FULL}: {error}"))
    except amqp.exceptions.ChannelError as error:
        _start_anew(producer)
        if _is_too_large(error):
            return _send_one_by_one(bundle, producer, error)
        return _refused(bundle, _of_queue(bundle.consumer, error))
    except BROKER_ERRORS as error:
        if (trouble := _of_one_queue(bundle.consumer, error)) is not None:
            (_leave_channel if isinstance(error.__cause__, amqp.exceptions.MessageNacked) else _start_anew)(producer)
            return _refused(bundle, trouble)
        raise BrokerTrouble(f"{type(error).__name__}: {error}") from error
    except Exception as error:
        return _send_one_by_one(bundle, producer, error)
    return {}


def _of_queue(consumer: str, error: amqp.exceptions.ChannelError) -> Exception:
    if isinstance(error, UnroutableMessage):
        return error
    return QueueTrouble(f"{error}{_remedy(consumer, error)}")


def _of_one_queue(consumer: str, error: Exception) -> Exception | None:
    """Return what one queue has refused, where kombu makes an error of the whole connection of it."""
    if isinstance(error.__cause__, UnroutableMessage):
        return error.__cause__
    if isinstance(error.__cause__, amqp.exceptions.MessageNacked):
        return QueueTrouble(f"{QUEUE_FULL}: {error}")
    refusal = classify(error)
    is_of_key = refusal.said.startswith(_WRONG_TYPE) or "permissions to access a key" in refusal.said
    return QueueTrouble(f"{refusal.said}: key {queue_of(consumer).name}") if is_of_key else None


def _start_anew(producer: kombu.Producer) -> None:
    """Go on after the broker closed the channel; queues are declared again, in case one was deleted under us."""
    connection = producer.connection
    if connection is not None:
        (connection.declared_entities or set()).clear()
        producer.revive(connection.default_channel)


def _leave_channel(producer: kombu.Producer) -> None:
    """Go on over another channel: RabbitMQ refuses for a quorum queue on this one, until that tells it otherwise.

    It never does where the limit has been taken away meanwhile (measured on 3.10).
    """
    connection: Any = producer.connection
    if connection is not None:
        left, connection._default_channel = connection.default_channel, connection.channel()
        producer.revive(connection.default_channel)
        left.close()


def _remedy(consumer: str, error: amqp.exceptions.ChannelError) -> str:
    is_declared_otherwise = isinstance(error, amqp.exceptions.PreconditionFailed)
    return f". Run: {remedy_for(queue_of(consumer).name)}" if is_declared_otherwise else ""


def _publish(bundle: Bundle, producer: kombu.Producer) -> None:
    send_bundle(bundle.consumer, bundle.sealed, message_ids=bundle.message_ids, producer=producer)


def _refused(bundle: Bundle, error: Exception) -> Refusals:
    return dict.fromkeys(bundle.message_ids, error)


def _is_too_large(error: amqp.exceptions.ChannelError) -> bool:
    is_publishing = error.method_sig is not None and error.method_sig[0] == _BASIC_CLASS
    return is_publishing and isinstance(error, amqp.exceptions.PreconditionFailed)


def _send_one_by_one(bundle: Bundle, producer: kombu.Producer, error: Exception) -> Refusals:
    """Find the culprit: the others of its bundle get through."""
    if len(bundle) == 1:
        return _refused(bundle, error)
    refusals: Refusals = {}
    for part in bundle.parts():
        refusals |= _send(part, producer)
    return refusals
