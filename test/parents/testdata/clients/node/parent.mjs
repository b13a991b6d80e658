// parent.mjs SCENARIO LOCK GO, by way of client/node: see doc.go.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { acquire, tryAcquire } from '../../../../../client/node/locksmith.mjs';

const [scenario, address, go] = process.argv.slice(2);

async function awaitGo() {
  for (let i = 0; i < 2400; i++) {
    if (fs.existsSync(go)) return;
    await sleep(50);
  }
  throw new Error('told nothing');
}

async function giveUp() {
  const deaf = scenario === 'deaf' ? { helper: ['sh', '-c', 'exec sleep 600'], killAfter: 1000 } : {};
  await acquire(address, { ...deaf, signal: AbortSignal.timeout(500) }).catch((e) => {
    if (e.name !== 'AbortError' || e.cause.name !== 'TimeoutError') throw e;
    console.log('gave up');
  });
}

async function lose(lock) {
  const running = setInterval(() => {}, 1000); // a lock alone does not keep a program running
  if (!lock.lost) await once(lock.signal, 'abort');
  clearInterval(running);
  console.log(`lost ${lock.error.code}`);
  await lock.release().catch((e) => console.log(`released ${e.code}`));
}

async function main() {
  const options = { stopped: { lease: 3000 }, max_hold: { maxHold: 1000 } }[scenario];
  const lock = scenario === 'try' ? await tryAcquire(address) : await acquire(address, options);
  if (scenario === 'fork') {
    const child = spawn('sleep', ['600'], { stdio: [lock._process.stdin, lock._process.stdout, 'inherit'] });
    console.log(`child ${child.pid}`);
  }
  console.log('working');
  if (['lost', 'stopped', 'max_hold'].includes(scenario)) return lose(lock);
  if (scenario === 'data') {
    for await (const line of createInterface({ input: process.stdin })) console.log(`data ${line}`);
    console.log('eof');
  }
  await awaitGo();
  if (!(await lock.release()) || (await lock.release())) throw new Error('released in vain');
  console.log('released');
}

await (['give_up', 'deaf'].includes(scenario) ? giveUp() : main());
