// What the client promises: node --test, with locksmith on PATH, or its path in $LOCKSMITH.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as locksmith from './locksmith.mjs';

const { acquire, tryAcquire } = locksmith;
const OK = 'echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000;';
const BUSY = "echo 'BUSY tries=1 waited_ms=5 holder=h pid=42 text=local:/x: held by somebody';";
const HOLDS = `${OK} cat >/dev/null; echo RELEASED held_ms=1`;
const LONG = 60_000; // nothing that is waited for in vain takes so long
const sh = (script) => ['sh', '-c', script];

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'locksmith-'));
after(() => fs.rmSync(folder, { recursive: true }));
let address;
let locks = 0;
beforeEach(() => { locks += 1; address = `local:${folder}/${locks}`; });

// held has another holder have the lock for the rest of a test.
async function held(t) {
  const lock = await acquire(address);
  t.after(() => lock.release());
}

// known has a call fail until the error says what a test needs to know: on a busy machine a helper may not answer in time.
async function known(call, isKnown) {
  let told;
  for (let tries = 0; tries < 20 && !(told && isKnown(told)); tries++) told = await call().catch((e) => e);
  return told;
}
const isAnswer = (e) => e.code !== 'unreachable';

test('addresses are strings, options are known', async () => {
  const wrong = [[address, { timout: 3 }, /no option timout/], [address, { timeout: '3' }, /timeout must not be '3'/],
    [address, { timeout: NaN }, /timeout must not be NaN/], [address, { lease: Infinity }, /lease must not be Infinity/],
    [address, { poll: 3 }, /poll must not be 3/], [3, {}, /an address is a string/], [[], {}, /an address is a string/],
    [address, { ask: 3 }, /ask must not be 3/], [address, { ask() {}, retries: 1 }, /retries must not stand beside ask/],
    [address, { helper: 'locksmith' }, /helper must not be/], [address, { log: 'file' }, /log must not be/]];
  for (const [lock, options, message] of wrong) {
    await assert.rejects(acquire(lock, options), { name: 'TypeError', message });
  }
});

test('a holder is told, and pauses reach the helper', async () => {
  const lock = await acquire(address, { poll: [10, 50], slow: [100, 200] });
  const refused = await known(() => tryAcquire(address), isAnswer);
  assert.equal(refused.name, 'HeldError');
  assert.ok(refused.holder.pid > 0);
  assert.equal(await lock.release(), true);
});

test('timeouts', async () => {
  const lock = await acquire(address, { timeout: Infinity, killAfter: Infinity, maxHold: Infinity });
  for (const timeout of [0, -3, -Infinity]) {
    const once = await known(() => acquire(address, { timeout }), isAnswer);
    assert.deepEqual([once.name, once.code], ['HeldError', 'held']);
  }
  const timed = await known(() => acquire(address, { timeout: 100 }), isAnswer);
  assert.equal(timed.code, 'timeout');
  assert.ok(timed.waited >= 100);
  await lock.release();
});

test('a second release waits for the first', async () => {
  const lock = await acquire(address, { helper: sh(`${OK} cat >/dev/null; sleep 0.5; echo RELEASED held_ms=1`) });
  const first = lock.release();
  assert.equal(await lock.release(), false);
  assert.equal(lock._process.exitCode, 0, 'it did not wait');
  assert.equal(await first, true);
  assert.equal(await lock.release(), false);
  await lock[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]();
});

test("the helper's standard error goes where it should", async () => {
  const talkative = sh(`echo one >&2; ${OK} cat >/dev/null; echo two >&2; echo RELEASED held_ms=1`);
  const said = [];
  await (await acquire(address, { helper: talkative, log: (line) => said.push(line) })).release();
  for (let i = 0; i < 100 && said.length < 2; i++) await sleep(50);
  assert.deepEqual(said, ['one', 'two']);
  await (await acquire(address, { helper: talkative, log: false })).release();
});

test('a status tells of an early release, however late its line was read', async () => {
  for (const status of [79, 143]) {
    const early = sh(`${OK} echo RELEASED held_ms=0; exit ${status}`);
    const lost = await acquire(address, { helper: early });
    await assert.rejects(lost.release(), { name: 'LostError', code: 'gone' }, `status ${status}`);
  }
  const ended = await acquire(address);
  process.kill((await known(() => tryAcquire(address), isAnswer)).holder.pid, 'SIGTERM');
  for (let taken = false; !taken;) { // without a turn of the event loop, until another has the lock
    taken = spawnSync(process.env.LOCKSMITH || 'locksmith', ['run', '-n', address, '--', 'true'], { stdio: 'ignore' }).status === 0;
  }
  await assert.rejects(ended.release(), { name: 'LostError', code: 'gone' }, 'others had the lock');
});

