"""RabbitMQ's management plug-in tells what policies make of the project's queues, which no client of AMQP is told.

An argument of the declaration wins over the same key of a policy; of two limits the smaller one holds. So a policy
changes a queue by each key that the declaration leaves out, and by a smaller limit.

*Source*. RabbitMQ manual, "Parameters and Policies"; the plug-in's HTTP API.
"""

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request, urlopen

import kombu

from baton_messaging.database.deadline import Deadline

#: Keys by which messages are lost, refused or kept otherwise than the project declares.
_CHANGING: Final = (
    "dead-letter-exchange",
    "dead-letter-routing-key",
    "delivery-limit",
    "expires",
    "max-length",
    "max-length-bytes",
    "message-ttl",
    "overflow",
)
_COLUMNS: Final = "name,policy,operator_policy,effective_policy_definition"


def management_facts(
    url: str, vhost: str, declared: Iterable[kombu.Queue], deadline: Deadline
) -> dict[str, dict[str, Any]]:
    """Return what policies set at the queues, and in words what that changes. Raises the errors of urllib."""
    arguments = {queue.name: queue.queue_arguments or {} for queue in declared}
    found = _get(f"{url.rstrip('/')}/api/queues/{quote(vhost, safe='')}?columns={_COLUMNS}", deadline)
    policies, changed = {}, {}
    for queue in found:
        name, definition = queue["name"], queue.get("effective_policy_definition") or {}
        policy = queue.get("policy") or queue.get("operator_policy")
        if name not in arguments or not policy or not definition:
            continue
        policies[name] = {"policy": policy, **definition}
        if changes := _changes(definition, arguments[name]):
            changed[name] = f"policy {policy} sets {changes} on queue {name}"
    return {"policies": policies, "changed_by_policy": changed}


def _changes(definition: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    keys = [key for key in _CHANGING if key in definition and _wins(definition[key], arguments.get(f"x-{key}"))]
    return ", ".join(f"{key} {definition[key]}" for key in keys)


def _wins(value: Any, argument: Any) -> bool:
    if isinstance(value, int) and isinstance(argument, int):
        return value < argument
    return argument is None


def _get(url: str, deadline: Deadline) -> Any:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"BATON['RABBITMQ_MANAGEMENT_URL']: expected http:// or https://, got {parts.scheme}://.")
    login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()
    plain = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    request = Request(plain, headers={"Authorization": f"Basic {base64.b64encode(login).decode()}"})  # noqa: S310 - see above
    with urlopen(request, timeout=deadline.seconds_left) as answer:  # noqa: S310 - see above
        return json.load(answer)
