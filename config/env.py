"""The environment: every variable that Baton reads, typed, with its unit and default."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Environment(BaseSettings):
    """Variables of the process environment, checked once at start."""

    model_config = SettingsConfigDict(extra="ignore", case_sensitive=True)

    DATABASE_URL: str = "postgres://baton@127.0.0.1:5432/baton"
    CELERY_BROKER_URL: str = "redis://127.0.0.1:6379/0"
    EMAIL_URL: str = ""
    DJANGO_SECRET_KEY: str = ""
    DJANGO_SECRET_KEY_FALLBACKS: list[str] = Field(default_factory=list)
    DJANGO_DEBUG: bool = False
    DJANGO_ALLOWED_HOSTS: list[str] = Field(default_factory=list)
    FLOWER_BASIC_AUTH: str = ""
    WEB_PORT: int = 8000
    FLOWER_PORT: int = 5555
    BATON_STATE_DIR: Path = Path("var")


env = Environment()
