"""Locks that machines share, held by a locksmith helper process.

    import locksmith

    with locksmith.acquire("nfs:/srv/locks/billing", timeout=60) as lock:
        bill(lock.token)

The helper releases the lock when this process lets go, ends or dies, by whatever
signal: there is nothing to clean up. A service of systemd needs KillMode=mixed: else a stop ends
the helper, too, while the work goes on. A Lock that nothing refers to any more is still held,
with a ResourceWarning. If the lock was lost meanwhile, leaving the block raises LostError.
Long work looks at lock.lost, which is true then (and a threading.Event, to wait for), or has
on_lost called. In asyncio the block itself is cancelled, and then raises LostError; nothing
blocks the loop:

    async with locksmith.acquire_async("nfs:/srv/locks/billing") as lock:
        await bill(lock.token)

From the loss until it stops, the work goes on without the lock. Where that must not be,
let whatever the lock guards refuse tokens below the last one that it saw.

A lock belongs to the process that acquired it. A child by os.fork() or
multiprocessing does not have it, and cannot release it.

Whoever gives up a wait is told how long it was and who has the lock: HeldError and HelperError
have waited, and so has what interrupted it, as KeyboardInterrupt or asyncio.CancelledError, with
a note since Python 3.11. A call with a timeout returns two seconds after it at the latest, even
if its helper is frozen; a single try of a lock on a server has 32 seconds. The helper is then ended
behind the call. README.md has more.

The helper is the argument helper, else $LOCKSMITH, else locksmith on PATH. All times
are seconds. Needs Python 3.8 or newer, and nothing but its standard library.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import inspect
import math
import os
import queue
import re
import subprocess
import sys
import threading
import time
import urllib.parse
import warnings
import weakref
from types import TracebackType
from typing import IO, Any, Callable, Dict, Generator, List, Mapping, Optional, Sequence, Set, Tuple, Type, TypeVar, Union

__all__ = ["acquire", "acquire_async", "try_acquire", "Lock", "AsyncLock", "Holder", "Loss", "Usual",
           "LocksmithError", "HeldError", "HelperError", "LostError", "NoHelperError", "ProtocolError"]

_T = TypeVar("_T")
_Fields = Dict[str, str]
_Range = Tuple[float, float]
_Log = Union[Callable[[str], object], bool, None]
_MAX_LINE = 4096
_PATIENCE = 1  # how many seconds a call that is interrupted waits for its helper, which else ends behind it
_LAST_WORDS = 0.25  # and any other call that is over
_ANSWERS_IN, _SERVER_ANSWERS_IN = 1.5, 31.5  # how much later than its timeout a helper may answer; one try at a server
_FOREVER = 9e9  # seconds; a helper counts nanoseconds in 64 bits
_TOO_SOON = 79  # the exit status of a helper that released a lock before its parent let go
_BY_SIGNAL = range(129, 192)  # the same, because of a signal
_LINE = re.compile(r"([A-Z]{1,16})((?: [a-z][a-z0-9_.-]{0,31}=[!-~]*)*?)(?: text=(.+))?\n")


class LocksmithError(Exception):
    """What is wrong with a lock. code: as in protocol/README.md, such as held or gone."""

    def __init__(self, text: str, code: Optional[str] = None) -> None:
        super().__init__(text)  # other attributes survive pickle, too
        self.code = code


class HeldError(LocksmithError):
    """Another holder has the lock: at once, or still when the timeout was over. waited: seconds."""

    def __init__(self, text: str, code: Optional[str] = None, holder: Optional[Holder] = None, waited: Optional[float] = None) -> None:
        super().__init__(text, code)
        self.holder, self.waited = holder or Holder({}), waited


class HelperError(LocksmithError):
    """The helper could not get the lock, and not because somebody holds it. waited: seconds, if it waited."""

    def __init__(self, text: str, code: Optional[str] = None, waited: Optional[float] = None) -> None:
        super().__init__(text, code)
        self.waited = waited


class LostError(LocksmithError):
    """The lock was lost while it was held (gone, expired, max_hold, internal), or could not be released."""


class NoHelperError(LocksmithError):
    """There is no locksmith program to start."""


class ProtocolError(LocksmithError):
    """The program that was started is no locksmith, or a newer one, or died before its first line."""


class Holder:
    """Who holds a lock: id, user, host, program (strings), pid, age (seconds). What is not known is None."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        self.id, self.user, self.host, self.program = (fields.get(key) for key in ("holder", "user", "host", "program"))
        self.pid = int(fields["pid"]) if fields.get("pid", "").isdecimal() else None
        self.age = _seconds(fields, "age_ms")

    def __repr__(self) -> str:
        return f"Holder({', '.join(f'{k}={v!r}' for k, v in vars(self).items() if v is not None)})"


