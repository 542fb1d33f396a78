"""The broker's condition as a diagnosis: why it takes no messages, and the command of its own that mends it.

Sources: Redis' manual, "Error handling" and "ACL"; RabbitMQ's manual, "Access Control", "Memory and Disk Alarms".
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from celery import current_app
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from baton_messaging.broker.rabbitmq.declarations import remedy_for
from baton_messaging.diagnosis.servers.broker_room import rabbitmq_room, redis_room
from baton_messaging.diagnosis.servers.network_words import told_by_the_network
from baton_messaging.health.condition import Condition, Health
from baton_messaging.health.diagnosis import Diagnosis, Text
from baton_messaging.health.wording import duration

WANTED: Final = _("a broker that takes, keeps and gives messages")
_FOUND: Final[Mapping[Condition, Any]] = {
    Condition.AWAY: _("the broker does not answer"),
    Condition.REFUSES: _("the broker takes no messages"),
    Condition.READ_ONLY: _("the broker is read-only"),
    Condition.FULL: _("the broker is full"),
    Condition.NOT_PERMITTED: _("the broker does not let us in, or not everywhere"),
    Condition.DIFFERENT: _("the broker is not set up as this project declares it"),
}
#: By a word of the server, what is to be done where the condition alone does not tell.
_BY_WORD: Final[tuple[tuple[str, Text, str], ...]] = (
    ("LOADING", _("Wait: it reads its file after a start, and answers when it has."), "INFO persistence"),
    ("MISCONF", _("It cannot write to its disk: make room or mend the disk, then it goes on."), "INFO persistence"),
    ("NOREPLICAS", _("Bring its replicas back, or lower min-replicas-to-write."), "CONFIG SET min-replicas-to-write 0"),
    ("max number of clients", _("Close connections, or raise maxclients. See who holds them."), "CLIENT LIST"),
    ("CLUSTERDOWN", _("Bring the missing nodes of the cluster back."), "CLUSTER INFO"),
    ("paused_reason", _("Its clients are paused: let them go on, or wait until the pause ends."), "CLIENT UNPAUSE"),
    ("BUSY", _("A script runs without end: end it."), "SCRIPT KILL"),
    (
        "evicted_clients",
        _("It ends connections to save memory: raise maxmemory-clients, or set it to 0."),
        "CONFIG SET maxmemory-clients 0",
    ),
    (
        "client_output_buffer_limit_disconnections",
        _("It ends connections that read too slowly: raise client-output-buffer-limit, or find out who is slow."),
        "CONFIG GET client-output-buffer-limit",
    ),
    (
        "client_query_buffer_limit_disconnections",
        _("It ends connections that send too much at once: raise client-query-buffer-limit."),
        "CONFIG GET client-query-buffer-limit",
    ),
    (
        "WRONGTYPE",
        _("Another application writes there: give it a database of its own, and move its key away."),
        "RENAME {key} {key}.foreign",
    ),
    ("time to live", _("Let the key stay, and find out who has set its end."), "PERSIST {key}"),
    (
        "DB index is out of range",
        _("Correct the number of the database in CELERY_BROKER_URL, or raise databases in the server's file."),
        "CONFIG GET databases",
    ),
    ("to access a key", _("Give the user back the keys that it works with (ACL)."), "ACL SETUSER {user} '~*'"),
    ("to access a channel", _("Give the user back its channels (ACL)."), "ACL SETUSER {user} '&*'"),
    ("permissions to run the", _("Give the user back what it may do (ACL)."), "ACL SETUSER {user} +{command}"),
)
_KEY: Final = re.compile(r"\bkey (\S+)")
_COMMAND: Final = re.compile(r"to run the '([^']+)'")


def well(health: Health) -> Text:
    """Return what is said of a broker that does the work."""
    return format_lazy(
        _("{product} takes and gives a message in {age} ({server})"),
        product=product_of(health),
        age=duration(health.seconds),
        server=health.server,
    )


def product_of(health: Health) -> str:
    """Return name and version of the broker, as far as it tells."""
    server = health.facts.get("server") or {}
    return f"{server.get('product', '')} {server.get('version', '')}".strip() or "broker"


def found(health: Health) -> Text:
    """Return why the work stands still."""
    text, server = _meaning(health), health.server or Address.current().name
    return format_lazy("{found} ({server}: {said})", found=text, server=server, said=health.said)


def remedy(health: Health) -> tuple[Text, str]:
    """Return what mends it, and the command for that."""
    address = Address.current()
    if (told := told_by_the_network(health.said)) and "refused" not in health.said:  # then it is to be brought back
        return told[1], told[2].format(host=address.host, port=address.port)
    for word, text, command in () if address.is_amqp else _BY_WORD:
        if word in health.said:
            return text, address.cli(_filled_in(command, health.said, address))
    return (_of_rabbitmq if address.is_amqp else _of_redis)(health, address)


class Address:
    """Where the broker is, for the commands of its own."""

    def __init__(self, connection: Any) -> None:
        self.is_amqp = connection.transport.driver_type == "amqp"
        self.host, self.port = connection.hostname or "localhost", connection.port or connection.default_port
        self.user = connection.userid or ("guest" if self.is_amqp else "default")
        self.vhost = connection.virtual_host or "/"

    @classmethod
    def current(cls) -> "Address":
        """Return the address that this process uses, without asking anybody."""
        return cls(current_app.connection_for_write())

    @property
    def name(self) -> str:
        """Return it without login."""
        return f"{self.host}:{self.port}/{self.vhost.lstrip('/')}"

    def cli(self, command: str) -> str:
        """Return a command for Valkey or Redis."""
        number = self.vhost.strip("/")
        database = f"-n {number} " if number not in ("", "0") else ""
        return f"valkey-cli -h {self.host} -p {self.port} {database}{command}"


def _meaning(health: Health) -> Any:
    told = told_by_the_network(health.said)
    return format_lazy(told[0], name=_("the broker")) if told else _FOUND[health.condition]


def _filled_in(command: str, said: str, address: Address) -> str:
    """Put the names that the server has said into a command."""
    key, refused = _KEY.search(said), _COMMAND.search(said)
    return command.format(
        key=shlex.quote(key[1].rstrip(":;")) if key else "KEY",
        command=refused[1] if refused else "@all",
        user=address.user,
    )


def _of_redis(health: Health, address: Address) -> tuple[Text, str]:
    match health.condition:
        case Condition.READ_ONLY:
            text = _("It is a replica: make it the primary again (REPLICAOF NO ONE), or point CELERY_BROKER_URL to it.")
            return text, address.cli("REPLICAOF NO ONE")
        case Condition.FULL:
            text = _("Give it memory (maxmemory), or workers to empty its queues. The outbox keeps what waits.")
            return text, address.cli("INFO memory")
        case Condition.NOT_PERMITTED:
            text = _("Correct the password in CELERY_BROKER_URL, or give user {user} back what it may do (ACL).")
            return format_lazy(text, user=address.user), address.cli(f"ACL SETUSER {address.user} on ~* '&*' +@all")
        case Condition.AWAY:
            return _away(), address.cli("PING")
        case _:
            return _("Do what the broker says. What is in the outbox waits safely."), address.cli("INFO")


def _of_rabbitmq(health: Health, address: Address) -> tuple[Text, str]:
    vhost, user = shlex.quote(address.vhost), shlex.quote(address.user)
    if "limit" in health.said and health.condition in (Condition.FULL, Condition.NOT_PERMITTED):
        return _of_limit(health, vhost, user)
    match health.condition:
        case Condition.NOT_PERMITTED:
            text = _("Give user {user} its rights in vhost {vhost} back, or correct its password in CELERY_BROKER_URL.")
            command = f"rabbitmqctl set_permissions -p {vhost} {user} '.*' '.*' '.*'"
            return format_lazy(text, user=address.user, vhost=address.vhost), command
        case Condition.FULL:
            text = _("Give it memory or disk, or workers to empty its queues. The outbox keeps what waits.")
            return text, f"rabbitmqctl list_queues -p {vhost} name messages memory; rabbitmq-diagnostics alarms"
        case Condition.DIFFERENT:
            return _of_declarations(health, vhost)
        case Condition.AWAY:
            return _away(), "rabbitmq-diagnostics status"
        case _:
            text = _("Do what the broker says. What is in the outbox waits safely.")
            return text, "rabbitmq-diagnostics check_running; rabbitmq-diagnostics alarms"


def _of_declarations(health: Health, vhost: str) -> tuple[Text, str]:
    concerned = list(health.facts.get("concerns", ()))
    if len(concerned) == 1 and "inequivalent" in health.said:
        text = _("Give the queue the arguments that this release declares; nothing is lost on the way.")
        return text, remedy_for(concerned[0])
    text = _("Give its queues, exchanges and policies what this release declares; see what they have.")
    return text, f"rabbitmqctl list_policies -p {vhost}; rabbitmqctl list_queues -p {vhost} name arguments policy"


def _of_limit(health: Health, vhost: str, user: str) -> tuple[Text, str]:
    of_user = "user" in health.said.lower() and "vhost" not in health.said.lower()
    clear = f"clear_user_limits {user} all" if of_user else f"clear_vhost_limits -p {vhost}"
    return _("Close connections or queues, or raise the limit: of the vhost, or of the user."), f"rabbitmqctl {clear}"


def _away() -> Text:
    return _(
        "Bring the broker back, or correct CELERY_BROKER_URL. What is in the outbox waits safely; nothing is lost."
    )


def observations(health: Health) -> Iterator[Diagnosis]:
    """Return how it is set up, and what room it has, as far as it tells."""
    facts = health.facts
    if "maxmemory_policy" in facts:
        yield from redis_room(facts, Address.current().cli("").rstrip())
    elif "server" in facts:
        yield from rabbitmq_room(facts)
