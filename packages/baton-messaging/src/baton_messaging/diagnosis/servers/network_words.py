"""Words of the network and of TLS mean the same of every server: what is wrong on the way, and what mends it.

The first that is found in what was said decides. *Source*. getaddrinfo(3), errno(3); OpenSSL manual,
"X509_STORE_CTX_get_error" and "SSL_get_error".
"""

import re
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from baton_messaging.health.diagnosis import Text

#: A pattern, what it says of {name}, the step, and the command: {host} and {port} are the server's.
_LOOK_AT_CERTIFICATE: Final = "openssl s_client -connect {host}:{port} -servername {host} < /dev/null"
_RESOLVE: Final = "getent hosts {host}; cat /etc/resolv.conf"
_REACH: Final = "nc -vz {host} {port}"
WORDS: Final[tuple[tuple[str, Any, Text, str], ...]] = (
    (
        "certificate has expired",
        _("the certificate of {name} has expired"),
        _("Renew its certificate."),
        _LOOK_AT_CERTIFICATE,
    ),
    (
        "certificate is not yet valid",
        _("the certificate of {name} is not valid yet"),
        _("Compare the clocks of both machines; else have it issued anew."),
        _LOOK_AT_CERTIFICATE,
    ),
    (
        "mismatch|not valid for|doesn't match",
        _("the certificate of {name} is for another name"),
        _("Name the server in the settings as its certificate does, or have one issued for this name."),
        _LOOK_AT_CERTIFICATE,
    ),
    (
        "certificate revoked",
        _("the certificate of {name} was revoked"),
        _("Have a new certificate issued."),
        _LOOK_AT_CERTIFICATE,
    ),
    (
        "certificate verify failed|UNKNOWN_CA|self.signed",
        _("the certificate of {name} is signed by one whom this machine does not trust"),
        _("Let this machine trust the one who signed its certificate, or have it signed by one that it trusts."),
        _LOOK_AT_CERTIFICATE,
    ),
    (
        "WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE",
        _("{name} speaks no TLS on this port"),
        _("Correct scheme or port of its address in the settings: with TLS from the start, or without."),
        _LOOK_AT_CERTIFICATE,
    ),
    (
        "TLS: ",
        _("{name} and this process agree on no TLS"),
        _("Compare certificates, versions and ciphers of TLS on both sides."),
        _LOOK_AT_CERTIFICATE,
    ),
    (
        r"[Tt]emporary failure in name resolution|[Tt]ry again \(DNS\)",
        _("{name} does not answer: the name servers do not tell its address"),
        _("Bring the name servers back, or correct /etc/resolv.conf."),
        _RESOLVE,
    ),
    (
        r"\(DNS\)|[Nn]ame or service not known|nodename nor servname|No address associated",
        _("{name} does not answer: no name server knows its name"),
        _("Correct its name in the settings, or enter it into the DNS."),
        _RESOLVE,
    ),
    (
        "[Cc]onnection refused|Error 111 ",
        _("{name} does not answer: nothing listens at its address"),
        _("Start it, or correct host and port in the settings."),
        _REACH,
    ),
    (
        "No route to host|[Nn]etwork is unreachable|Error (113|101) ",
        _("{name} does not answer: no way leads there"),
        _("Look at routes and firewalls between this machine and it."),
        _REACH,
    ),
)


def told_by_the_network(said: str) -> tuple[Any, Text, str] | None:
    """Return what the words mean, the step and the command; None if they tell of nothing on the way."""
    found = ((meaning, step, command) for pattern, meaning, step, command in WORDS if re.search(pattern, said))
    return next(found, None)