class Usual(float):
    """An answer of the argument ask: wait as without it, but ask again after so many seconds."""


_Policy = Optional[Callable[[int, float, HeldError], Any]]


class Loss(threading.Event):
    """Whether a lock was lost: true or false, and an event to wait for."""

    def __bool__(self) -> bool:
        return self.is_set()


def acquire(*locks: str, on_lost: Optional[Callable[[LostError], object]] = None, timeout: Optional[float] = None, retries: Optional[int] = None,
            shared: bool = False, strict: bool = False, lease: Optional[float] = None, refresh: Optional[float] = None,
            max_hold: Optional[float] = None, respite: Optional[float] = None, poll: Optional[_Range] = None,
            slow: Optional[_Range] = None, meta: Optional[Mapping[str, str]] = None, log: _Log = None,
            ask: _Policy = None, helper: Optional[Sequence[str]] = None, kill_after: Optional[float] = 15) -> Lock:
    """Acquire a lock, or a set of locks all or none, and return a Lock.

    timeout: give up after so many seconds of waiting, with HeldError; None or infinite: never; 0,
    or a time that is over: after one try.
    shared: other shared holders may have it, too. on_lost(error): is called from
    another thread when the lock is lost. lease, refresh, max_hold, respite (seconds),
    poll, slow (pairs of seconds), retries, strict, meta (a dict): see locksmith hold --help.
    log: is called from another thread with each line of the helper's standard error; False:
    the lines are dropped; None: they go to our standard error. ask(tries, waited, held): is
    called after each refusal, with the HeldError, and returns how many seconds to pause before
    the next try; None or 0: wait as without it, until another holder is seen; Usual(seconds):
    the same, for so long; False: give up, with HeldError. helper: the helper's command,
    a list. kill_after: how many seconds the helper may take to end. Raises HeldError,
    HelperError, NoHelperError, ProtocolError; after any of them, and after
    KeyboardInterrupt, the lock is not held. A helper that is slow to end may be met by the
    next try.
    """
    flags = _flags(ask, timeout=timeout, retries=retries, shared=shared, strict=strict, lease=lease, refresh=refresh,
        max_hold=max_hold, respite=respite, poll=poll, slow=slow, meta=meta)
    return Lock(_Helper(locks, on_lost, flags, log, helper, kill_after, ask, timeout)._first())


def try_acquire(*locks: str, on_lost: Optional[Callable[[LostError], object]] = None,
            shared: bool = False, strict: bool = False, lease: Optional[float] = None, refresh: Optional[float] = None,
            max_hold: Optional[float] = None, respite: Optional[float] = None, meta: Optional[Mapping[str, str]] = None,
            log: _Log = None, helper: Optional[Sequence[str]] = None, kill_after: Optional[float] = 15) -> Lock:
    """Acquire without waiting: HeldError if another holder has the lock."""
    return acquire(*locks, on_lost=on_lost, timeout=0, shared=shared, strict=strict, lease=lease, refresh=refresh,
                   max_hold=max_hold, respite=respite, meta=meta, log=log, helper=helper, kill_after=kill_after)


def _flags(ask: _Policy, *, timeout: Optional[float], meta: Optional[Mapping[str, str]], retries: Optional[int], shared: bool, strict: bool,
           poll: Optional[_Range], slow: Optional[_Range], **times: Optional[float]) -> List[str]:
    flags: List[str] = []
    timeout = _bound(timeout)
    if ask is not None and (not callable(ask) or retries is not None):
        raise TypeError("ask: a function of tries, waited and held, and without retries, which it counts itself")
    if ask is not None and timeout != 0:
        flags += ["--ask"]
    for name, value in {"timeout": timeout, **times}.items():
        if value is not None:
            flags += ["--" + name.replace("_", "-"), _duration(name, value) if value else "0"]
    for name, pair in ("poll", poll), ("slow", slow):
        if pair is not None:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError(f"{name}: a pair of seconds, such as (0.025, 0.1), not {pair!r}")
            flags += [f"--{name}", "..".join(_duration(name, end) for end in pair)]
    flags += [] if retries is None else ["--retries", str(retries)]
    flags += ["--shared"] * bool(shared) + ["--strict"] * bool(strict)
    return flags + [f"--meta={key}={value}" for key, value in (meta or {}).items()]


