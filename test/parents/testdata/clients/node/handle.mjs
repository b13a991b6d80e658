// handle.mjs LOCK: what the client promises of a lock in a program's hands. It exits with 1 if it is not so.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import * as locksmith from '../../../../../client/node/locksmith.mjs';

const [address] = process.argv.slice(2);
const { acquire, tryAcquire } = locksmith;

// Addresses are strings, options are known.
const wrong = [[address, { timout: 3 }, /no option timout/], [address, { timeout: '3' }, /timeout must not be '3'/],
  [address, { poll: 3 }, /poll must not be 3/], [3, {}, /an address is a string/], [[], {}, /an address is a string/],
  [address, { helper: 'locksmith' }, /helper must not be/], [address, { log: 'file' }, /log must not be/]];
for (const [lock, options, message] of wrong) {
  await assert.rejects(acquire(lock, options), { name: 'TypeError', message });
}

// Pauses between tries reach the helper.
const lock = await acquire(address, { poll: [10, 50], slow: [100, 200] });
const held = await tryAcquire(address).catch((e) => e);
assert.equal(held.name, 'HeldError');
assert.ok(held.holder.pid > 0);
assert.equal(await lock.release(), true);

// Its standard error goes where it should.
const talkative = ['sh', '-c', 'echo one >&2; echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000; cat >/dev/null; echo two >&2; echo RELEASED held_ms=1'];
const said = [];
await (await acquire(address, { helper: talkative, log: (line) => said.push(line) })).release();
for (let i = 0; i < 100 && said.length < 2; i++) await new Promise((r) => setTimeout(r, 50));
assert.deepEqual(said, ['one', 'two']);
await (await acquire(address, { helper: talkative, log: false })).release();

// A helper that says with its status that it was too soon is believed, however late its line was read.
for (const status of [79, 143]) {
  const early = ['sh', '-c', `echo OK proto=1 mode=exclusive waited_ms=0 lease_ms=60000; echo RELEASED held_ms=0; exit ${status}`];
  const lost = await acquire(address, { helper: early });
  await assert.rejects(lost.release(), { name: 'LostError', code: 'gone' }, `status ${status}`);
}
const ended = await acquire(address);
process.kill((await tryAcquire(address).catch((e) => e)).holder.pid, 'SIGTERM');
for (let taken = false; !taken;) { // without a turn of the event loop, until another has the lock
  taken = spawnSync(process.env.LOCKSMITH || 'locksmith', ['run', '-n', address, '--', 'true'], { stdio: 'ignore' }).status === 0;
}
await assert.rejects(ended.release(), { name: 'LostError', code: 'gone' }, 'others had the lock');

// An OK that may have been in the pipe while this process did not run counts for less.
const silent = async (waited) => {
  const says = `sleep 1; echo OK proto=1 mode=exclusive waited_ms=${waited} lease_ms=1600; exec sleep 60 2>&-`;
  const lock = await acquire(address, { helper: ['sh', '-c', says], killAfter: 0, ref: true });
  const begun = performance.now();
  await once(lock.signal, 'abort');
  await assert.rejects(lock.release(), { code: 'expired' });
  return performance.now() - begun;
};
const [late, fresh] = await Promise.all([silent(0), silent(1000)]);
assert.ok(late < fresh - 300, `the loss is told after ${late} and ${fresh} ms`);

// With ref a lock keeps the process running, until somebody ends it; without, not.
const client = new URL('../../../../../client/node/locksmith.mjs', import.meta.url);
for (const [options, runs] of [['{}', false], ['{ ref: true }', true]]) {
  const text = `import { acquire } from ${JSON.stringify(client.href)}; await acquire(${JSON.stringify(address)}, ${options}); console.log('has it');`;
  const program = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(program, 'exit');
  await once(program.stdout, 'data');
  if (runs) {
    await new Promise((r) => setTimeout(r, 1000));
    assert.equal(program.exitCode, null, 'with ref it ended');
    program.kill('SIGTERM');
  }
  assert.deepEqual(await exited, runs ? [null, 'SIGTERM'] : [0, null]);
}

// The types name what there is, and no more.
const types = fs.readFileSync(new URL('locksmith.d.mts', client), 'utf8');
const named = [...types.matchAll(/^export (?:class|function) (\w+)/gm)].map((m) => m[1]);
assert.deepEqual(named.sort(), Object.keys(locksmith).sort());
const body = types.slice(types.indexOf('interface Options'), types.indexOf('interface Holder'));
const options = [...body.matchAll(/^ {2}(\w+)\?:/gm)].map((m) => m[1]);
const known = (await acquire(address, { none: 1 }).catch((e) => e.message)).split('they are ')[1].split(', ');
assert.deepEqual(options.sort(), known.sort());
