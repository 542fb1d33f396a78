"""The arguments of ``manage.py dead_letters``: one verb for each thing one can do."""

import argparse
import json
from typing import Final

from django.core.management.base import CommandParser

FILTERS: Final = ("group", "consumer", "owner", "reason", "state", "text", "since", "until")


def add_verbs(parser: CommandParser) -> None:
    """Add all verbs."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    shared, selecting, why = _shared(), _selecting(), _why()

    def verb(name: str, text: str, *parents: CommandParser) -> CommandParser:
        return verbs.add_parser(name, help=text, description=text, parents=[shared, *parents])

    _limited(verb("list", "List dead letters, the newest first.", selecting))
    verb("groups", "List equal failures as groups.")
    verb("show", "Show all that is known of one.").add_argument("id", type=int)
    _pace(verb("replay", "Send open ones again. Look at --dry-run first.", selecting, why))
    verb("discard", "Settle open ones without an effect. Needs --why.", selecting, why)
    verb("restore", "Open discarded ones again.", selecting, why)
    redirect = verb("redirect", "Give them to the new name of their consumer. Needs --why.", selecting, why)
    redirect.add_argument("--to", required=True, metavar="CONSUMER")
    _edit(verb("edit", "Send an edited copy in place of one. Needs --why.", why))
    verb("progress", "Show how far a replay is.").add_argument("replay", type=int)
    verb("stop", "Stop a replay.", why).add_argument("replay", type=int)
    verb("release", "Let a replay go on without its canary.", why).add_argument("replay", type=int)
    _limited(verb("audit", "Show who did what."))


def _shared() -> CommandParser:
    parser = CommandParser(add_help=False)
    parser.add_argument("--format", choices=["table", "json"], default="table")
    return parser


def _selecting() -> CommandParser:
    parser = CommandParser(add_help=False)
    parser.add_argument("ids", nargs="*", type=int, help="Numbers of dead letters; without any, the filters choose.")
    for name in FILTERS:
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--of-replay", type=int, metavar="REPLAY", help="Those of one replay.")
    return parser


def _why() -> CommandParser:
    parser = CommandParser(add_help=False)
    parser.add_argument("--why", default="", help="The reason, for the audit.")
    return parser


def _limited(parser: CommandParser) -> None:
    parser.add_argument("--limit", type=_count, default=50, help="At most so many (50).")


def _pace(parser: CommandParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="Only say what would happen.")
    parser.add_argument("--canary", type=_count, default=0, dest="canary_count", help="So many first (0: all at once).")
    parser.add_argument("--rate", type=_count, default=0, dest="rate_per_second", help="Per second (0: no cap).")
    parser.add_argument("--may-repeat", action="store_true", help="Also those that the inbox may have forgotten.")
    parser.add_argument("--wait", action="store_true", help="Return when nothing is on its way any more.")


def _edit(parser: CommandParser) -> None:
    parser.add_argument("id", type=int)
    parser.add_argument("--payload", type=json.loads, required=True, help="The whole payload, as JSON.")
    parser.add_argument("--event-version", type=int, help="Of the copy, when the original's is not known any more.")
    parser.add_argument("--dry-run", action="store_true", help="Only show the difference.")


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError(f"expected a count, got {text}")
    return count