def _bound(timeout: Optional[float]) -> Optional[float]:
    """The timeout as a helper takes it: None if there is no bound, and 0 for one try."""
    if timeout is None or _number("timeout", timeout) > _FOREVER:
        return None
    return max(timeout, 0)


def _number(name: str, seconds: float) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{name}: a number of seconds, not {seconds!r}")
    if math.isnan(seconds):
        raise ValueError(f"{name}: a number of seconds, not {seconds!r}")
    return seconds


def _duration(name: str, seconds: float) -> str:
    if not 0 <= _number(name, seconds) <= _FOREVER:
        raise ValueError(f"{name}: from 0 to {_FOREVER:.0f} seconds, not {seconds!r}")
    return f"{seconds:.9f}s"


def _answer(given: Any) -> str:
    """The line that passes on what the argument ask has returned."""
    if given is False:
        return "END\n"
    if given is None or given == 0 and not isinstance(given, bool):
        return "PAUSE ms=0\n"
    if given is True or math.isinf(_number("ask", given)):
        raise TypeError(f"ask: returned {given!r}: it is to return a number of seconds, None, Usual(seconds) or False")
    return f"PAUSE {'usual=1 ' if isinstance(given, Usual) else ''}ms={max(1, math.ceil(given * 1000))}\n"


class _Handle:
    """What the program has of a lock: it may be dropped while the helper is still listened to.

    address: as asked for. id: names this acquisition. mode: exclusive, shared or, of a
    set, mixed. token: the fencing token, which rises with every holder, or 0; tokens:
    the tokens of a set. waited: seconds. lost: true, and set as an Event, when the lock is lost;
    error is the LostError then, else None.
    """

    def __init__(self, helper: _Helper) -> None:
        self._helper, self._entered = helper, False
        self.address, self.id, self.mode, self.lease = helper.address, helper.id, helper.mode, helper.lease
        self.token, self.tokens, self.waited, self.lost = helper.tokens[0], helper.tokens, helper.waited, helper.lost

    @property
    def error(self) -> Optional[LostError]:
        return self._helper.error

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address} id={self.id}{' lost' if self.lost else ' released' if self._helper._asked else ''}>"

    def __del__(self) -> None:
        helper = self.__dict__.get("_helper")
        if helper and not helper._asked and not helper.lost and helper._pid == os.getpid() and not sys.is_finalizing():
            warnings.warn(f"{self!r} was never released: it is held until this process ends", ResourceWarning, source=self)

    def _enter(self) -> None:
        if self._helper._asked:
            raise RuntimeError(f"{self.address}: with: the lock was released before; acquire it again")
        if self._entered:
            raise RuntimeError(f"{self.address}: with: the lock is in a block already, whose end releases it; let each task acquire its own")
        self._entered = True


class Lock(_Handle):
    __doc__ = f"A lock that this process holds, or held. From acquire; of use from any thread.{(_Handle.__doc__ or '').partition('.')[2]}"

    def release(self) -> bool:
        """Release the lock and return when it has been removed: True the first time, then False.

        Raises LostError if the lock was lost before, or cannot be removed. While one thread
        releases it, others wait.
        """
        return self._helper._release()

    def __enter__(self) -> Lock:
        self._enter()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self._helper._leave()


class AsyncLock(_Handle):
    """A lock of acquire_async. It has what a Lock has, and release is to be awaited."""

    async def release(self) -> bool:
        """Lock.release, which does not block the loop."""
        return await asyncio.shield(_in_thread(self._helper._release))

    async def __aenter__(self) -> AsyncLock:
        self._enter()
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        await asyncio.shield(_in_thread(self._helper._leave))


