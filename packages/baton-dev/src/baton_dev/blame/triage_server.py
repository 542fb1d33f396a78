"""A triage server runs ``manage.py triage`` for each id on standard input, and answers with a line of JSON."""

import json
import sys
from io import StringIO

import django
from django.core.management import CommandError, call_command
from django.db import connection


def main() -> None:
    """Answer until standard input ends."""
    django.setup()
    print("ready", flush=True)
    for line in sys.stdin:
        out = StringIO()
        try:
            call_command("triage", line.strip(), format="json", stdout=out)
        except SystemExit:
            pass  # somebody must act
        except CommandError as error:
            out.write(json.dumps({"verdicts": [], "error": str(error)}))
        finally:
            connection.close()
        print(json.dumps(json.loads(out.getvalue())), flush=True)


if __name__ == "__main__":
    main()
