"""Questions to the broker that take nothing from it: depths, a message by its id, the messages themselves, a snapshot.

The room is the platform's. It keeps the promise that anyone can ask how far a message got: on Redis by reading, on
RabbitMQ by counts, because a look at a message there would be a delivery.
"""
