"""Codes of servers mean a condition: the tables by which refusals are classified (refusals.py).

*Source*: PostgreSQL manual, appendix "Error Codes"; PgBouncer, src/client.c and janitor.c; Redis and Valkey,
src/server.c (shared errors); AMQP 0-9-1 specification, section 1.2, and RabbitMQ manual, "Access Control" and "Virtual
Hosts"; RFC 5321 and RFC 4954 (SMTP); OpenSSL manual, "X509_STORE_CTX_get_error"; errno(3), RFC 9110 (HTTP).
"""

import errno
import os
from typing import Final

from baton_messaging.health.condition import Condition

AWAY, REFUSES, READ_ONLY = Condition.AWAY, Condition.REFUSES, Condition.READ_ONLY
FULL, NOT_PERMITTED, DIFFERENT = Condition.FULL, Condition.NOT_PERMITTED, Condition.DIFFERENT

#: PostgreSQL's SQLSTATE: five characters where one of a class differs from its class.
SQLSTATES: Final = {
    "08": AWAY,
    "08004": NOT_PERMITTED,  # sqlserver_rejected_establishment_of_sqlconnection
    "08P01": REFUSES,  # protocol_violation: what PgBouncer says whatever its reason is (POSTGRESQL_WORDS)
    "25": REFUSES,
    "25006": READ_ONLY,
    "26": DIFFERENT,  # a prepared statement is gone: a pool in between gives each transaction another connection
    "28": NOT_PERMITTED,
    "3D": DIFFERENT,  # no such database
    "3F": DIFFERENT,  # no such schema
    "40": REFUSES,
    "42501": NOT_PERMITTED,
    "42703": DIFFERENT,  # no such column
    "42704": DIFFERENT,
    "42883": DIFFERENT,
    "42P01": DIFFERENT,  # no such table
    "42P05": DIFFERENT,  # a prepared statement is there already: as class 26
    "53": FULL,
    "54": REFUSES,
    "55": REFUSES,
    "57": REFUSES,
    "57P01": AWAY,  # admin_shutdown
    "57P02": AWAY,  # crash_shutdown
    "57P04": DIFFERENT,  # database_dropped
    "58": REFUSES,
    "F0": REFUSES,  # configuration file, lock file
    "XX": REFUSES,  # internal error, corrupted data
}

#: The operating system's words in an error of PostgreSQL: its code alone would mean a right ("Read-only file system" is
#: 42501) or nothing (58030). They stand in the language of the server's machine, so that the code is asked next.
POSTGRESQL_SYSTEM_WORDS: Final = (
    ("No space left on device", FULL),
    ("Disk quota exceeded", FULL),
    ("File too large", FULL),
    ("Read-only file system", READ_ONLY),
    ("Input/output error", REFUSES),
)

#: PostgreSQL refuses a connection without a code that its client would tell: its words decide, the first that is found.
POSTGRESQL_WORDS: Final = (
    ("password authentication failed", NOT_PERMITTED),
    ("no password supplied", NOT_PERMITTED),
    ("pg_hba.conf", NOT_PERMITTED),
    ("is not permitted to log in", NOT_PERMITTED),
    ("permission denied", NOT_PERMITTED),
    ("authentication failed", NOT_PERMITTED),
    ("requires a valid client certificate", NOT_PERMITTED),
    ("too many connections", FULL),
    ("too many clients", FULL),
    ("remaining connection slots", FULL),
    ("couldn't get a connection after", FULL),  # psycopg's own pool
    ("No space left on device", FULL),
    ("Too many open files", FULL),
    ("session is read-only", READ_ONLY),
    ("read-only", READ_ONLY),
    ("in hot standby mode", READ_ONLY),
    ("the database system is", REFUSES),  # starting up, shutting down, in recovery mode, not accepting connections
    ("not accepting commands", REFUSES),  # to avoid wraparound
    ("not currently accepting connections", REFUSES),  # ALTER DATABASE … ALLOW_CONNECTIONS false
    ("server does not support SSL", DIFFERENT),
    ("root certificate file", DIFFERENT),  # of ours: sslrootcert names one that is not there
    ("does not exist", DIFFERENT),
    ("unsupported frontend protocol", DIFFERENT),
)

