/**
 * Locks that machines share, held by a locksmith helper process.
 *
 *     import { acquire } from './locksmith.mjs';
 *
 *     const lock = await acquire('nfs:/srv/locks/billing', { timeout: 60_000 });
 *     try {
 *       await bill(lock.token, { signal: lock.signal });
 *     } finally {
 *       await lock.release();
 *     }
 *
 * The helper releases the lock when this process lets go, ends or dies, by whatever
 * signal: there is nothing to clean up. A service of systemd needs KillMode=mixed: else a stop
 * ends the helper, too, while the work goes on. A lock that nothing refers to any more is still held.
 * It does not keep the process running, unless the option ref says so. A lock that a worker
 * acquired is released when the worker ends. When a lock is lost, its signal aborts with a
 * LostError as the reason, and release() rejects with that error.
 *
 * From the loss until it stops, the work goes on without the lock. Where that must not be,
 * let whatever the lock guards refuse tokens below the last one that it saw.
 *
 * A call with a timeout settles two seconds after it at the latest, even if its helper is frozen; a single try of a
 * lock on a server has 32 seconds. The helper is then ended behind the call. README.md has more.
 *
 * The helper is the option helper, else $LOCKSMITH, else locksmith on PATH. All times
 * are milliseconds. Needs Node.js 18 or newer, and nothing beside it.
 *
 * @module locksmith
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect as format } from 'node:util';

const MAX_LINE = 4096;
const PATIENCE = 1000; // how long a call whose signal aborts waits for its helper, which else ends behind it
const LAST_WORDS = 250; // and any other call that is over
const ANSWERS_IN = 1500; // how much later than its timeout a helper may answer
const SERVER_ANSWERS_IN = 31_500; // the same for one try at a server
const FOREVER = 9e12; // a helper counts nanoseconds in 64 bits
// The exit statuses of a helper that released a lock before its parent let go: 79, or 128 and a signal.
const isTooSoon = (status) => status === 79 || (status > 128 && status < 192);
const MAX_TIMER = 2 ** 31 - 1; // a longer timer would end at once

/** What is wrong with a lock. code: as in protocol/README.md, such as held or gone. */
export class LocksmithError extends Error {
  constructor(message, code, fields = {}) {
    super(message);
    Object.assign(this, { name: new.target.name, code }, fields);
  }
}

/** Another holder has the lock; holder: {id, user, host, program, pid, age}, as far as it is known; waited. */
export class HeldError extends LocksmithError {}
/** The helper could not get the lock, and not because somebody holds it; waited, if it waited. */
export class HelperError extends LocksmithError {}
/** The signal ended the wait; cause: its reason. waited; holder: who has the lock, as far as it is known. */
export class CancelledError extends LocksmithError {
  constructor(...args) {
    super(...args);
    this.name = 'AbortError'; // as of all that a signal ends
  }
}
/** The lock was lost while it was held (gone, expired, max_hold, internal), or could not be released. */
export class LostError extends LocksmithError {}
/** There is no locksmith program to start. */
export class NoHelperError extends LocksmithError {}
/** The program that was started is no locksmith, or a newer one, or died before its first line. */
export class ProtocolError extends LocksmithError {}

/**
 * Acquires a lock; with an array of addresses, a set of locks, all or none.
 *
 * @param {string|string[]} locks addresses, or names of profiles
 * @param {object} [options]
 * @param {number} [options.timeout] gives up after this time of waiting, with HeldError; Infinity: never; 0, or a time
 *   that is over: after one try
 * @param {AbortSignal} [options.signal] gives up the waiting, with CancelledError; later it has no effect
 * @param {function({tries, waited, held})} [options.ask] is called after each refusal, with the HeldError. It returns,
 *   or promises, how long to pause before the next try; nothing or 0: the helper waits as without it, until it sees
 *   another holder; { usual: ms }: the same, for so long; false: gives up, with HeldError
 * @param {boolean} [options.shared] other shared holders may have the lock, too
 * @param {number} [options.lease] and refresh, maxHold, respite, retries, strict, meta (an object): see locksmith hold --help
 * @param {number[]} [options.poll] and slow: pairs of times, see there, too
 * @param {false|function(string)} [options.log] is called with each line of the helper's standard error; false: the lines
 *   are dropped; without it they go to our standard error
 * @param {boolean} [options.ref] the lock keeps the process running while it is held
 * @param {string[]} [options.helper] the helper's command
 * @param {number} [options.killAfter] how long the helper may take to end (default 15,000)
 * @returns {Promise<Lock>}
 * @throws {HeldError|HelperError|CancelledError|NoHelperError|ProtocolError} and the lock is not held. A helper that is
 *   slow to end may be met by the next try
 * @throws {TypeError} an option or an address is not valid
 */