test('an OK that may have been in the pipe while this process did not run counts for less', async () => {
  const silent = async (waited) => {
    const says = `sleep 1; echo OK proto=1 mode=exclusive waited_ms=${waited} lease_ms=1600; exec sleep 60 2>&-`;
    const lock = await acquire(address, { helper: sh(says), killAfter: 0, ref: true });
    const begun = performance.now();
    await once(lock.signal, 'abort');
    await assert.rejects(lock.release(), { code: 'expired' });
    return performance.now() - begun;
  };
  const [late, fresh] = await Promise.all([silent(0), silent(1000)]);
  assert.ok(late < fresh, `the loss is told after ${late} and ${fresh} ms`);
});

test('with ref a lock keeps the process running, until somebody ends it; without, not', async () => {
  const client = new URL('locksmith.mjs', import.meta.url);
  for (const [options, runs] of [['{}', false], ['{ ref: true }', true]]) {
    const text = `import { acquire } from ${JSON.stringify(client.href)}; await acquire(${JSON.stringify(address)}, ${options}); console.log('has it');`;
    const program = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(program, 'exit');
    await once(program.stdout, 'data');
    if (runs) {
      await sleep(1000);
      assert.equal(program.exitCode, null, 'with ref it ended');
      program.kill('SIGTERM');
    }
    assert.deepEqual(await exited, runs ? [null, 'SIGTERM'] : [0, null]);
  }
});

test('a call that has a bound comes back though its helper is frozen', async () => {
  const frozen = { helper: sh('kill -STOP $$; exec sleep 300'), killAfter: 100 };
  for (const options of [{ timeout: 0 }, { timeout: 200 }, { timeout: 200, ask() {} }]) {
    const told = await acquire(address, { ...frozen, ...options }).catch((e) => e);
    assert.match(told.message, /no answer within/);
    assert.equal(told.code, 'unreachable');
    assert.ok(told.waited > options.timeout);
  }
  const asked = { helper: sh(`${BUSY} kill -STOP $$; exec sleep 300`), killAfter: 100, timeout: 200, ask() {} };
  await assert.rejects(acquire(address, asked), { name: 'HeldError', code: 'timeout', message: /held by somebody/ });
  const begun = performance.now();
  await assert.rejects(acquire(address, { ...frozen, signal: AbortSignal.timeout(100) }), { name: 'AbortError' });
  assert.ok(performance.now() - begun < LONG / 2);
});

test('a cancelled wait tells how long it was, and for whom', async (t) => {
  await held(t);
  const reason = new Error('enough');
  let control;
  const told = await known(() => {
    control = new AbortController();
    setTimeout(() => control.abort(reason), 500);
    return acquire(address, { signal: control.signal });
  }, (e) => e.holder.pid);
  assert.ok(told instanceof locksmith.CancelledError);
  assert.deepEqual([told.name, told.code, told.cause], ['AbortError', 'cancelled', reason]);
  assert.ok(told.waited >= 450 && told.holder.pid > 0, `${told.waited}, ${told.holder.pid}`);
  assert.match(told.message, /gave up after .*; .*held by/);
  const before = await acquire(address, { signal: control.signal }).catch((e) => e);
  assert.deepEqual([before.name, before.waited, before.cause], ['AbortError', 0, reason]);
  const ended = sh('echo ERR code=cancelled waited_ms=1500 text=local:/x: by a signal');
  await assert.rejects(acquire(address, { helper: ended }), { name: 'HelperError', code: 'cancelled', waited: 1500 });
});

