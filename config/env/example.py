"""The file `.env.example` lists every variable with its default; a test compares it with the variables.

DJANGO_DEBUG=true python -m config.env.example > .env.example
"""

import sys
from typing import Any

from config.env.variables import Environment


def example() -> str:
    """Return the text of `.env.example`."""
    blocks = [
        f"# {field.description}\n# {name}={_shown(field.default)}" for name, field in Environment.model_fields.items()
    ]
    head = "# Copy to .env, which `make run` reads, or set these in the environment. Every line shows the default.\n"
    return head + "\n" + "\n\n".join(blocks) + "\n"


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return ",".join(default) if isinstance(default, tuple) else str(default or "")


if __name__ == "__main__":
    sys.stdout.write(example())
