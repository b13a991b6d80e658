"""asked.py QUESTION LOCK PIDS: see test/helpers/clients_test.go."""
import asyncio
import gc
import sys

import locksmith

question, address, pids = sys.argv[1:]
timeouts = {"infinite": float("inf"), "zero": 0, "negative": -3, "not a number": float("nan")}


async def cancel():
    try:
        await asyncio.wait_for(waits(), 1)
    except asyncio.TimeoutError:
        pass


async def waits():
    try:
        await locksmith.acquire_async(address)
    except asyncio.CancelledError as e:
        print("cancelled" if e.waited >= 0.3 else e.waited)
        raise


def answer():
    if question == "dropped":
        locksmith.acquire(address)
        gc.collect()
        locksmith.acquire(address, timeout=5)
        return "free"
    if question == "twice":
        lock = locksmith.acquire(address)
        return "once" if lock.release() and not lock.release() else "again"
    if question == "frozen":
        locksmith.acquire(address, timeout=0.2, kill_after=0.1, helper=["sh", "-c", f"echo $$ >{pids}; kill -STOP $$; exec sleep 300"])
    locksmith.acquire(address, timeout=timeouts[question]).release()
    return "got it"


print("asks", flush=True)
if question == "cancel":
    asyncio.run(cancel())
    sys.exit()
try:
    print(answer())
except locksmith.HeldError:
    print("held")
except ValueError as e:
    print("refused" if "timeout" in str(e) else e)
except locksmith.HelperError as e:
    print("no answer" if e.code == "unreachable" else e)
