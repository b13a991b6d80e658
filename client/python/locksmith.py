"""Locks that machines share, held by a locksmith helper process.

    import locksmith

    with locksmith.acquire("nfs:/srv/locks/billing", timeout=60) as lock:
        bill(lock.token)

The helper releases the lock when this process lets go, ends or dies, by whatever
signal: there is nothing to clean up. A Lock that nothing refers to is held nevertheless.
Leaving the block raises LostError if the lock was lost meanwhile; long work looks at
lock.lost (a threading.Event), or has on_lost called. In asyncio the block itself is
cancelled, and then raises LostError:

    async with locksmith.acquire_async("nfs:/srv/locks/billing") as lock:
        await bill(lock.token)

Between the loss and the moment the work stops it works without the lock. Where that
must not be, let what the lock guards refuse a token below the last one it saw.

A lock belongs to the process that acquired it. A child by os.fork() or
multiprocessing does not have it, and cannot release it.

The helper is the argument helper, else $LOCKSMITH, else locksmith on PATH. All times
are seconds. Needs Python 3.8 or newer, and nothing but its standard library.
"""

import asyncio
import contextlib
import os
import queue
import re
import subprocess
import threading
import time
import urllib.parse
import weakref

__all__ = ["acquire", "acquire_async", "try_acquire", "Lock", "Holder",
           "LocksmithError", "HeldError", "HelperError", "LostError", "NoHelperError", "ProtocolError"]

_MAX_LINE = 4096
_LINE = re.compile(r"([A-Z]{1,16})((?: [a-z][a-z0-9_.-]{0,31}=[!-~]*)*?)(?: text=(.+))?\n")


class LocksmithError(Exception):
    """What is wrong with a lock. code: as in protocol/README.md, such as held or gone."""

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


class HeldError(LocksmithError):
    """Another holder has the lock: at once, or still when the timeout was over. waited: seconds."""

    def __init__(self, text, code, holder, waited=None):
        super().__init__(text, code)
        self.holder, self.waited = holder, waited


class HelperError(LocksmithError):
    """The helper could not get the lock, for another reason than that it is held."""


class LostError(LocksmithError):
    """The lock was lost while it was held (gone, expired, max_hold, internal), or could not be released."""


class NoHelperError(LocksmithError):
    """There is no locksmith program to start."""


class ProtocolError(LocksmithError):
    """What was started is no locksmith, or died before its first line."""


class Holder:
    """Who holds a lock: id, user, host, program (strings), pid, age (seconds). What is not known is None."""

    def __init__(self, fields):
        self.id, self.user, self.host, self.program = (fields.get(key) for key in ("holder", "user", "host", "program"))
        self.pid = int(fields["pid"]) if fields.get("pid", "").isdecimal() else None
        self.age = _seconds(fields, "age_ms")

    def __repr__(self):
        return f"Holder({', '.join(f'{k}={v!r}' for k, v in vars(self).items() if v is not None)})"


def acquire(*locks, on_lost=None, **options):
    """Acquire a lock, or a set of locks all or none, and return a Lock.

    timeout: give up after so many seconds of waiting, with HeldError; None: never.
    shared: other shared holders may have it, too. on_lost(error): is called from
    another thread when the lock is lost. lease, refresh, max_hold, respite (seconds),
    retries, strict, meta (a dict): see locksmith hold --help. helper: its command, a list.
    kill_after: how long it may take to end, 15 seconds. Raises HeldError, HelperError,
    NoHelperError, ProtocolError; after any of them, and after KeyboardInterrupt, the
    lock is not held.
    """
    lock = Lock(locks, on_lost, **options)
    try:
        lock._start(lock._first_line())
    except BaseException:
        lock._end()
        raise
    return lock


def try_acquire(*locks, **options):
    """Acquire without waiting: HeldError if another holder has the lock."""
    return acquire(*locks, **{**options, "timeout": 0})


