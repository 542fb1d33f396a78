"""A program without Baton: takes what lies in the queue of the samples, as any client can."""

import sys

import kombu
from kombu.message import Message


def main() -> None:
    """Take messages until killed."""
    with kombu.Connection(sys.argv[1]) as broker:
        channel = broker.default_channel
        while broker.transport.driver_type == "redis":
            if channel.client.brpop(["sample"], timeout=1):
                print("took", flush=True)
        with kombu.Consumer(channel, [kombu.Queue("sample", no_declare=True)], on_message=_take):
            while True:
                broker.drain_events()


def _take(message: Message) -> None:
    message.ack()
    print("took", flush=True)


if __name__ == "__main__":
    main()
