"""flood.py LOCK GO: writes to a helper that never reads. See doc.go."""
import fcntl
import os
import struct
import subprocess
import sys
import termios
import time

lock, go = sys.argv[1:]
CHUNK = bytes(4096)


def flood(pipe):
    """Writes until go exists, for minutes if need be; returns how much went."""
    os.set_blocking(pipe, False)
    written, told = 0, False
    for _ in range(12000):
        try:
            written += os.write(pipe, CHUNK)
            continue
        except BlockingIOError:
            pass
        if not told:
            print("full", written, flush=True)
            told = True
        if os.path.exists(go):
            return written
        time.sleep(0.01)
    sys.exit("told nothing")


def unread(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


locker = subprocess.Popen(["locksmith", "hold", lock],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
line = locker.stdout.readline()
if not line.startswith("OK"):
    sys.exit("no lock: " + line)
written = flood(locker.stdin.fileno())
print("unread", unread(locker.stdin.fileno()), "of", written, flush=True)
locker.stdin.close()
if locker.wait() != 0:
    sys.exit("lost the lock")
print("released", flush=True)