class Lock:
    """A lock that this process holds, or held. From acquire; of use from any thread.

    address: as asked for. id: names this acquisition. mode: exclusive, shared or, of a
    set, mixed. token: the fencing token, which rises with every holder, or 0; tokens:
    those of a set. waited: seconds. lost: an Event, set when the lock is lost; error is
    the LostError then, else None.
    """

    def __init__(self, locks, on_lost=None, *, timeout=None, retries=None, shared=False, strict=False,
                 lease=None, refresh=None, max_hold=None, respite=None, meta=None, helper=None, kill_after=15):
        self.address, self.lost, self.error = " + ".join(locks), threading.Event(), None
        self._on_lost, self._pid = on_lost, os.getpid()
        self._kill_after = float("inf") if kill_after is None else kill_after
        self._asked, self._released, self._mutex = False, False, threading.Lock()
        self._listener, self._process, self._reading = None, None, threading.Lock()
        command = list(helper or [os.environ.get("LOCKSMITH") or "locksmith"])
        command += ["hold", "--parent", str(os.getpid()), "--stdin", "watch", "--beats"]
        for flag, value in [("timeout", timeout), ("lease", lease), ("refresh", refresh), ("max-hold", max_hold),
                            ("respite", respite)]:
            command += [] if value is None else [f"--{flag}", f"{value:.9f}s" if value else "0"]
        command += [] if retries is None else ["--retries", str(retries)]
        command += ["--shared"] * shared + ["--strict"] * strict
        command += [f"--meta={key}={value}" for key, value in (meta or {}).items()]
        try:
            self._process = subprocess.Popen([*command, "--", *locks], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             env={**os.environ, "GOMAXPROCS": "1"})
        except OSError as e:
            raise NoHelperError(f"{self.address}: acquire: {e}; install locksmith on PATH, or set $LOCKSMITH to its path") from e
        _locks.add(self)

    def release(self):
        """Release the lock and return when it has been removed: True the first time, then False.

        Raises LostError if it was lost before, or cannot be removed.
        """
        if self._pid != os.getpid():
            raise RuntimeError(f"{self.address}: release: the process that acquired the lock has to release it")
        with self._mutex:
            if self._asked:
                return False
            self._asked = True
        self._end()
        if threading.current_thread() is not self._listener:  # which calls on_lost
            self._listener.join(2)
        if not self._released:
            self._lose("unreleased", f"{self.address}: release: the helper did not say that it has released the lock")
        if self.error:
            raise self.error
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._pid != os.getpid():
            return  # a child leaves the block: that is for the parent to do
        if not self.release() and self.error:
            raise self.error  # released in the block, where the loss may have been caught

    def _first_line(self):
        with self._reading:
            return self._process.stdout.readline(_MAX_LINE + 1)

    def _start(self, line):
        """Take the helper's first line, and begin to listen for others."""
        word, fields, text = _parse(line)
        code = fields.get("code")
        if word == "ERR" and (code in ("held", "timeout") or "held" in fields):
            raise HeldError(text, code, Holder(fields), _seconds(fields, "waited_ms"))
        if word == "ERR":
            raise HelperError(text, code)
        lease, self.waited = _seconds(fields, "lease_ms"), _seconds(fields, "waited_ms")
        tokens = fields.get("token", "0").split(",")
        if word == "OK" and re.fullmatch("[1-9][0-9]*", fields.get("proto", "")) and fields["proto"] != "1":
            raise ProtocolError(f"{self.address}: acquire: {self._process.args[0]} speaks a newer protocol, {fields['proto']}, "
                                "and this client 1: bring the client up to date, or use an older locksmith")
        if word != "OK" or fields.get("proto") != "1" or not lease or not all(t.isdecimal() for t in tokens):
            raise ProtocolError(f"{self.address}: acquire: {self._process.args[0]} does not speak as a locksmith: "
                                f"{line[:100]!r}; is it the right program?")
        self.id, self.mode, self.lease = fields.get("id", ""), fields.get("mode"), lease
        self.tokens = [int(t) for t in tokens]
        self.token = self.tokens[0]
        lines = queue.Queue()
        threading.Thread(target=_read, args=(self._process.stdout, lines), daemon=True).start()
        self._listener = threading.Thread(target=self._listen, args=(lines,), daemon=True)
        self._listener.start()

    def _listen(self, lines):
        """Hear what the helper says, and notice when it has said nothing for too long."""
        last = _now()
        deadline, late = last + self.lease * 3 / 4, False
        while True:
            try:
                line = lines.get(timeout=max(0, min(deadline - _now(), self.lease / 16)))
            except queue.Empty:
                if _now() < deadline:
                    continue
                if late:
                    self._lose("expired", f"{self.address}: lost: the helper has not been heard of for most of the lease")
                # Once more, in case it was this process that did not run.
                late, deadline = True, _now() + self.lease / 16
                continue
            word, fields, text = _parse(line)
            if word == "BEAT":
                gap, last = _now() - last, _now()
                if gap >= min(self.lease / 64, 0.25):  # else both were in the pipe: it says nothing new
                    # After a gap in which this process was stopped it may be as old as that: then it is
                    # believed until the next one should come.
                    believed = min(self.lease * 3 / 4 - (_seconds(fields, "sent_ms") or 0), max(self.lease - gap, self.lease * 3 / 8))
                    late, deadline = False, last + believed
            elif word == "LOST":
                self._lose(fields.get("code"), text)
            elif word == "RELEASED":
                self._released = True
                if not self._asked:
                    self._lose("gone", f"{self.address}: lost: the helper released it before it was asked to; did it get a signal?")
            elif not line:
                if not self._released:
                    self._lose("internal", f"{self.address}: lost: the helper went away without releasing")
                return

    def _lose(self, code, text):
        with self._mutex:
            if self.error:
                return
            self.error = LostError(text or f"{self.address}: lost", code)
        self.lost.set()
        if self._on_lost:
            self._on_lost(self.error)

    def _end(self):
        """Let go, and wait for the helper; kill it if it does not end.

        A child that was forked while the helper started may keep its pipe, so that a
        second later SIGTERM says it, too; not on Windows, where that would kill.
        """
        self._process.stdin.close()
        soon = min(1, self._kill_after) if hasattr(os, "fork") else self._kill_after
        for patience, stop in [(soon, self._process.terminate), (self._kill_after - soon, self._process.kill), (2, None)]:
            try:
                self._process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                with contextlib.suppress(PermissionError):  # a wrapper of another user
                    if stop:
                        stop()
        if not self._listener and self._reading.acquire(timeout=2):  # what a wrapper left running may keep the pipe
            self._process.stdout.close()

    def _forked(self):
        """In a child: our ends of the pipes would keep the lock from being released."""
        if self._process:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in self._process.stdin, self._process.stdout:
                if not stream.closed:  # by number: another thread's lock on the stream is locked for ever here
                    os.dup2(null, stream.raw.fileno(), inheritable=False)
            os.close(null)
            self._process.returncode = 0  # it is no child of this process, which must not wait for it


