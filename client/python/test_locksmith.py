"""What the client promises: python3 -m unittest, with locksmith on PATH, or its path in $LOCKSMITH."""
import asyncio
import contextlib
import gc
import os
import pathlib
import pickle
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

import locksmith

OK = "OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000"
BUSY = "BUSY tries=1 waited_ms=5 holder=h pid=42 text=local:/x: held by somebody"
LONG = 60  # seconds; nothing that is waited for in vain takes so long


def sh(script):
    """A helper that is a shell's script."""
    return ["sh", "-c", script]


HOLDS = f"trap '' TERM; echo {OK}; cat >/dev/null; echo RELEASED held_ms=1"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.address = f"local:{folder.name}/lock"

    def refuses(self, kind, said, call):
        with self.assertRaises(kind) as told:
            call()
        self.assertIn(said, str(told.exception))
        return told.exception

    def known(self, kind, said, call, is_known=lambda e: getattr(e, "code", "") != "unreachable"):
        """refuses, until the error says what a test needs to know: on a busy machine a helper may not answer in time."""
        for _ in range(20):
            with self.assertRaises((kind, locksmith.HelperError)) as told:
                call()
            if is_known(told.exception):
                break
        self.assertIsInstance(told.exception, kind)
        self.assertIn(said, str(told.exception))
        return told.exception

    def held(self):
        """Another holder has the lock."""
        lock = locksmith.acquire(self.address)
        self.addCleanup(lock.release)
        return lock


