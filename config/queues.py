"""Queues and their owners: the one table behind task_queues, task_routes, the dead-letter exchange and triage.

One queue per app, one lane per app for work that may wait. A lane has a worker of its own, so it can neither starve
its app's queue nor be starved by it. To add a queue, add a line here and a worker to the Procfile.
"""

from baton_messaging.conf import Queue, Team

SHOP = Team("Shop team", "shop@example.com")
WAREHOUSE = Team("Warehouse team", "warehouse@example.com")
CUSTOMER_CARE = Team("Customer care", "care@example.com")
PLATFORM = Team("Platform team", "platform@example.com")

QUEUES = (
    Queue("orders", owner=SHOP),
    Queue("orders.bulk", owner=SHOP),
    Queue("inventory", owner=WAREHOUSE),
    Queue("notifications", owner=CUSTOMER_CARE),
    Queue("baton", owner=PLATFORM),
)