test('ask decides how to wait', async () => {
  const answer = async (given) => {
    const said = [];
    const asks = sh(`${BUSY} read -r a; echo "$a" >&2; [ "$a" != END ] || { echo ERR code=held text=local:/x: held; exit 75; }; ${HOLDS}`);
    let refusal;
    const error = await acquire(address, { helper: asks, log: (line) => said.push(line), ask: (r) => { refusal = r; return given; } })
      .then((lock) => lock.release().then(() => 'released'), (e) => e.code);
    assert.deepEqual([refusal.tries, refusal.waited, refusal.held.holder.pid], [1, 5, 42]);
    for (let i = 0; i < 100 && !said.length; i++) await sleep(50);
    return `${said}: ${error}`;
  };
  assert.equal(await answer(500), 'PAUSE ms=500: released');
  assert.equal(await answer(Promise.resolve(0.1)), 'PAUSE ms=1: released');
  assert.equal(await answer(-2), 'PAUSE ms=1: released');
  assert.equal(await answer(undefined), 'PAUSE ms=0: released');
  assert.equal(await answer(0), 'PAUSE ms=0: released');
  assert.equal(await answer({ usual: 30_000 }), 'PAUSE usual=1 ms=30000: released');
  assert.equal(await answer(false), 'END: held');
  for (const nonsense of [true, 'soon', NaN, Infinity, {}]) {
    await assert.rejects(acquire(address, { helper: sh(`${BUSY} cat >/dev/null`), ask: () => nonsense }), /ask returned/);
  }
});

test('ask ends the wait for a real helper', async (t) => {
  await held(t);
  const asked = [];
  const ask = async ({ tries, held: by }) => { asked.push([tries, by.holder.pid > 0]); return tries < 3 ? 10 : false; };
  await assert.rejects(acquire(address, { ask }), { name: 'HeldError', code: 'held' });
  assert.deepEqual(asked, [[1, true], [2, true], [3, true]]);
  await assert.rejects(acquire(address, { ask() { throw new RangeError('its own'); } }), { name: 'RangeError' });
});

// program runs the page's program, with this helper.
function program(t, helper = process.env.LOCKSMITH || 'locksmith') {
  const page = fs.readFileSync(new URL('README.md', import.meta.url), 'utf8');
  const [text] = page.match(/(?<=```js\n)[^]*?(?=```)/);
  const source = text.replace("'locksmith'", JSON.stringify(new URL('locksmith.mjs', import.meta.url).href));
  const file = `${folder}/${locks}.mjs`;
  fs.writeFileSync(file, source);
  const run = spawn(process.execPath, [file, address], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, LOCKSMITH: helper } });
  t.after(() => run.kill());
  const said = { out: '', err: '' };
  run.stdout.on('data', (text) => { said.out += text; });
  run.stderr.on('data', (text) => { said.err += text; });
  return { run, said, ended: once(run, 'close') };
}

test("the page's program works", async (t) => {
  const { said, ended } = program(t);
  await ended;
  assert.deepEqual([said.out.split('\n').length, said.err], [21, '']);
});

test("the page's program tells a loss", async (t) => {
  let told = '';
  for (let tries = 0; tries < 20 && !told; tries++) { // on a busy machine it may end before its helper is found
    const { run, said, ended } = program(t);
    await once(run.stdout, 'data');
    const held = await tryAcquire(address).then((lock) => lock.release(), (e) => e);
    try { process.kill(held.holder.pid, 'SIGTERM'); } catch { /* it has ended, or did not answer */ }
    await ended;
    told = said.err;
  }
  assert.match(told, /^lost on the way: /);
});

test("the page's program tells that it was cancelled", async (t) => {
  await held(t);
  const helper = `${folder}/${locks}.helper`;
  const begun = `${helper}.begun`;
  fs.writeFileSync(helper, `#!/bin/sh\n: >${begun}\nexec ${process.env.LOCKSMITH || 'locksmith'} "$@"\n`, { mode: 0o755 });
  const { run, said, ended } = program(t, helper);
  while (!fs.existsSync(begun)) await sleep(10);
  run.kill('SIGINT');
  await ended;
  assert.match(said.err, /^gave up after /);
});

test('the types name what there is, and no more', async () => {
  const types = fs.readFileSync(new URL('locksmith.d.mts', import.meta.url), 'utf8');
  const named = [...types.matchAll(/^export (?:class|function) (\w+)/gm)].map((m) => m[1]);
  assert.deepEqual(named.sort(), Object.keys(locksmith).sort());
  const body = types.slice(types.indexOf('interface Options'), types.indexOf('interface Refusal'));
  const options = [...body.matchAll(/^ {2}(\w+)\?:/gm)].map((m) => m[1]);
  const known = (await acquire(address, { none: 1 }).catch((e) => e.message)).split('they are ')[1].split(', ');
  assert.deepEqual(options.sort(), known.sort());
});
