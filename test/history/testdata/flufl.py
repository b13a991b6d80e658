"""Runs a command under flufl.lock: flufl.py LOCK COMMAND…

As its manual asks, whoever takes longer than the lifetime refreshes the lock. If it is gone by
then, the command is ended.
"""

import subprocess
import sys
from datetime import timedelta

from flufl.lock import Lock, NotLockedError

lifetime = 8
lock = Lock(sys.argv[1], lifetime=timedelta(seconds=lifetime))
lock.lock()
command = subprocess.Popen(sys.argv[2:])
while True:
    try:
        command.wait(timeout=lifetime / 4)
        break
    except subprocess.TimeoutExpired:
        pass
    try:
        lock.refresh()
    except NotLockedError:
        command.terminate()
        sys.exit("flufl.lock: the lock is lost")
lock.unlock(unconditionally=True)
