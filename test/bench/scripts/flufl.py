"""flufl.lock: probe, run LOCK COMMAND…, loop LOCK DIR WORKER (see loop.sh)."""

import os
import subprocess
import sys

from flufl.lock import Lock


def loop(path, place, worker):
    lock = Lock(path)
    print("ready", flush=True)
    sys.stdin.read()
    while not os.path.exists(place + "/stop"):
        with lock:
            increment(place, worker)


def increment(place, worker):
    with open(place + "/counter") as f:
        n = int(f.read()) + 1
    with open(place + "/counter", "w") as f:
        f.write(f"{n}\n")
    with open(place + "/log", "a") as f:
        f.write(f"{n} {worker}\n")


if sys.argv[1] == "run":
    with Lock(sys.argv[2]):
        subprocess.run(sys.argv[3:], check=True)
elif sys.argv[1] == "loop":
    loop(*sys.argv[2:])
