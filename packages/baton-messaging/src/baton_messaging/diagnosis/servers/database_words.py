"""Words of PostgreSQL, libpq and PgBouncer mean a remedy: tables of patterns, with what is wrong and what mends it.

One condition has many causes: "not permitted" may be a password, a line of pg_hba.conf, or a right. Words stand in the
language of the server; where that is not English, the condition's own remedy is given (database_remedies.py).

*Source*: PostgreSQL, src/backend/libpq/auth.c, utils/init/postinit.c, storage/lmgr/proc.c; libpq, fe-connect.c and
fe-secure-openssl.c; PgBouncer manual, "pgbouncer.ini".
"""

from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from baton_messaging.health.diagnosis import Text

_CERTIFICATE: Final = (
    "openssl s_client -connect {host}:{port} -starttls postgres </dev/null | openssl x509 -noout -subject -dates"
)
#: Of server and libpq: the pattern; what is wrong, where the condition says it wrongly; what mends it, and how. In
#: braces stand the names that the words have, and host, port, user and database of the settings.
BY_WORDS: Final[tuple[tuple[str, Text | None, Any, str], ...]] = (
    (
        r'too many connections for role "(?P<name>[^"]+)"',
        _("the database's role has no connection left"),
        _("Raise the limit of role {name}, or close what holds its connections: {holders}."),
        'sql:ALTER ROLE "{name}" CONNECTION LIMIT -1',
    ),
    (
        r'too many connections for database "(?P<name>[^"]+)"',
        _("the database has no connection left"),
        _("Raise the limit of database {name}, or close what holds its connections: {holders}."),
        'psql:ALTER DATABASE "{name}" CONNECTION LIMIT -1',
    ),
    (
        r'database "(?P<name>[^"]+)" does not exist',
        _("there is no such database"),
        _("Correct its name (DATABASES, in the scaffold DATABASE_URL), or give database {name} its name back."),
        "psql:SELECT datname FROM pg_database WHERE NOT datistemplate",
    ),
    (
        r'role "(?P<name>[^"]+)" does not exist',
        _("there is no such role"),
        _("Correct the user (DATABASES, in the scaffold DATABASE_URL), or create role {name} again."),
        "",
    ),
    (
        r'pg_hba\.conf.*for host "(?P<address>[^"]+)", user "(?P<name>[^"]+)", database "(?P<where>[^"]+)"',
        _("the database lets no connection of this kind in"),
        _(
            "Add this line to the server's pg_hba.conf, above those that refuse, and reload it: "
            '"{line}". Where only encrypted connections are let in, set sslmode=require.'
        ),
        "",
    ),
    (
        r"password authentication failed|no password supplied",
        None,
        _("Correct the password of user {user} (DATABASES, in the scaffold DATABASE_URL), or give the role that one."),
        "psql -h {host} -p {port} -U {user} -d {database} -c 'SELECT current_user'",
    ),
    (
        r'role "(?P<name>[^"]+)" is not permitted to log in',
        None,
        _("Let role {name} log in again, as a superuser."),
        'psql:ALTER ROLE "{name}" LOGIN',
    ),
    (
        r'database "(?P<name>[^"]+)" is not currently accepting connections',
        _("the database takes no connections"),
        _("Somebody has closed database {name}, as before a move: find out who, or open it again."),
        'psql:ALTER DATABASE "{name}" ALLOW_CONNECTIONS true',
    ),
    (
        r"server does not support SSL",
        _("the database speaks no TLS, which our settings demand"),
        _("Turn on ssl at the server, or lower sslmode in the settings."),
        "psql:SHOW ssl",
    ),
    (
        r"certificate|SSL error|sslrootcert",
        _("the TLS of the database fails"),
        _("Renew the server's certificate, or correct sslrootcert, sslmode and the host's name in the settings."),
        _CERTIFICATE,
    ),
    (
        r"the database system is (starting up|in recovery mode|not yet accepting)",
        _("the database is starting"),
        _("Wait: it goes on by itself when it has started. If it does not, its log says what it waits for."),
        "pg_isready -h {host} -p {port}",
    ),
    (
        r"No space left on device|could not extend file|Disk quota exceeded",
        _("the disk of the database is full"),
        _("Make room on the server's disk: {slots}, logs, old backups. Then it goes on by itself."),
        "slots",
    ),
    (
        r"Read-only file system",
        _("the disk of the database is read-only"),
        _("Look why it was mounted so (a damaged disk, a full quota), and mount it writable again."),
        "psql:SHOW data_directory",
    ),
    (
        r"Input/output error|invalid page|could not read block",
        _("the disk of the database is damaged"),
        _("Change to a standby or a backup: what the server reads from its disk is not what it wrote."),
        "psql:SHOW data_directory",
    ),
    (
        r"out of shared memory|max_locks_per_transaction",
        None,
        _("Raise max_locks_per_transaction and restart the server, or end the session that holds so many locks."),
        "sql:SELECT pid, count(*) FROM pg_locks GROUP BY pid ORDER BY 2 DESC LIMIT 5",
    ),
    (
        r"wraparound",
        None,
        _("Let VACUUM run in the database that the server names, and end what keeps old rows: {holders}."),
        "sql:VACUUM",
    ),
)
#: Of PgBouncer: the pattern; what mends it; the command for its console.
OF_POOLER: Final[tuple[tuple[str, Text, str], ...]] = (
    (
        r"no more connections allowed|too many clients",
        _("PgBouncer takes no more clients: raise max_client_conn, or start fewer processes."),
        "SHOW CLIENTS",
    ),
    (
        r"cannot connect to server|server login|conn crashed|the database system is",
        _("PgBouncer is there, and does not reach the database behind it: look at that server, and at its log."),
        "SHOW SERVERS",
    ),
    (
        r"pause|disabled|shutting down|does not allow connections",
        _("Somebody has paused or disabled PgBouncer: let it go on."),
        "RESUME",
    ),
    (
        r"no such (database|user)|config error|unsupported startup parameter",
        _("PgBouncer is not set up for these settings: compare them with its pgbouncer.ini and users."),
        "SHOW DATABASES",
    ),
)
