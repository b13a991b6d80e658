"""Heartbeats that were in the pipe while this process was stopped count less than those that come.

Time is our own: what the client waits for comes at once, and the clock goes on.
"""

import queue
import threading

import locksmith

clock = 0.0
locksmith._now = lambda: clock


class Lines:
    """The helper's lines, each with the time at which it comes; this process may be stopped from 10 to 40."""

    def __init__(self, stopped, *lines):
        self.stopped, self.lines = stopped, list(lines)

    def get(self, timeout):
        global clock
        if self.stopped and 10 <= clock + timeout < 40:
            clock, timeout = 40.0, 0
        if self.lines and self.lines[0][0] <= clock + timeout:
            clock = max(clock, self.lines[0][0])
            return self.lines.pop(0)[1]
        clock += max(timeout, 0.01)
        if lost:
            return b""
        raise queue.Empty


def lost_at(*beats, stopped=True, lease=16, late=0):
    """When the lock is lost that has these heartbeats, and an OK that may have been read so late."""
    global clock
    clock = 0.0
    lost.clear()
    lock = object.__new__(locksmith._Helper)
    lock.lease, lock.address, lock.error, lock.lost = lease, "local:/x", None, threading.Event()
    lock._late, lock._asked, lock._released, lock._mutex, lock._on_lost = late, False, False, threading.Lock(), lambda _: lost.append(clock)
    lock._listen(Lines(stopped, *((at, b"BEAT sent_ms=0\n") for at in beats)))
    assert lock.error.code == "expired", lock.error
    return round(lost[0])


lost = []
usual = lost_at(4, 8, 12, stopped=False)
assert usual == 12 + 12 + 1, usual
backlog = lost_at(4, 8, 12, 16, 20)
assert backlog == 40 + 6 + 1, backlog
more = lost_at(4, 8, 12, 16, 44)
assert more == 44 + 12 + 1, more
# Many, for the length of the lease, as those of link: are.
many = lost_at(*range(8, 3600, 8), stopped=False, lease=3600)
assert many > 3600, many
# OK, too, may have been in the pipe.
first = lost_at(stopped=False), lost_at(stopped=False, late=3600)
assert first == (12 + 1, 6 + 1), first
