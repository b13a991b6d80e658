"""flufl.lock. The time of its file is when the lock ends."""

import os
import sys
import time

from flufl.lock import Lock, TimeOutError

from verbs import main

lock = Lock(sys.argv[2], lifetime=15)
lock._sleep = lambda: time.sleep(0.05)  # instead of up to 2 s


def take():
    try:
        # It looks how old the lock is only before the last try.
        lock.lock(timeout=1 if sys.argv[1] == "try" else 20)
    except TimeOutError:
        return False
    return True


main(take, lock.unlock, lock.refresh)