class _Helper:
    """A running helper, and what it has said."""

    def __init__(self, locks: Sequence[str], on_lost: Optional[Callable[[LostError], object]], flags: List[str], log: _Log,
                 helper: Optional[Sequence[str]], kill_after: Optional[float], ask: _Policy, timeout: Optional[float]) -> None:
        self._check(locks, helper, kill_after)
        self.address, self.lost = " + ".join(locks), Loss()
        self.error: Optional[LostError] = None
        self.id, self.mode, self.lease, self.waited, self.tokens = "", "", 0.0, 0.0, [0]
        self._on_lost, self._pid = on_lost, os.getpid()
        self._kill_after = math.inf if kill_after is None else max(kill_after, 0)
        self._policy, self._limit = ask, self._answers_in(locks, _bound(timeout))
        self._refused: Optional[HeldError] = None
        self._asked, self._released, self._mutex, self._over = False, False, threading.Lock(), threading.Event()
        self._signalled = False  # by ourselves
        self._listener: Optional[threading.Thread] = None
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reading, self._said = threading.Lock(), b""
        command = list(helper or [os.environ.get("LOCKSMITH") or "locksmith"])
        command += ["hold", "--parent", str(os.getpid()), "--stdin", "watch", "--beats", *flags, "--", *locks]
        self._begun, self._late = _now(), 0.0
        error = subprocess.PIPE if callable(log) else subprocess.DEVNULL if log is False else None
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=error,
                                             env={**os.environ, "GOMAXPROCS": "1"})
        except OSError as e:
            raise NoHelperError(f"{self.address}: acquire: {e}; install locksmith on PATH, or set $LOCKSMITH to its path") from e
        assert self._process.stdin and self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._program = command[0]
        self._reader = threading.Thread(target=_read, args=(self._stdout, self._lines), daemon=True)
        if callable(log) and self._process.stderr:
            threading.Thread(target=_pass_on, args=(self._process.stderr, log), daemon=True).start()
        _helpers.add(self)

    @staticmethod
    def _check(locks: Sequence[str], helper: Optional[Sequence[str]], kill_after: Optional[float]) -> None:
        if not locks:
            raise TypeError("acquire: no lock: give an address such as local:/var/lock/billing")
        for lock in locks:
            if isinstance(lock, (list, tuple, set)):
                raise TypeError(f"acquire: {lock!r}: several locks are arguments of their own: acquire(*locks)")
            if isinstance(lock, (os.PathLike, bytes)):
                raise TypeError(f"acquire: {lock!r}: an address is a string that begins with a kind of lock: 'local:/var/lock/billing'")
            if not isinstance(lock, str):
                raise TypeError(f"acquire: {lock!r}: an address is a string, not a {type(lock).__name__}")
        if isinstance(helper, (str, bytes, os.PathLike)):
            raise TypeError(f"helper: a list of the program and its arguments, not {helper!r}")
        if kill_after is not None:
            _number("kill_after", kill_after)

    @staticmethod
    def _answers_in(locks: Sequence[str], timeout: Optional[float]) -> Optional[float]:
        """How long the helper may take for its first line; None: for ever."""
        kinds = (re.sub("^(shared|exclusive):", "", lock).partition(":")[0] for lock in locks)
        is_here = all(kind in ("local", "flock", "link", "mkdir", "nfs") for kind in kinds)
        return None if timeout is None else timeout + (_ANSWERS_IN if timeout or is_here else _SERVER_ANSWERS_IN)

    def _first(self) -> _Helper:
        try:
            self._reader.start()
            line = self._next()
            while self._is_busy(line):
                self._reply(self._ask(line))
                line = self._next()
            self._start(line)
        except BaseException as e:
            self._part(e)
            raise
        return self

    def _next(self) -> bytes:
        """The helper's next line, if it comes in time."""
        left = None if self._limit is None else min(max(0, self._begun + self._limit - _now()), threading.TIMEOUT_MAX)
        for patience in left, _LAST_WORDS:  # once more, in case it was this process that did not run
            with contextlib.suppress(queue.Empty), self._reading:
                self._said = self._lines.get(timeout=patience)
                return self._said
        waited = _now() - self._begun
        if self._refused:
            raise HeldError(f"{self._refused}; {waited:.1f}s", "timeout", self._refused.holder, waited)
        raise HelperError(f"{self.address}: acquire: no answer within {waited:.1f}s: is the helper stopped, or what it waits for?", "unreachable", waited)

    def _is_busy(self, line: bytes) -> bool:
        return self._policy is not None and _parse(line)[0] == "BUSY"

    def _ask(self, line: bytes) -> Any:
        """Ask the policy about a refusal."""
        _, fields, text = _parse(line)
        waited = _seconds(fields, "waited_ms") or 0.0
        self._refused = HeldError(text, "held", Holder(fields), waited)
        tries = fields.get("tries", "")
        return self._policy(int(tries) if tries.isdecimal() else 0, waited, self._refused) if self._policy else None

    def _reply(self, given: Any) -> None:
        with contextlib.suppress(BrokenPipeError):  # the helper went away: its output says so
            self._stdin.write(_answer(given).encode())
            self._stdin.flush()

    def _part(self, error: BaseException) -> None:
        """Have the helper end behind a call that fails.

        What interrupted the wait, as KeyboardInterrupt, is told how long that was, and who has the lock.
        """
        waited, is_ours = _now() - self._begun, isinstance(error, LocksmithError)
        ending = threading.Thread(target=self._end_behind, name="locksmith: the end of a helper", daemon=True)
        ending.start()
        ending.join(_LAST_WORDS if is_ours else _PATIENCE)
        if is_ours:
            return
        if not ending.is_alive() and self._reading.acquire(timeout=_LAST_WORDS):  # the thread of a task reads
            self._reading.release()
        with contextlib.suppress(queue.Empty):  # the helper has not said a last word
            self._said = self._lines.get_nowait() or self._said
        _, fields, text = _parse(self._said)
        vars(error).update(waited=waited, holder=Holder(fields))
        if hasattr(error, "add_note"):  # since Python 3.11
            error.add_note(f"{self.address}: acquire: gave up after {waited:.1f}s{'; ' * bool(text)}{text}")

    def _end_behind(self) -> None:
        _behind.add(self)
        self._end()
        _behind.discard(self)

    def _release(self) -> bool:
        if self._pid != os.getpid():
            raise RuntimeError(f"{self.address}: release: the process that acquired the lock has to release it")
        with self._mutex:
            first, self._asked = not self._asked, True
        if not first:
            if threading.current_thread() is not self._listener:
                self._over.wait()
            return False
        try:
            self._end()
            if self._listener and threading.current_thread() is not self._listener:  # which calls on_lost
                self._listener.join(2)
            status = self._process.returncode
            if self._released and (status == _TOO_SOON or status in _BY_SIGNAL and not self._signalled):
                self._lose("gone", f"{self.address}: lost: the helper released it before it was asked to")
            if not self._released:
                self._lose("unreleased", f"{self.address}: release: the helper did not say that it has released the lock")
        finally:
            self._over.set()
        if self.error:
            raise self.error
        return True

    def _leave(self) -> None:
        if self._pid != os.getpid():
            return  # a forked child leaves the block: only the parent releases
        if not self._release() and self.error:
            raise self.error  # it was released in the block, which may have caught the LostError

    def _start(self, line: bytes) -> None:
        """Take the helper's first line, and begin to listen for others."""
        word, fields, text = _parse(line)
        code = fields.get("code")
        if word == "ERR" and (code in ("held", "timeout") or "held" in fields):
            raise HeldError(text, code, Holder(fields), _seconds(fields, "waited_ms"))
        if word == "ERR":
            raise HelperError(text, code, _seconds(fields, "waited_ms"))
        proto, lease = fields.get("proto", ""), _seconds(fields, "lease_ms")
        if word == "OK" and re.fullmatch("[1-9][0-9]*", proto) and proto != "1":
            raise ProtocolError(f"{self.address}: acquire: {self._program} speaks a newer protocol, {proto}, "
                                "and this client 1: bring the client up to date, or use an older locksmith")
        tokens = fields.get("token", "0").split(",")
        if word != "OK" or proto != "1" or not lease or not all(t.isdecimal() for t in tokens):
            raise ProtocolError(f"{self.address}: acquire: {self._program} does not speak as a locksmith: "
                                f"{line[:100]!r}; is it the right program?")
        self.id, self.mode, self.lease, self.waited = fields.get("id", ""), fields.get("mode", ""), lease, _seconds(fields, "waited_ms") or 0.0
        self.tokens = [int(t) for t in tokens]
        # So long may OK have waited in the pipe for us to read it. Perhaps this process did not run.
        self._late = _now() - self._begun - self.waited
        self._listener = threading.Thread(target=self._listen, args=(self._lines,), daemon=True)
        self._listener.start()

    def _listen(self, lines: queue.Queue[bytes]) -> None:
        """Hear what the helper says, and notice when it has said nothing for too long."""
        last = _now()
        deadline, late = last + min(self.lease * 3 / 4, max(self.lease - self._late, self.lease * 3 / 8)), False
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
                if gap >= min(self.lease / 64, 0.25):  # else both beats were in the pipe: this one says nothing new
                    # After a gap in which this process was stopped, the beat may be as old as the gap: then
                    # it counts only until the next one should come.
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

    def _lose(self, code: Optional[str], text: str) -> None:
        with self._mutex:
            if self.error:
                return
            self.error = LostError(text or f"{self.address}: lost", code)
        self.lost.set()
        if self._on_lost:
            self._on_lost(self.error)

    def _end(self) -> None:
        """Let go, and wait for the helper; kill it if it does not end.

        A child that was forked while the helper started may keep its pipe open. So a second
        later SIGTERM tells the helper, too; not on Windows, where that would kill.
        """
        with contextlib.suppress(BrokenPipeError):  # an answer that nobody reads any more
            self._stdin.close()
        soon = min(1, self._kill_after) if hasattr(os, "fork") else self._kill_after
        stops: List[Tuple[float, Optional[Callable[[], None]]]] = [(soon, self._process.terminate), (self._kill_after - soon, self._process.kill), (2, None)]
        for patience, stop in stops:
            try:
                self._process.wait(None if math.isinf(patience) else patience)
                break
            except subprocess.TimeoutExpired:
                with contextlib.suppress(PermissionError):  # a wrapper of another user
                    if stop:
                        self._signalled = True
                        stop()
        if not self._listener and self._reader.is_alive():
            self._reader.join(2)  # a process that a wrapper left running may keep the pipe

    def _forked(self) -> None:
        """In a child: our ends of the pipes would keep the lock from being released."""
        null = os.open(os.devnull, os.O_RDWR)
        for stream in self._stdin, self._stdout:
            if not stream.closed:  # by number: what another thread locked of the stream stays locked here for ever
                os.dup2(null, stream.raw.fileno(), inheritable=False)  # type: ignore[attr-defined]
        os.close(null)
        self._process.returncode = 0  # the helper is no child of this process, which must not wait for it