#: What PgBouncer says itself, and no PostgreSQL does.
PGBOUNCER_WORDS: Final = (
    ("no more connections allowed", FULL),  # max_client_conn, max_db_client_connections, max_user_client_connections
    ("query_wait_timeout", FULL),  # each connection of the pool is taken
    ("too many clients", FULL),
    ("client_login_timeout", FULL),
    ("client_idle_timeout", REFUSES),
    ("idle transaction timeout", REFUSES),
    ("transaction timeout", REFUSES),
    ("query timeout", REFUSES),
    ("pgbouncer cannot connect to server", AWAY),
    ("server login has been failing", AWAY),
    ("server login failed", AWAY),
    ("server conn crashed", AWAY),
    ("server_lifetime", AWAY),
    ("the database system is", REFUSES),
    ("bouncer config error", DIFFERENT),
    ("unsupported startup parameter", DIFFERENT),
    ("no such database", DIFFERENT),
    ("no such user", NOT_PERMITTED),
    ("does not allow connections", REFUSES),
    ("is disabled", REFUSES),
    ("pgbouncer is", REFUSES),  # shutting down, paused
    ("bouncer", REFUSES),
)

#: The first word of an error of Redis.
REDIS_PREFIXES: Final = {
    "READONLY": READ_ONLY,
    "MASTERDOWN": READ_ONLY,  # a replica without its primary
    "MISCONF": REFUSES,  # it cannot write its file, and takes nothing that it might lose
    "NOREPLICAS": REFUSES,
    "OOM": FULL,
    "LOADING": REFUSES,
    "BUSY": REFUSES,
    "BUSYKEY": DIFFERENT,
    "UNKILLABLE": REFUSES,
    "EXECABORT": REFUSES,
    "NOPERM": NOT_PERMITTED,
    "NOAUTH": NOT_PERMITTED,
    "WRONGPASS": NOT_PERMITTED,
    "DENIED": NOT_PERMITTED,  # protected mode
    "CLUSTERDOWN": REFUSES,
    "TRYAGAIN": REFUSES,
    "NOSCRIPT": REFUSES,
    "MOVED": DIFFERENT,  # a cluster, which the transport does not speak to
    "ASK": DIFFERENT,
    "CROSSSLOT": DIFFERENT,
    "WRONGTYPE": DIFFERENT,
    "NOPROTO": DIFFERENT,
    "NOTREADY": REFUSES,
    "IOERR": REFUSES,
}
#: Under the prefix ERR, and where the client has cut the prefix off.
REDIS_WORDS: Final = (
    ("max number of clients", FULL),
    ("Too many connections", FULL),  # redis-py's own pool
    ("No space left on device", FULL),
    ("invalid password", NOT_PERMITTED),
    ("invalid username-password pair", NOT_PERMITTED),
    ("Authentication required", NOT_PERMITTED),
    ("called without any password", DIFFERENT),
    ("no password is set", DIFFERENT),
    ("DB index is out of range", DIFFERENT),
    ("unknown command", DIFFERENT),
    ("SELECT is not allowed", DIFFERENT),
    ("No master found", AWAY),  # of Sentinel
    ("No slave found", AWAY),
)

#: AMQP's reply codes. Where the words say more than the code, AMQP_WORDS decide.
AMQP_CODES: Final = {
    311: REFUSES,  # CONTENT_TOO_LARGE
    312: DIFFERENT,  # NO_ROUTE
    313: DIFFERENT,  # NO_CONSUMERS
    320: AWAY,  # CONNECTION_FORCED
    402: DIFFERENT,  # INVALID_PATH
    403: NOT_PERMITTED,
    404: DIFFERENT,
    405: REFUSES,  # RESOURCE_LOCKED
    406: DIFFERENT,  # PRECONDITION_FAILED
    501: REFUSES,
    502: REFUSES,
    503: REFUSES,
    504: REFUSES,
    505: REFUSES,
    506: FULL,  # RESOURCE_ERROR
    530: NOT_PERMITTED,
    540: DIFFERENT,  # NOT_IMPLEMENTED
    541: REFUSES,  # INTERNAL_ERROR
}
AMQP_WORDS: Final = (
    ("limit", FULL),  # of connections, channels or queues, of the vhost or the user
    ("channel_max", FULL),
    ("timed out", REFUSES),  # consumer_timeout: an acknowledgement that came too late
    ("is down", REFUSES),  # vhost, or the only node of a queue
    ("has no quorum", REFUSES),
    ("unavailable", REFUSES),
    ("vhost", DIFFERENT),  # "vhost x not found", after "access … refused"
)
#: By the class: these carry no code.
AMQP_CLASSES: Final = {"BrokerBlocked": FULL, "MessageNacked": REFUSES, "Blocked": FULL, "ConsumerCancelled": REFUSES}