export async function acquire(locks, options = {}) {
  options ??= {};
  check([locks].flat(), options);
  if (options.signal?.aborted) {
    throw new CancelledError(`${[locks].flat().join(' + ')}: acquire: given up before it began`, 'cancelled',
      { cause: options.signal.reason, waited: 0, holder: {} });
  }
  const lock = new Lock([locks].flat(), options);
  try {
    lock._start(await lock._first(options));
    return lock;
  } catch (e) {
    await lock._part(e);
    throw lock._unstarted() ?? e;
  }
}

/** Acquires without waiting: HeldError if another holder has the lock. */
export function tryAcquire(locks, options = {}) {
  return acquire(locks, { ...options, timeout: 0 });
}

/** The options, and what each must be. */
const OPTIONS = {
  timeout: (ms) => typeof ms === 'number' && !Number.isNaN(ms),
  lease: isTime, refresh: isTime, respite: isTime,
  maxHold: isTimeOrNone, killAfter: isTimeOrNone,
  poll: isRange, slow: isRange,
  retries: (n) => Number.isInteger(n) && n >= 0,
  shared: isBoolean, strict: isBoolean, ref: isBoolean,
  meta: (o) => typeof o === 'object',
  log: (f) => f === false || typeof f === 'function',
  helper: (all) => Array.isArray(all) && all.length > 0,
  ask: (f) => typeof f === 'function',
  signal: (s) => typeof s?.addEventListener === 'function',
};

function isTime(ms) { return typeof ms === 'number' && ms >= 0 && ms <= FOREVER; }
function isTimeOrNone(ms) { return ms === Infinity || isTime(ms); }
function isRange(pair) { return Array.isArray(pair) && pair.length === 2 && pair.every(isTime); }
function isBoolean(b) { return typeof b === 'boolean'; }

/** Refuses addresses and options that are not valid. */
function check(locks, options) {
  if (!locks.length || !locks.every((l) => typeof l === 'string')) {
    throw new TypeError(`acquire: an address is a string such as 'local:/var/lock/billing', and several are an array, not ${format(locks)}`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(OPTIONS, name)) {
      throw new TypeError(`acquire: there is no option ${name}: they are ${Object.keys(OPTIONS).join(', ')}`);
    }
    if (value != null && !OPTIONS[name](value)) {
      throw new TypeError(`acquire: ${name} must not be ${format(value)}; times are milliseconds, ranges are pairs of them`);
    }
  }
  if (options.ask && options.retries != null) throw new TypeError('acquire: retries must not stand beside ask, which counts tries itself');
}

/** A lock that this process holds, or held. From acquire. */
export class Lock {
  /** The address as asked for. */ address;
  /** Names this acquisition. */ id;
  /** The fencing token, a BigInt that rises with every holder; 0n where there is none. */ token;
  /** The tokens of a set, in the order of its addresses. */ tokens;
  /** exclusive, shared or, of a set, mixed. */ mode;
  /** How long the helper waited. */ waited;
  /** The LostError of a lost lock. */ error;

  #loss = new AbortController();
  #releasing;
  #asked = false;
  #released = false;
  #watchdog;
  #last;
  #ended;