_locks = weakref.WeakSet()


def _after_fork():
    for lock in list(_locks):
        lock._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class acquire_async:
    """acquire for asyncio: await it for a Lock, or use it as "async with".

    The end of the task ends the waiting. The block of "async with" is cancelled when
    the lock is lost, and raises LostError.
    """

    def __init__(self, *locks, on_lost=None, **options):
        self._locks, self._on_lost, self._options = locks, on_lost, options

    async def _acquire(self, on_lost):
        lock = Lock(self._locks, on_lost, **self._options)
        try:
            lock._start(await _in_thread(lock._first_line))
        except BaseException:
            await asyncio.shield(_in_thread(lock._end))
            raise
        return lock

    def __await__(self):
        return self._acquire(self._on_lost).__await__()

    async def __aenter__(self):
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        self._lost = self._leaving = False

        def cancel():
            if not self._leaving:
                self._lost = True
                task.cancel()

        def on_lost(error):
            loop.call_soon_threadsafe(cancel)
            if self._on_lost:
                self._on_lost(error)

        self._lock = await self._acquire(on_lost)
        return self._lock

    async def __aexit__(self, kind, *_):
        self._leaving = True
        if self._lost and hasattr(asyncio.Task, "uncancel"):
            asyncio.current_task().uncancel()
        released = _in_thread(self._lock.__exit__)
        try:
            await asyncio.shield(released)
        except asyncio.CancelledError:
            if not self._lost or kind is asyncio.CancelledError:
                raise  # asked for by others
            await released  # the block ended before it heard of the loss


def _in_thread(work):
    """A future of what work returns, in a thread of its own: waiters may be many."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def settle(method, value):
        if not future.done():
            method(value)

    def run():
        try:
            outcome = future.set_result, work()
        except BaseException as e:
            outcome = future.set_exception, e
        try:
            loop.call_soon_threadsafe(settle, *outcome)
        except RuntimeError:
            pass  # the loop was closed; nobody waits
    threading.Thread(target=run, daemon=True).start()
    return future


def _read(stream, lines):
    """Pass lines on until the end, which is an empty one."""
    with stream:
        while True:
            line = stream.readline(_MAX_LINE + 1)
            lines.put(line)
            if not line:
                return


def _parse(line):
    """The word, the fields and the text of a line; no word if it is malformed."""
    match = _LINE.fullmatch(line.decode("utf-8", "replace"))
    if not match or len(line) > _MAX_LINE:
        return None, {}, ""
    pairs = (field.split("=", 1) for field in match[2].split())
    return match[1], {key: urllib.parse.unquote(value) for key, value in pairs}, match[3] or ""


def _seconds(fields, key):
    return int(fields[key]) / 1000 if fields.get(key, "").isdecimal() else None


def _now():
    """A clock that goes on while the machine sleeps, where there is one."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
