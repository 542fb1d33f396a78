"""The relay takes due rows to the broker: claimed, sent as one bundle per consumer, marked once confirmed.

The room is the platform's: from the producer's commit until the broker's confirm the relay owns a message. It keeps the
promises that the producer is done at one commit and that no message is lost. ``loop`` is the process; each round sends
the new (``outbox_round``) and the retries that are due (``retry_round``), both by ``bundles``; what was published for
a time to come enters the outbox when it is due (``future_round``).
"""