class Locks(Case):
    def test_lost_is_a_state(self):
        with locksmith.acquire(self.address, poll=(0.01, 0.05), slow=(0.1, 0.2)) as lock:
            self.assertFalse(lock.lost)
            self.assertIs(lock.lost, lock.lost)
            held = self.known(locksmith.HeldError, "held by", lambda: locksmith.try_acquire(self.address))
        self.assertTrue(held.holder.pid)
        self.assertEqual(held.code, "held")
        for error in held, locksmith.LostError("gone", "gone"), locksmith.ProtocolError("what"):  # as from one process of a pool to another
            again = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(again), str(again), again.code), (type(error), str(error), error.code))
        self.assertEqual(pickle.loads(pickle.dumps(held)).holder.pid, held.holder.pid)

    def test_released_lock_has_no_block(self):
        lock = locksmith.acquire(self.address)
        self.assertTrue(lock.release())
        self.assertFalse(lock.release())
        self.refuses(RuntimeError, "was released before", lock.__enter__)

    def test_lock_has_one_block(self):
        with locksmith.acquire(self.address) as lock:
            self.refuses(RuntimeError, "in a block already", lock.__enter__)
            self.assertFalse(lock.lost)

    def test_second_release_waits_for_the_first(self):
        lock = locksmith.acquire(self.address, helper=sh(f"echo {OK}; cat >/dev/null; sleep 0.5; echo RELEASED held_ms=1"))
        first = threading.Thread(target=lock.release)
        first.start()
        while not lock._helper._asked:
            time.sleep(0.01)
        self.assertIs(lock.release(), False)
        self.assertIsNotNone(lock._helper._process.poll(), "it did not wait")
        first.join()

    def test_status_tells_of_an_early_release(self):
        for status in 79, 143:
            lock = locksmith.acquire(self.address, helper=sh(f"echo {OK}; sleep 0.3; echo RELEASED held_ms=0; exit {status}"))
            self.refuses(locksmith.LostError, "before it was asked to", lock.release)

    def test_log(self):
        talkative = sh(f"echo one >&2; echo {OK}; cat >/dev/null; echo two >&2; echo RELEASED held_ms=1")
        said = queue.Queue()
        locksmith.acquire(self.address, helper=talkative, log=said.put).release()
        self.assertEqual([said.get(timeout=LONG), said.get(timeout=LONG)], ["one", "two"])
        lock = locksmith.acquire(self.address, helper=talkative, log=False)
        self.assertIsNone(lock._helper._process.stderr)
        lock.release()

    def test_dropped_lock_is_told_and_held(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            dropped = locksmith.acquire(self.address)
            helper = dropped._helper
            del dropped
            gc.collect()
        self.assertEqual([w.category for w in told], [ResourceWarning])
        self.assertIn("never released", str(told[0].message))
        self.known(locksmith.HeldError, "held", lambda: locksmith.try_acquire(self.address))
        helper._release()


class Options(Case):
    def test_refused_in_words(self):
        for kind, said, locks, options in [
            (TypeError, "begins with a kind of lock", [pathlib.Path("/tmp/x")], {}),
            (TypeError, "acquire(*locks)", [[self.address]], {}),
            (TypeError, "no lock", [], {}),
            (TypeError, "a string, not a int", [3], {}),
            (TypeError, "a list of the program", [self.address], {"helper": "locksmith"}),
            (TypeError, "timeout: a number of seconds", [self.address], {"timeout": "10"}),
            (TypeError, "a pair of seconds", [self.address], {"poll": 3}),
            (TypeError, "timout", [self.address], {"timout": 3}),
            (TypeError, "ask: a function", [self.address], {"ask": 3}),
            (TypeError, "without retries", [self.address], {"ask": print, "retries": 3}),
            (ValueError, "timeout: a number of seconds, not nan", [self.address], {"timeout": float("nan")}),
            (ValueError, "lease: from 0 to", [self.address], {"lease": float("inf")}),
            (ValueError, "respite: from 0 to", [self.address], {"respite": -1}),
            (ValueError, "kill_after: a number of seconds, not nan", [self.address], {"kill_after": float("nan")}),
        ]:
            for acquire in locksmith.acquire, locksmith.acquire_async:
                with self.subTest(said, acquire=acquire.__name__):
                    self.refuses(kind, said, lambda: acquire(*locks, **options))

    def test_timeout(self):
        with locksmith.acquire(self.address, timeout=float("inf")):
            for one_try in 0, -3, float("-inf"):
                self.assertEqual(self.known(locksmith.HeldError, "held by", lambda: locksmith.acquire(self.address, timeout=one_try)).code, "held")
            timed = self.known(locksmith.HeldError, "gave up after", lambda: locksmith.acquire(self.address, timeout=0.1))
            self.assertEqual(timed.code, "timeout")
            self.assertGreaterEqual(timed.waited, 0.1)


class Waits(Case):
    def test_frozen_helper(self):
        for name, options in ("one try", {"timeout": 0}), ("a bound", {"timeout": 0.2}), ("a policy", {"timeout": 0.2, "ask": lambda *_: 0}):
            with self.subTest(name):
                frozen = sh("kill -STOP $$; exec sleep 300")
                told = self.refuses(locksmith.HelperError, "no answer within",
                                    lambda: locksmith.acquire(self.address, helper=frozen, kill_after=0.1, **options))
                self.assertEqual(told.code, "unreachable")
                self.assertGreater(told.waited, options["timeout"])

    def test_frozen_after_a_refusal(self):
        frozen = sh(f"echo '{BUSY}'; kill -STOP $$; exec sleep 300")
        told = self.refuses(locksmith.HeldError, "held by somebody",
                            lambda: locksmith.acquire(self.address, helper=frozen, kill_after=0.1, timeout=0.2, ask=lambda *_: None))
        self.assertEqual((told.code, told.holder.pid), ("timeout", 42))

    def test_interrupted_by_a_signal(self):
        self.held()

        def interrupt(*_):
            raise KeyboardInterrupt
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))

        def wait():
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            locksmith.acquire(self.address)
        told = self.known(KeyboardInterrupt, "", wait, lambda e: e.holder.pid)
        self.assertGreaterEqual(told.waited, 0.4)
        self.assertTrue(told.holder.pid)

    def test_ended_helper_tells_how_long_it_waited(self):
        told = self.refuses(locksmith.HelperError, "by a signal", lambda: locksmith.acquire(
            self.address, helper=sh("echo ERR code=cancelled waited_ms=1500 text=local:/x: by a signal")))
        self.assertEqual((told.code, told.waited), ("cancelled", 1.5))


class Policies(Case):
    def answers(self, given):
        """What the helper is answered, and what comes of it."""
        said = queue.Queue()
        asked = []

        def ask(*what):
            asked.append(what)
            return given
        asks = sh(f"echo '{BUSY}'; read -r answer; echo \"$answer\" >&2; [ \"$answer\" != END ] || {{ echo ERR code=held text=local:/x: held; exit 75; }}; {HOLDS}")
        try:
            locksmith.acquire(self.address, helper=asks, log=said.put, ask=ask).release()
            error = None
        except locksmith.HeldError as e:
            error = e
        tries, waited, held = asked[0]
        self.assertEqual((tries, waited, held.holder.pid), (1, 0.005, 42))
        return said.get(timeout=LONG), error

    def test_answers(self):
        for given, line in [(0.5, "PAUSE ms=500"), (0.0001, "PAUSE ms=1"), (-2, "PAUSE ms=1"), (None, "PAUSE ms=0"), (0, "PAUSE ms=0"),
                            (locksmith.Usual(30), "PAUSE usual=1 ms=30000")]:
            self.assertEqual(self.answers(given), (line, None), given)
        line, error = self.answers(False)
        self.assertEqual(line, "END")
        self.assertEqual(error.code, "held")

    def test_nonsense(self):
        for given in True, "soon", float("nan"), float("inf"):
            with self.assertRaises((TypeError, ValueError)) as told:
                locksmith.acquire(self.address, helper=sh(f"echo '{BUSY}'; cat >/dev/null"), ask=lambda *_: given)
            self.assertIn("ask: ", str(told.exception))

    def test_a_helper_is_told(self):
        self.held()
        asked = []

        def ask(tries, waited, held):
            asked.append((tries, held.holder.pid))
            return 0.01 if tries < 3 else False
        self.refuses(locksmith.HeldError, "held by", lambda: locksmith.acquire(self.address, ask=ask))
        self.assertEqual([tries for tries, _ in asked], [1, 2, 3])
        self.assertTrue(all(pid for _, pid in asked))

    def test_its_error_ends_the_wait(self):
        self.held()
        with self.assertRaises(ZeroDivisionError) as told:
            locksmith.acquire(self.address, ask=lambda *_: 1 / 0)
        self.assertGreaterEqual(told.exception.waited, 0)

    def test_coroutine(self):
        self.held()

        async def ask(tries, waited, held):
            await asyncio.sleep(0.01)
            return tries < 2 and 0.01

        async def run():
            await locksmith.acquire_async(self.address, ask=ask)
        self.refuses(locksmith.HeldError, "held by", lambda: asyncio.run(run()))


