"""handle.py LOCK: what the client promises of a lock in a program's hands. It exits with 1 if it is not so."""
import asyncio
import gc
import pathlib
import pickle
import sys
import threading
import time
import warnings

import locksmith

address = sys.argv[1]


def refuses(kind, said, call):
    try:
        call()
    except kind as e:
        assert said in str(e), str(e)
        return e
    raise AssertionError(f"no {kind.__name__} that says {said!r}")


# A lock that is not lost is falsely "lost", one that is, truly.
with locksmith.acquire(address, poll=(0.01, 0.05), slow=(0.1, 0.2)) as lock:
    assert not lock.lost and lock.lost is lock.lost, lock.lost
    held = refuses(locksmith.HeldError, "held by", lambda: locksmith.try_acquire(address))
assert held.holder.pid and held.code == "held"

# Errors go through a pickle, as from one process of a pool to another.
for error in held, locksmith.LostError("gone", "gone"), locksmith.ProtocolError("what"):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code) == (type(error), str(error), error.code), again
assert pickle.loads(pickle.dumps(held)).holder.pid == held.holder.pid

# Of a released lock there is no block.
assert not lock.release()
refuses(RuntimeError, "was released before", lambda: lock.__enter__())

# Addresses are strings, options are known.
refuses(TypeError, "begins with a kind of lock", lambda: locksmith.acquire(pathlib.Path("/tmp/x")))
refuses(TypeError, "acquire(*locks)", lambda: locksmith.acquire([address]))
refuses(TypeError, "no lock", locksmith.acquire)
refuses(TypeError, "a string, not a int", lambda: locksmith.acquire(3))
refuses(TypeError, "a list of the program", lambda: locksmith.acquire(address, helper="locksmith"))
refuses(TypeError, "a number of seconds", lambda: locksmith.acquire(address, timeout="10"))
refuses(TypeError, "a pair of seconds", lambda: locksmith.acquire(address, poll=3))
refuses(TypeError, "timout", lambda: locksmith.acquire(address, timout=3))

# A second thread's release waits for the first's.
slow = ["sh", "-c", 'echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000; cat >/dev/null; sleep 0.5; echo RELEASED held_ms=1']
lock = locksmith.acquire(address, helper=slow)
first = threading.Thread(target=lock.release)
first.start()
time.sleep(0.1)
assert lock.release() is False and lock._helper._process.poll() is not None, "it did not wait"
first.join()

# A helper that says with its status that it was too soon is believed, however late its line was read.
for status in 79, 143:
    early = ["sh", "-c", f"echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000; sleep 0.3; echo RELEASED held_ms=0; exit {status}"]
    lock = locksmith.acquire(address, helper=early)
    refuses(locksmith.LostError, "before it was asked to", lock.release)

# Its standard error goes where it should.
talkative = ["sh", "-c", 'echo one >&2; echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000; cat >/dev/null; echo two >&2; echo RELEASED held_ms=1']
said = []
locksmith.acquire(address, helper=talkative, log=said.append).release()
for _ in range(100):
    if len(said) < 2:
        time.sleep(0.05)
assert said == ["one", "two"], said
lock = locksmith.acquire(address, helper=talkative, log=False)
assert lock._helper._process.stderr is None
lock.release()

# A lock that is dropped is told, and held.
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    dropped = locksmith.acquire(address)
    helper = dropped._helper
    del dropped
    gc.collect()
assert [w.category for w in told] == [ResourceWarning] and "never released" in str(told[0].message), told
refuses(locksmith.HeldError, "held", lambda: locksmith.try_acquire(address))
helper._release()


async def in_loop():
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.02)
            ticks += 1

    ticker = asyncio.create_task(tick())
    lock = await locksmith.acquire_async(address, helper=slow)
    before = ticks
    assert await lock.release() is True and ticks - before > 5, ticks
    assert await lock.release() is False
    async with await locksmith.acquire_async(address) as lock:
        assert lock.id and not lock.lost
    async with locksmith.acquire_async(address) as lock:
        assert lock.id
        assert await lock.release()
    ticker.cancel()


asyncio.run(in_loop())
without_loop = locksmith.acquire_async(address).__await__()
refuses(RuntimeError, "a running loop of asyncio", lambda: next(without_loop))
