"""Consuming runs a bundle that the broker has delivered, in a child of a worker: effects once, failures apart.

The room is the app's team's: from the broker's delivery until the commit the consuming app owns a message. It keeps
the promises that effects in the database happen once and that a failure never touches its neighbours. In this order:

    delivery       opens the bundle; decides whether it runs together or one by one, and when it may be acknowledged
    transaction    inbox, handler and what follows in one commit
    failures       an error becomes a retry (with processes/backoff) or a dead letter
    requeue        the bundle goes back whole, or split into its messages
    shutdown       what a process that is being stopped raises is no failure of the handler

``task`` says what all of them ask of the consumer's Celery task.
"""