_helpers: weakref.WeakSet[_Helper] = weakref.WeakSet()
_behind: Set[_Helper] = set()  # those that have not ended when their call returned


def _after_fork() -> None:
    for helper in list(_helpers):
        helper._forked()


def _at_exit() -> None:
    """Kill the helpers behind us that are stopped: nobody else would end them. Others end by themselves."""
    for helper in list(_behind):
        with contextlib.suppress(OSError):
            if helper._pid == os.getpid() and os.waitid(os.P_PID, helper._process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT):
                helper._process.kill()


if hasattr(os, "waitid"):
    atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class acquire_async:
    """acquire for asyncio: await it for an AsyncLock, or use it as "async with".

    The end of the task ends the waiting. The block of "async with" is cancelled when
    the lock is lost, and raises LostError. The options are those of acquire; the argument ask
    may be a coroutine function, too. Tasks may share one: each block acquires a lock of its own.
    With AnyIO it works on asyncio; on Trio it raises RuntimeError, which says so.
    """

    def __init__(self, *locks: str, on_lost: Optional[Callable[[LostError], object]] = None, timeout: Optional[float] = None, retries: Optional[int] = None,
                 shared: bool = False, strict: bool = False, lease: Optional[float] = None, refresh: Optional[float] = None,
                 max_hold: Optional[float] = None, respite: Optional[float] = None, poll: Optional[_Range] = None,
                 slow: Optional[_Range] = None, meta: Optional[Mapping[str, str]] = None, log: _Log = None,
                 ask: _Policy = None, helper: Optional[Sequence[str]] = None, kill_after: Optional[float] = 15) -> None:
        flags = _flags(ask, timeout=timeout, retries=retries, shared=shared, strict=strict, lease=lease, refresh=refresh,
                       max_hold=max_hold, respite=respite, poll=poll, slow=slow, meta=meta)
        _Helper._check(locks, helper, kill_after)
        self._on_lost = on_lost
        self._new: Callable[..., _Helper] = lambda on_lost: _Helper(locks, on_lost, flags, log, helper, kill_after, ask, timeout)
        self._blocks: List[_Block] = []

    async def _acquire(self, on_lost: Optional[Callable[[LostError], object]]) -> AsyncLock:
        _loop()
        held = self._new(on_lost)
        try:
            held._reader.start()
            line = await _in_thread(held._next)
            while held._is_busy(line):
                given = held._ask(line)
                held._reply(await given if inspect.isawaitable(given) else given)
                line = await _in_thread(held._next)
            held._start(line)
        except BaseException as e:
            await asyncio.shield(_in_thread(functools.partial(held._part, e)))
            raise
        return AsyncLock(held)

    def __await__(self) -> Generator[Any, None, AsyncLock]:
        return self._acquire(self._on_lost).__await__()

    async def __aenter__(self) -> AsyncLock:
        block = _Block(self._on_lost)
        block.lock = await self._acquire(block.lost)
        self._blocks.append(block)
        return block.lock

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        task = asyncio.current_task()
        mine = [block for block in self._blocks if block.task is task]
        if not mine and len(self._blocks) > 1:
            raise RuntimeError("locksmith: acquire_async: several tasks are in blocks of this object, and none of them leaves: let each task leave its own block")
        block = (mine or self._blocks)[-1]  # a test's fixture may leave in another task than it entered in
        self._blocks.remove(block)
        await block.leave(kind)