  constructor(locks, o) {
    this.address = locks.join(' + ');
    const args = ['hold', '--parent', `${process.pid}`, '--stdin', 'watch', '--beats'];
    // The timeout as a helper takes it: none, or 0 for one try.
    const timeout = o.timeout > FOREVER ? undefined : o.timeout && Math.max(o.timeout, 0);
    const isOnce = timeout === 0;
    const times = { timeout, lease: o.lease, refresh: o.refresh, 'max-hold': o.maxHold, respite: o.respite };
    for (const [flag, ms] of Object.entries(times)) {
      if (ms != null && ms !== Infinity) args.push(`--${flag}`, ms === 0 ? '0' : `${ms}ms`);
    }
    for (const flag of ['poll', 'slow']) {
      if (o[flag] != null) args.push(`--${flag}`, o[flag].map((ms) => `${ms}ms`).join('..'));
    }
    if (o.ask && !isOnce) args.push('--ask');
    if (o.retries != null) args.push('--retries', `${o.retries}`);
    if (o.shared) args.push('--shared');
    if (o.strict) args.push('--strict');
    for (const [key, value] of Object.entries(o.meta ?? {})) args.push(`--meta=${key}=${value}`);
    const [program, ...before] = o.helper ?? [process.env.LOCKSMITH || 'locksmith'];
    this._program = program;
    this._killAfter = o.killAfter ?? 15_000;
    this._begun = performance.now();
    // How long the helper may take for its first line.
    this._limit = (timeout ?? Infinity) + (isOnce && !locks.every(isHere) ? SERVER_ANSWERS_IN : ANSWERS_IN);
    this._process = spawn(program, [...before, ...args, '--', ...locks],
      { stdio: ['pipe', 'pipe', o.log ? 'pipe' : o.log === false ? 'ignore' : 'inherit'], env: { ...process.env, GOMAXPROCS: '1' } });
    this._exited = once(this._process, 'exit').catch((e) => { this._failed = e; });
    this._process.stdin?.on('error', () => {}); // the helper went away: its output says so
    if (o.log && this._process.stderr) createInterface({ input: this._process.stderr }).on('line', o.log);
    this._ref = o.ref === true;
    this._lines = linesOf(this._process.stdout); // there is no stdout when descriptors ran out
  }

