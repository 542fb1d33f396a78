"""The variables: every one that Baton reads, typed, with its unit, its default and the reason for it."""

import os
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from config.env.types import (
    BrokerUrl,
    Credentials,
    DatabaseUrl,
    HostNames,
    List,
    MailUrl,
    OptionalPort,
    Origins,
    PathInProject,
    Port,
    PublicUrl,
    Sender,
    Token,
)

# Characters, and different ones among them: what `check --deploy` demands (security.W009).
MIN_SECRET_LENGTH = 50
MIN_SECRET_VARIETY = 5


class Environment(BaseModel):
    """Variables of the process environment. An empty value counts as unset."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    DATABASE_URL: DatabaseUrl = Field(
        default="postgres://baton@127.0.0.1:5432/baton",
        repr=False,
        description="PostgreSQL, as postgres://user:password@host:5432/name. Unset, `make run` starts one of its own.",
    )
    DATABASE_OWNER_URL: DatabaseUrl = Field(
        default="",
        repr=False,
        description="URL of the role that owns the tables, if that of DATABASE_URL does not (better so). `make run` "
        "migrates with it, and grants the other what it needs. The processes never read it.",
    )
    CELERY_BROKER_URL: BrokerUrl = Field(
        default="redis://127.0.0.1:6379/0",
        repr=False,
        description="Broker: redis:// rediss:// sentinel:// (nodes separated by ;) amqp:// amqps://. "
        "Unset, `make run` starts a Valkey of its own.",
    )
    EMAIL_URL: MailUrl = Field(
        default="",
        repr=False,
        description="Where mail goes: smtp://user:password@host:25, smtp+tls:// (STARTTLS), smtps://, file:///folder, "
        "console://. ?timeout=10: seconds to wait for each answer of a server. Unset: files in BATON_STATE_DIR/mail.",
    )
    DEFAULT_FROM_EMAIL: Sender = Field(
        default="shop@example.com",
        description="Sender of all mail: an address, or Name <address>. Its domain ends every Message-ID.",
    )
    DJANGO_DEBUG: bool = Field(
        default=False,
        description="true or false. Off unless set, so that a forgotten variable is a safe one. `make run` sets it.",
    )
    DJANGO_SECRET_KEY: str = Field(
        default="",
        repr=False,
        description="Signs sessions and messages: 50 characters or more. Required unless DJANGO_DEBUG is on; "
        "`make run` makes one and keeps it in BATON_STATE_DIR.",
    )
    DJANGO_SECRET_KEY_FALLBACKS: List = Field(
        default=(),
        repr=False,
        description="Former secret keys, separated by commas: what they signed stays valid until removed here.",
    )
    DJANGO_ALLOWED_HOSTS: HostNames = Field(
        default=(),
        description="Host names the site answers to, separated by commas, beside the one of PUBLIC_URL; "
        ".example.com: all below it. When DJANGO_DEBUG is on also the names of this machine for itself.",
    )
    DJANGO_TRUSTED_ORIGINS: Origins = Field(
        default=(),
        description="Addresses whose forms are accepted, separated by commas, as https://shop.example.com, beside "
        "PUBLIC_URL: for a proxy that gives the site another Host than people see.",
    )
    DJANGO_HSTS_SECONDS: int = Field(
        default=3600,
        ge=0,
        description="Seconds that browsers remember to ask this site by HTTPS only. Raise it, to a year in the end, "
        "once HTTPS has proved itself; it cannot be taken back sooner. 0 when DJANGO_DEBUG is on.",
    )
    PROXY_COUNT: int = Field(
        default=0,
        ge=0,
        description="Proxies (count) in front of the web server. 0: what X-Forwarded-For, -Host and -Proto say is "
        "ignored. From 1 on it is believed, so each of them has to set or overwrite them.",
    )
    WEB_HOST: str = Field(
        default="127.0.0.1",
        description="Address the web server listens on. This machine only, until you decide otherwise.",
    )
    WEB_PORT: Port = Field(default=8000, description="TCP port of the web server.")
    PUBLIC_URL: PublicUrl = Field(
        default="",
        description="Address of the site as people reach it, such as https://shop.example.com; mails link to it. "
        "Unset: http://WEB_HOST:WEB_PORT.",
    )
    WEB_PROCESSES: int = Field(default=2, ge=1, description="Web processes (count): about one for each processor core.")
    WEB_THREADS: int = Field(
        default=8, ge=1, description="Threads of each web process (count). Each may hold one database connection."
    )
    WEB_KEEP_ALIVE_SECONDS: int = Field(
        default=95,
        ge=0,
        description="Seconds an idle connection stays open: longer than the balancer in front keeps it (60 to 90), "
        "else requests get lost between the two. 0: closed after each answer.",
    )
    ORDERS_PER_EMAIL: int = Field(
        default=10,
        ge=0,
        description="Orders (count) within ten minutes for one e-mail address. 0: no limit. When DJANGO_DEBUG is on, "
        "none for whoever is on this machine.",
    )
    ORDERS_PER_CLIENT: int = Field(
        default=6000,
        ge=0,
        description="Orders (count) within ten minutes from one client address; a company may share one. 0: no limit. "
        "When DJANGO_DEBUG is on, none for whoever is on this machine.",
    )
    ORDERS_CONFIRM_WITHIN_SECONDS: int = Field(
        default=259_200,
        ge=0,
        description="Seconds after which an order that is not confirmed is cancelled by itself. 0: it waits for ever.",
    )
    FLOWER_HOST: str = Field(default="127.0.0.1", description="Address Flower listens on.")
    FLOWER_PORT: Port = Field(default=5555, description="TCP port of Flower.")
    FLOWER_BASIC_AUTH: Credentials = Field(
        default="", repr=False, description="user:password for Flower. Required by Flower unless DJANGO_DEBUG is on."
    )
    FLOWER_URL: PublicUrl = Field(
        default="",
        description="Address of Flower as people reach it; the board links to it. Unset: http://FLOWER_HOST:FLOWER_PORT.",
    )
    METRICS_TOKEN: Token = Field(
        default="",
        repr=False,
        description="What Prometheus sends to read /metrics (Authorization: Bearer …): 20 characters or more. "
        "Unset: only staff who are logged in may, and anybody when DJANGO_DEBUG is on.",
    )
    OTEL_EXPORTER_OTLP_ENDPOINT: PublicUrl = Field(
        default="",
        description="Where traces go, by OTLP over HTTP, such as http://collector:4318. Needs the extra `otel`. "
        "Unset: nothing is traced.",
    )
    BATON_RELEASE: str = Field(
        default="",
        description="Release of this project, such as the tag of its image. Each process tells it, and one that "
        "differs is named. Unset: the version in pyproject.toml.",
    )
    BATON_STATE_DIR: PathInProject = Field(
        default=Path("var"),
        validate_default=True,
        description="Directory of all that `make run` writes; relative to the project.",
    )
    BATON_ADMIN_PASSWORD: str = Field(
        default="",
        repr=False,
        description="Password of the user `admin` that `manage.py seed` creates. Unset: a random one.",
    )
    BATON_DRAIN_SECONDS: int = Field(
        default=60,
        ge=1,
        description="Seconds that running tasks get to finish when `make run` stops; then they are sent back.",
    )
    POSTGRES_PORT: OptionalPort = Field(
        default=None,
        description="TCP port of the PostgreSQL that `make run` starts. Unset: a free one, then always the same.",
    )
    VALKEY_PORT: OptionalPort = Field(
        default=None,
        description="TCP port of the Valkey that `make run` starts. Unset: a free one, then always the same.",
    )

    @classmethod
    def read(cls) -> Self:
        """Read the variables of this process. Raises ValidationError.

        By hand, in one line: docs/decisions/a-library-only-where-lines-go-away.md.
        """
        return cls.model_validate({name: os.environ[name] for name in cls.model_fields if os.environ.get(name)})

    @model_validator(mode="after")
    def _secret_is_strong(self) -> Self:
        if self.DJANGO_DEBUG:
            return self
        if not self.DJANGO_SECRET_KEY:
            raise ValueError("DJANGO_SECRET_KEY: missing. Set it to 50 random characters, or DJANGO_DEBUG to true")
        key = self.DJANGO_SECRET_KEY
        if len(key) < MIN_SECRET_LENGTH or len(set(key)) < MIN_SECRET_VARIETY or key.startswith("django-insecure-"):
            raise ValueError("DJANGO_SECRET_KEY: too weak. Expected 50 random characters or more")
        return self
