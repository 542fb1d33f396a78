"""A program to supervise: `dummy_program [SECONDS]`. Asked to stop, it takes so many seconds to finish."""

import os
import signal
import sys
import time

finish_seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0


def finish(*_: object) -> None:
    print(f"finishing {os.getpid()}", flush=True)
    time.sleep(finish_seconds)
    print("finished", flush=True)
    raise SystemExit(0)


signal.signal(signal.SIGTERM, finish)
print(f"working {os.getpid()}", flush=True)
while True:
    signal.pause()
