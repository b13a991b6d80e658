"""parent.py SCENARIO LOCK GO, by way of client/python: see doc.go."""
import asyncio
import os
import subprocess
import sys
import threading
import time

import locksmith

scenario, address, go = sys.argv[1:]


def say(line):
    print(line, flush=True)


def acquire():
    if scenario == "try":
        return locksmith.try_acquire(address)
    return locksmith.acquire(address, lease=3 if scenario == "stopped" else None, max_hold=1 if scenario == "max_hold" else None)


def acquire_in_thread():
    got = []
    thread = threading.Thread(target=lambda: got.append(acquire()))
    thread.start()
    thread.join()
    return got[0]


def leave_child(lock):
    ends = lock._helper._stdin.fileno(), lock._helper._stdout.fileno()
    child = subprocess.Popen(["sleep", "600"], pass_fds=ends)
    say(f"child {child.pid}")


def fork_child(lock):
    child = os.fork()
    if not child:
        try:
            lock.release()
        except RuntimeError:
            time.sleep(600)
        os._exit(1)
    say(f"child {child}")


def await_go():
    for _ in range(2400):
        if os.path.exists(go):
            return
        time.sleep(0.05)
    sys.exit("told nothing")


async def task():
    try:
        async with locksmith.acquire_async(address):
            say("working")
            await asyncio.sleep(120)
    except locksmith.LostError as e:
        say("lost " + e.code)


async def give_up():
    child = f"while kill -0 {os.getpid()}; do sleep 1; done & "  # keeps the pipe
    deaf = {"helper": ["sh", "-c", child + "exec sleep 600"], "kill_after": 1} if scenario == "deaf" else {}
    try:
        await asyncio.wait_for(locksmith.acquire_async(address, **deaf), 0.5)
    except asyncio.TimeoutError:
        say("gave up")
    while any(thread.name.startswith("locksmith") for thread in threading.enumerate()):  # which kills a deaf helper
        await asyncio.sleep(0.05)


if scenario in ("task", "give_up", "deaf"):
    asyncio.run(task() if scenario == "task" else give_up())
    sys.exit()
lock = acquire_in_thread() if scenario == "thread" else acquire()
if scenario == "fork":
    leave_child(lock)
if scenario == "forked":
    fork_child(lock)
say("working")
if scenario in ("lost", "stopped", "max_hold"):
    if not lock.lost.wait(120):
        sys.exit("not lost")
    say("lost " + lock.error.code)
    try:
        lock.release()
    except locksmith.LostError as e:
        say("released " + e.code)
    sys.exit()
if scenario == "data":
    for line in sys.stdin:
        say("data " + line.rstrip("\n"))
    say("eof")
await_go()
if not lock.release() or lock.release():
    sys.exit("released in vain")
say("released")