  /** Aborts when the lock is lost, with the LostError as its reason; not when it is released. */
  get signal() { return this.#loss.signal; }

  /** Whether the lock was lost. */
  get lost() { return this.#loss.signal.aborted; }

  /**
   * Releases the lock and waits until it has been removed.
   *
   * @returns {Promise<boolean>} true the first time, then false
   * @throws {LostError} if the lock was lost before, or cannot be removed
   */
  async release() {
    if (this.#releasing) {
      await this.#releasing.catch(() => {});
      return false;
    }
    this.#releasing = this.#release();
    return this.#releasing;
  }

  async #release() {
    this.#asked = true;
    await this._end();
    if (!(await this._within(2_000, this.#ended))) this._process.stdout.destroy(); // a process that a wrapper left running may keep the pipe
    this._process.stderr?.unref();
    if (this.#released && isTooSoon(this._process.exitCode)) {
      this.#lose('gone', `${this.address}: lost: the helper released it before it was asked to`);
    }
    if (!this.#released) {
      this.#lose('unreleased', `${this.address}: release: the helper did not say that it has released the lock`);
    }
    if (this.error) throw this.error;
    return true;
  }

  /** For "await using". */
  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    if (!(await this.release()) && this.error) throw this.error;
  }

  /** The helper's first line that is no question. Those before it the option ask answers. */
  async _first({ ask, signal }) {
    let abort;
    const aborted = new Promise((_, reject) => { abort = () => reject(new CancelledError('', 'cancelled', { cause: signal.reason })); });
    aborted.catch(() => {}); // if it comes when nobody waits any more
    signal?.addEventListener('abort', abort);
    try {
      for (;;) {
        this._coming = this._lines.next();
        const { value: line = '' } = await this._inTime(Promise.race([this._coming, aborted]));
        const { word, fields, text } = parse(line);
        if (word !== 'BUSY' || !ask) return line;
        const waited = number(fields.waited_ms);
        this._refused = new HeldError(text, 'held', { holder: holderOf(fields), waited });
        const given = await Promise.race([ask({ tries: number(fields.tries), waited, held: this._refused }), aborted]);
        this._process.stdin.write(answerOf(given));
      }
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** What the helper says, if it does so within its time. */
  async _inTime(coming) {
    if (this._limit > MAX_TIMER) return coming;
    const left = Math.max(this._begun + this._limit - performance.now(), 0);
    for (const ms of [left, LAST_WORDS]) { // once more, in case it was this process that did not run
      if (await this._within(ms, coming)) return coming;
    }
    const waited = performance.now() - this._begun;
    if (this._refused) throw new HeldError(`${this._refused.message}; ${inSeconds(waited)}`, 'timeout', { holder: this._refused.holder, waited });
    throw new HelperError(`${this.address}: acquire: no answer within ${inSeconds(waited)}: is the helper stopped, or what it waits for?`,
      'unreachable', { waited });
  }

  /** Has the helper end behind a call that fails. Its last words say for whom a cancelled call waited. */
  async _part(error) {
    const waited = performance.now() - this._begun;
    const isCancelled = error instanceof CancelledError;
    await this._within(isCancelled ? PATIENCE : LAST_WORDS, this._end());
    if (!isCancelled) return;
    const last = (await Promise.race([this._coming, sleep(0)]))?.value ?? '';
    const { fields, text } = parse(last);
    const holder = 'holder' in fields || !this._refused ? holderOf(fields) : this._refused.holder;
    const why = text || this._refused?.message;
    Object.assign(error, { message: `${this.address}: acquire: gave up after ${inSeconds(waited)}${why ? `; ${why}` : ''}`, waited, holder });
  }

  _start(line) {
    const { word, fields, text } = parse(line);
    const { code } = fields;
    if (word === 'ERR' && (code === 'held' || code === 'timeout' || 'held' in fields)) {
      throw new HeldError(text, code, { holder: holderOf(fields), waited: number(fields.waited_ms) });
    }
    if (word === 'ERR') throw new HelperError(text, code, { waited: number(fields.waited_ms) });
    const tokens = (fields.token ?? '0').split(',');
    this._lease = Number(fields.lease_ms);
    if (word === 'OK' && Number(fields.proto) > 1) {
      throw new ProtocolError(`${this.address}: acquire: ${this._program} speaks a newer protocol, ${fields.proto}, ` +
        'and this client 1: bring the client up to date, or use an older locksmith');
    }
    if (word !== 'OK' || fields.proto !== '1' || !(this._lease > 0) || !tokens.every((t) => /^\d+$/.test(t))) {
      throw new ProtocolError(`${this.address}: acquire: ${this._program} does not speak as a locksmith: ` +
        `${JSON.stringify(line.slice(0, 100))}; is it the right program?`);
    }
    this.id = fields.id ?? '';
    this.mode = fields.mode;
    this.tokens = tokens.map(BigInt);
    [this.token] = this.tokens;
    this.waited = Number(fields.waited_ms);
    if (!this._ref) {
      for (const held of [this._process, ...this._process.stdio]) held?.unref();
    }
    this.#ended = this.#listen();
  }

  async #listen() {
    this.#last = performance.now();
    // So long may OK have waited in the pipe for us to read it. Perhaps this process did not run.
    this.#believeSince(this.#last - this._begun - (this.waited || 0), 0);
    for await (const line of this._lines) {
      const { word, fields, text } = parse(line);
      if (word === 'BEAT') this.#beat(Number(fields.sent_ms) || 0);
      if (word === 'LOST') this.#lose(fields.code, text);
      if (word === 'RELEASED') {
        this.#released = true;
        if (!this.#asked) this.#lose('gone', `${this.address}: lost: the helper released it before it was asked to; did it get a signal?`);
      }
    }
    clearTimeout(this.#watchdog);
    if (!this.#released) this.#lose('internal', `${this.address}: lost: the helper went away without releasing`);
  }

  /**
   * Takes a heartbeat that was sent so long ago. One right behind another was in the pipe with it, and says nothing
   * new. After a gap in which this process did not run, a heartbeat may be as old as the gap: then it counts only
   * until the next one should come.
   */
  #beat(ago) {
    const gap = performance.now() - this.#last;
    this.#last += gap;
    if (gap < Math.min(this._lease / 64, 250)) return; // a helper sends them a second apart, or a quarter of a lease
    this.#believeSince(gap, ago);
  }

  /** Believes what the helper said at some time in a gap, and which was so old then. */
  #believeSince(gap, ago) {
    this.#believe(Math.min((this._lease * 3) / 4 - ago, Math.max(this._lease - gap, (this._lease * 3) / 8)));
  }

  /** Expects the next heartbeat within a time; then for a sixteenth of the lease more, in case this process did not run. */
  #believe(ms) {
    clearTimeout(this.#watchdog);
    const late = () => this.#lose('expired', `${this.address}: lost: the helper has not been heard of for most of the lease`);
    const again = () => { this.#watchdog = setTimeout(late, this._lease / 16).unref(); };
    this.#watchdog = setTimeout(again, Math.min(ms, MAX_TIMER)).unref();
  }

  #lose(code, text) {
    if (this.error) return;
    this.error = new LostError(text || `${this.address}: lost`, code);
    this.#loss.abort(this.error);
  }

  /** Why there is no helper, once _end is over; undefined if there was one. */
  _unstarted() {
    if (this._process.pid) return undefined;
    return new NoHelperError(`${this.address}: acquire: ${this._failed?.message}; install locksmith on PATH, or set $LOCKSMITH to its path`);
  }

  /** Lets go and waits for the helper; kills it if it does not end. */
  async _end() {
    for (const held of [this._process, this._process.stdout]) held?.ref();
    this._process.stdin?.end();
    if (!(await this._within(this._killAfter, this._exited))) {
      this._process.kill('SIGKILL');
      await this._within(2_000, this._exited);
    }
    if (this.#ended) return;
    await this._within(LAST_WORDS, this._coming); // its last words; a process that a wrapper left running may keep the pipe
    this._process.stdout?.destroy();
  }

  /** Whether something settles within a time. */
  async _within(ms, promise) {
    const cancel = new AbortController();
    const late = sleep(Math.min(ms, MAX_TIMER), true, { signal: cancel.signal }).catch(() => {});
    try {
      return (await Promise.race([promise, late])) !== true;
    } finally {
      cancel.abort();
    }
  }
}

/** The lines of a stream; a line that is too long comes in pieces. */
async function* linesOf(stream) {
  let rest = '';
  try {
    for await (const chunk of stream?.setEncoding('utf8') ?? []) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      yield* lines;
      if (rest.length <= MAX_LINE) continue;
      yield rest;
      rest = '';
    }
  } catch { /* destroyed: the end */ }
}

/** A line is a word, fields, and a text for people; without a word it is malformed. */
function parse(line) {
  const match = /^([A-Z]{1,16})((?: [a-z][a-z0-9_.-]{0,31}=[!-~]*)*?)(?: text=(.+))?$/.exec(line);
  if (!match || line.length >= MAX_LINE) return { fields: {}, text: '' };
  const pairs = match[2].split(' ').slice(1).map((field) => {
    const [key, ...value] = field.split('=');
    return [key, value.join('=').replace(/(?:%[0-9A-F]{2})+/g, (hex) => Buffer.from(hex.replaceAll('%', ''), 'hex').toString())];
  });
  return { word: match[1], fields: Object.fromEntries(pairs), text: match[3] ?? '' };
}

/** The line that passes on what the option ask returned. */
function answerOf(given) {
  if (given === false) return 'END\n';
  if (given == null || given === 0) return 'PAUSE ms=0\n';
  const ms = typeof given === 'object' ? given.usual : given;
  if (typeof ms !== 'number' || !(Math.abs(ms) <= FOREVER)) {
    throw new TypeError(`acquire: ask returned ${format(given)}: it is to return milliseconds, nothing, { usual: milliseconds } or false`);
  }
  return `PAUSE ${given === ms ? '' : 'usual=1 '}ms=${Math.max(1, Math.ceil(ms))}\n`;
}

/** Whether a lock is not on a server. A profile may be of one. */
function isHere(address) {
  return /^(?:(?:shared|exclusive):)?(?:local|flock|link|mkdir|nfs):/.test(address);
}

function inSeconds(ms) { return `${(ms / 1000).toFixed(1)}s`; }

function holderOf({ holder: id, user, host, program, pid, age_ms: age }) {
  return { id, user, host, program, pid: number(pid), age: number(age) };
}

function number(field) {
  return field && Number(field);
}
