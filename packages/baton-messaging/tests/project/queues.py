"""The queues of the tests' project: for the sample apps, for Baton's own work, and two of other teams."""

from baton_messaging.conf import Queue, Team

PLATFORM = Team("Platform team", "platform@example.com")
WAREHOUSE = Team("Warehouse team", "warehouse@example.com")
CUSTOMER_CARE = Team("Customer care", "care@example.com")

QUEUES = (
    Queue("baton", owner=PLATFORM),
    Queue("sample", owner=PLATFORM),
    Queue("parcels", owner=WAREHOUSE),
    Queue("parcels.bulk", owner=WAREHOUSE),
    Queue("chores", owner=WAREHOUSE),
    Queue("chores.bulk", owner=WAREHOUSE),
    Queue("mails", owner=CUSTOMER_CARE),
)