class Readme(Case):
    """The page's program takes a lock, loses it, is refused and is cancelled, and says each."""

    def program(self):
        page = pathlib.Path(__file__).with_name("README.md").read_text()
        text = next(block for block in re.findall("```python\n(.*?)```", page, re.S) if "sys.argv" in block)
        process = subprocess.Popen([sys.executable, "-u", "-c", text, self.address], cwd=os.path.dirname(__file__),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_works(self):
        out, err = self.program().communicate(timeout=LONG)
        self.assertEqual((len(out.splitlines()), err), (20, ""))

    def test_loses(self):
        for _ in range(20):  # on a busy machine it may end before its helper is found
            process = self.program()
            self.assertEqual(process.stdout.readline(), "step 0 0\n")
            try:
                locksmith.try_acquire(self.address).release()
            except locksmith.HeldError as held:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(held.holder.pid, signal.SIGTERM)
            except locksmith.HelperError:
                pass  # it does not answer in time
            said = process.communicate(timeout=LONG)[1]
            if said:
                break
        self.assertIn("lost on the way: ", said)

    def test_is_cancelled(self):
        self.held()
        begun = self.address[6:] + ".begun"
        helper = pathlib.Path(self.address[6:] + ".helper")
        helper.write_text(f"#!/bin/sh\n: >{begun}\nexec {shutil.which(os.environ.get('LOCKSMITH', 'locksmith'))} \"$@\"\n")
        helper.chmod(0o755)
        with mock.patch.dict(os.environ, LOCKSMITH=str(helper)):
            process = self.program()
        while not os.path.exists(begun):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertIn("gave up after ", process.communicate(timeout=LONG)[1])


class Asyncio(Case):
    def test_nothing_blocks_the_loop(self):
        async def run():
            ticks = 0

            async def tick():
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.02)
                    ticks += 1
            ticker = asyncio.create_task(tick())
            lock = await locksmith.acquire_async(self.address, helper=sh(f"echo {OK}; cat >/dev/null; sleep 0.5; echo RELEASED held_ms=1"))
            before = ticks
            self.assertIs(await lock.release(), True)
            self.assertGreater(ticks - before, 5)
            self.assertIs(await lock.release(), False)
            async with await locksmith.acquire_async(self.address) as lock:
                self.assertTrue(lock.id and not lock.lost)
            async with locksmith.acquire_async(self.address) as lock:
                self.assertTrue(await lock.release())
            ticker.cancel()
        asyncio.run(run())
        self.refuses(RuntimeError, "a running loop of asyncio", lambda: next(locksmith.acquire_async(self.address).__await__()))

    def test_cancelled_wait_tells_how_long_it_was(self):
        self.held()

        async def run():
            await asyncio.wait_for(asyncio.ensure_future(wait()), 0.5)

        async def wait():
            try:
                await locksmith.acquire_async(self.address)
            except asyncio.CancelledError as e:
                told.append(e)
                raise
        told = []
        self.known(asyncio.TimeoutError, "", lambda: asyncio.run(run()), lambda _: told[-1].holder.pid)
        self.assertGreaterEqual(told[-1].waited, 0.4)
        self.assertTrue(told[-1].holder.pid)
        for note in getattr(told[-1], "__notes__", ["gave up after; held by"]):
            self.assertRegex(note, "gave up after.*; .*held by")

    def test_frozen_helper(self):
        async def run():
            frozen = sh("kill -STOP $$; exec sleep 300")
            with self.assertRaises(locksmith.HelperError):
                await locksmith.acquire_async(self.address, helper=frozen, kill_after=0.1, timeout=0)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(locksmith.acquire_async(self.address, helper=frozen, kill_after=LONG), 0.1)
        begun = time.monotonic()
        asyncio.run(run())
        self.assertLess(time.monotonic() - begun, LONG / 2)

    def test_two_tasks_share_one(self):
        """Each task has a block of its own: the loss of the second's lock ends the second's block, and no other."""
        loses = sh(f"trap '' TERM; n=$(ls {self.address[6:]}.* 2>/dev/null | wc -l); : >{self.address[6:]}.$n; echo {OK}; "
                   f"if [ $n = 1 ]; then until test -e {self.address[6:]}-begun; do sleep 0.05; done; echo LOST code=gone text=local:/x: taken; fi; cat >/dev/null; echo RELEASED held_ms=1")
        shared = locksmith.acquire_async(self.address, helper=loses)
        events = []

        async def work(name, until):
            async with shared:
                events.append(f"{name} begins")
                if name == "second":
                    pathlib.Path(self.address[6:] + "-begun").touch()
                await until.wait()
                events.append(f"{name} ends")

        async def run():
            over, never = asyncio.Event(), asyncio.Event()
            first = asyncio.create_task(work("first", over))
            while not events:
                await asyncio.sleep(0.01)
            second = asyncio.create_task(work("second", never))
            second.add_done_callback(lambda _: over.set())
            return await asyncio.wait_for(asyncio.gather(first, second, return_exceptions=True), LONG / 2)
        first, second = asyncio.run(run())
        self.assertIsNone(first)
        self.assertIsInstance(second, locksmith.LostError)
        self.assertEqual(events, ["first begins", "second begins", "first ends"])

    def test_foreign_task_cannot_leave(self):
        async def run():
            shared = locksmith.acquire_async(self.address, helper=sh(HOLDS))
            inside, over = asyncio.Event(), asyncio.Event()

            async def work():
                async with shared:
                    inside.set()
                    await over.wait()
            tasks = [asyncio.create_task(work()) for _ in range(2)]
            while len(shared._blocks) < 2:
                await asyncio.sleep(0.01)
            with self.assertRaisesRegex(RuntimeError, "its own block"):
                await shared.__aexit__(None, None, None)
            over.set()
            await asyncio.gather(*tasks)
        asyncio.run(run())