#: SMTP's reply codes.
SMTP_CODES: Final = {
    421: REFUSES,  # closing: too busy, too many connections
    422: FULL,
    431: FULL,
    432: NOT_PERMITTED,  # a password must be changed
    442: AWAY,
    450: REFUSES,
    451: REFUSES,
    452: FULL,
    454: REFUSES,  # TLS or login, for now
    500: DIFFERENT,
    501: DIFFERENT,
    502: DIFFERENT,
    503: DIFFERENT,
    504: DIFFERENT,
    523: FULL,
    530: NOT_PERMITTED,  # login or TLS wanted
    534: NOT_PERMITTED,
    535: NOT_PERMITTED,
    538: NOT_PERMITTED,
    550: NOT_PERMITTED,
    551: NOT_PERMITTED,
    552: FULL,
    553: NOT_PERMITTED,
    554: NOT_PERMITTED,
    556: DIFFERENT,
}

#: Alerts of TLS that the other side sends: it does not like us. All other errors of TLS mean AWAY.
TLS_REASONS: Final = (
    ("CERTIFICATE_REQUIRED", NOT_PERMITTED),
    ("ALERT_BAD_CERTIFICATE", NOT_PERMITTED),
    ("ALERT_CERTIFICATE", NOT_PERMITTED),  # expired, revoked, unknown, unsupported
    ("ALERT_UNKNOWN_CA", NOT_PERMITTED),
    ("ALERT_ACCESS_DENIED", NOT_PERMITTED),
    ("ALERT_DECRYPT_ERROR", NOT_PERMITTED),
    ("WRONG_VERSION_NUMBER", DIFFERENT),  # what answers speaks no TLS
    ("UNSUPPORTED_PROTOCOL", DIFFERENT),
    ("ALERT_PROTOCOL_VERSION", DIFFERENT),
    ("HANDSHAKE_FAILURE", DIFFERENT),
    ("NO_CIPHERS", DIFFERENT),
)

#: Of the operating system. What is not here, of a connection, means AWAY.
ERRNOS: Final = {
    errno.ECONNREFUSED: AWAY,
    errno.ECONNRESET: AWAY,
    errno.ECONNABORTED: AWAY,
    errno.EPIPE: AWAY,
    errno.EHOSTUNREACH: AWAY,
    errno.EHOSTDOWN: AWAY,
    errno.ENETUNREACH: AWAY,
    errno.ENETDOWN: AWAY,
    errno.ENETRESET: AWAY,
    errno.ETIMEDOUT: AWAY,
    errno.EAGAIN: AWAY,
    errno.ENOTCONN: AWAY,
    errno.ESHUTDOWN: AWAY,
    errno.ESTALE: AWAY,  # a file server that came back with other files
    errno.EIO: REFUSES,
    errno.EBUSY: REFUSES,
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EMFILE: FULL,  # file descriptors of this process
    errno.ENFILE: FULL,  # of this machine
    errno.ENOMEM: FULL,
    errno.ENOBUFS: FULL,
    errno.EFBIG: FULL,
    errno.EADDRNOTAVAIL: FULL,  # each port of this machine is taken by a connection that is or was
    errno.EROFS: READ_ONLY,
    errno.EACCES: NOT_PERMITTED,
    errno.EPERM: NOT_PERMITTED,
    errno.ENOENT: DIFFERENT,
    errno.EEXIST: DIFFERENT,
    errno.ENOTDIR: DIFFERENT,
    errno.EISDIR: DIFFERENT,
    errno.ELOOP: DIFFERENT,
    errno.ENAMETOOLONG: DIFFERENT,
}

#: Of these it is the process itself that is short, or its machine, and what libraries make of them.
OWN_ERRNOS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EADDRNOTAVAIL})
OWN_WORDS: Final = tuple(os.strerror(number) for number in sorted(OWN_ERRNOS))

#: Of a storage or another service that speaks HTTP; by hundreds where the code is not here.
HTTP_CODES: Final = {
    401: NOT_PERMITTED,
    403: NOT_PERMITTED,
    407: NOT_PERMITTED,
    404: DIFFERENT,
    405: DIFFERENT,
    410: DIFFERENT,
    408: AWAY,
    413: FULL,
    429: REFUSES,
    502: AWAY,
    504: AWAY,
    507: FULL,
}
