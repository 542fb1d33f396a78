"""Messages between a Django project and its Celery workers that do not get lost, and at every moment have an owner.

The rooms follow the message. Each band of rooms imports from those below it, never from those above, and within a band
the order of the way is kept, too: contracts in pyproject.toml. An app imports what is public, and nothing else; a
public module stands where its imports put it (errors and events at the very bottom, extend and testing at the top).

PUBLIC
    events          what happened, as data
    publish         writes events into the outbox, in the caller's transaction
    consumer        makes a function the consumer of an event
    scheduled       makes a function a task of beat's schedule
    errors          classify a failure: tried again, or for a person
    signals         tell the apps what became of their messages
    middleware      gives a request the correlation id that its messages carry
    tasks_backend   runs the tasks of django.tasks, with the promises of a message
    testing         runs consumers in an app's tests without a broker
    extend          what an app may add: to triage, doctor, reconciler and /metrics

PEOPLE'S PAGES
    ui              desk, board, triage, admin, JSON API, terminal

FINDING OUT
    adoption        what a project that exists lacks of all this, and where in its files it goes
    checks          ask the six questions of a design review, and settings that contradict each other
    diagnosis       triage and doctor: how far a message got, whose it is, what the installation lacks
    observability   figures per minute, /metrics, /healthz and /readyz

THE WAY OF A MESSAGE
    relaying        the platform's: from the outbox to the broker, and retries that are due
    worker          the worker's main process: takes messages, runs them in children, sees them die
    consuming       the app's team's: inbox, handler, follow-ups in one transaction; what becomes of a failure
    dead_letters    the list of messages that died, and what a person can do with them
    flow_control    pauses and circuit breakers: what is held, and waits
    recovery        sends again what the broker has lost
    maintenance     prunes what is past its retention; counts a backlog; moves a queue
    processes       heartbeats of relay, worker, collector and beat
    audit           which person did what to messages, and whether they may
    health          checks that do what the work does; the one type of what is wrong, whose, and what mends it

FOUNDATION
    messages        envelope, correlation, trace, what is kept of an error, the rule of how far a message got
    routing         which consumer takes what, through which queue, and whose it is
    database        its errors, connections of our own, the wake-up of the relay
    broker          kombu's transports made to keep the same promises on Redis and RabbitMQ; imports nothing of the rest

Beside these lie Django's own places: apps, conf, install, tasks, urls, models, migrations, management, templates,
static, locale, templatetags.
"""
