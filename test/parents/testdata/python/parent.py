"""parent.py SCENARIO LOCK GO: see doc.go."""
import os
import subprocess
import sys
import threading
import time

scenario, lock, go = sys.argv[1:]


def say(line):
    print(line, flush=True)


def start():
    limit = ["--timeout", "0"] if scenario == "try" else []
    stdin = None if scenario == "data" else subprocess.PIPE
    return subprocess.Popen(["locksmith", "hold", *limit, lock],
                            stdin=stdin, stdout=subprocess.PIPE, text=True)


def start_in_thread():
    started = []
    thread = threading.Thread(target=lambda: started.append(start()))
    thread.start()
    thread.join()
    return started[0]


def leave_child():
    ends = locker.stdin.fileno(), locker.stdout.fileno()
    child = subprocess.Popen(["sleep", "600"], pass_fds=ends)
    say(f"child {child.pid}")


def await_go():
    for _ in range(2400):
        if os.path.exists(go):
            return
        time.sleep(0.05)
    sys.exit("told nothing")


locker = start_in_thread() if scenario == "thread" else start()
line = locker.stdout.readline()
if not line.startswith("OK"):
    sys.exit("no lock: " + line)

if scenario == "fork":
    leave_child()
say("working")
if scenario == "data":
    for line in sys.stdin:
        say("data " + line.rstrip("\n"))
    say("eof")
await_go()
(locker.stdin or locker.stdout).close()
if locker.wait() != 0:
    sys.exit("lost the lock")
say("released")