class Backlog(unittest.TestCase):
    """Heartbeats that were in the pipe while this process was stopped count less than those that come.

    Time is the test's own: what the client waits for comes at once, and the clock goes on.
    """

    class Lines:
        """The helper's lines, each with the time at which it comes; this process may be stopped from 10 to 40."""

        def __init__(self, test, stopped, *lines):
            self.test, self.stopped, self.lines = test, stopped, list(lines)

        def get(self, timeout):
            test = self.test
            if self.stopped and 10 <= test.clock + timeout < 40:
                test.clock, timeout = 40.0, 0
            if self.lines and self.lines[0][0] <= test.clock + timeout:
                test.clock = max(test.clock, self.lines[0][0])
                return self.lines.pop(0)[1]
            test.clock += max(timeout, 0.01)
            if test.lost:
                return b""
            raise queue.Empty

    def lost_at(self, *beats, stopped=True, lease=16, late=0):
        """When the lock is lost that has these heartbeats, and an OK that may have been read so late."""
        self.clock, self.lost = 0.0, []
        lock = object.__new__(locksmith._Helper)
        lock.lease, lock.address, lock.error, lock.lost = lease, "local:/x", None, threading.Event()
        lock._late, lock._asked, lock._released, lock._mutex, lock._on_lost = late, False, False, threading.Lock(), lambda _: self.lost.append(self.clock)
        with mock.patch.object(locksmith, "_now", lambda: self.clock):
            lock._listen(self.Lines(self, stopped, *((at, b"BEAT sent_ms=0\n") for at in beats)))
        self.assertEqual(lock.error.code, "expired")
        return round(self.lost[0])

    def test_beats(self):
        self.assertEqual(self.lost_at(4, 8, 12, stopped=False), 12 + 12 + 1)
        self.assertEqual(self.lost_at(4, 8, 12, 16, 20), 40 + 6 + 1, "in the pipe")
        self.assertEqual(self.lost_at(4, 8, 12, 16, 44), 44 + 12 + 1, "one more")
        self.assertGreater(self.lost_at(*range(8, 3600, 8), stopped=False, lease=3600), 3600, "many, for the length of the lease, as those of link: are")
        self.assertEqual((self.lost_at(stopped=False), self.lost_at(stopped=False, late=3600)), (12 + 1, 6 + 1), "OK, too, may have been in the pipe")


if __name__ == "__main__":
    unittest.main()