class _Block:
    """One block of acquire_async: the task that is in it, its lock, and whether its loss cancelled the task."""

    lock: AsyncLock

    def __init__(self, on_lost: Optional[Callable[[LostError], object]]) -> None:
        self.loop, self.task, self._on_lost = _loop(), asyncio.current_task(), on_lost
        self._cancelled = self._leaving = False

    def lost(self, error: LostError) -> None:
        self.loop.call_soon_threadsafe(self._cancel)
        if self._on_lost:
            self._on_lost(error)

    def _cancel(self) -> None:
        if self.task and not self._leaving:
            self._cancelled = True
            self.task.cancel()

    async def leave(self, kind: Optional[Type[BaseException]]) -> None:
        self._leaving = True
        uncancel = getattr(self.task, "uncancel", None)  # since Python 3.11
        if self._cancelled and uncancel:
            uncancel()
        released = _in_thread(self.lock._helper._leave)
        try:
            await asyncio.shield(released)
        except asyncio.CancelledError:
            if not self._cancelled or kind is asyncio.CancelledError:
                raise  # somebody else cancelled the task
            await released  # the block ended before our cancellation reached it


def _loop() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError("locksmith: acquire_async needs a running loop of asyncio (with AnyIO: its backend asyncio); "
                           "elsewhere call locksmith.acquire in a thread") from None


def _in_thread(work: Callable[[], _T]) -> asyncio.Future[_T]:
    """Call work in a thread of its own, as waiters may be many. Returns a future of its result."""
    loop = _loop()
    future: asyncio.Future[_T] = loop.create_future()

    def settle(method: Callable[[Any], None], value: Any) -> None:
        if not future.done():
            method(value)

    def run() -> None:
        method: Callable[[Any], None]
        value: Any
        try:
            method, value = future.set_result, work()
        except BaseException as e:
            method, value = future.set_exception, e
        try:
            loop.call_soon_threadsafe(settle, method, value)
        except RuntimeError:
            pass  # the loop was closed; nobody waits
    threading.Thread(target=run, daemon=True).start()
    return future


def _read(stream: IO[bytes], lines: queue.Queue[bytes]) -> None:
    """Pass lines on to the end, which is an empty line."""
    with stream:
        while True:
            line = stream.readline(_MAX_LINE + 1)
            lines.put(line)
            if not line:
                return


def _pass_on(stream: IO[bytes], log: Callable[[str], object]) -> None:
    """Call log with each line, to the end: a helper must not find the pipe full."""
    with stream:
        for line in stream:
            try:
                log(line.decode("utf-8", "replace").rstrip("\n"))
            except Exception:
                sys.excepthook(*sys.exc_info())


def _parse(line: bytes) -> Tuple[Optional[str], _Fields, str]:
    """The word, the fields and the text of a line; no word if it is malformed."""
    match = _LINE.fullmatch(line.decode("utf-8", "replace"))
    if not match or len(line) > _MAX_LINE:
        return None, {}, ""
    pairs = (field.split("=", 1) for field in match[2].split())
    return match[1], {key: urllib.parse.unquote(value) for key, value in pairs}, match[3] or ""


def _seconds(fields: Mapping[str, str], key: str) -> Optional[float]:
    return int(fields[key]) / 1000 if fields.get(key, "").isdecimal() else None


def _now() -> float:
    """A clock that goes on while the machine sleeps, where there is one."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
