// asked.mjs QUESTION LOCK PIDS: see test/helpers/clients_test.go.
import { setTimeout as sleep } from 'node:timers/promises';
import { acquire, CancelledError, HeldError, HelperError } from '../../../../../client/node/locksmith.mjs';

const [question, address, pids] = process.argv.slice(2);
const timeouts = { infinite: Infinity, zero: 0, negative: -3000, 'not a number': NaN };

async function answer() {
  if (question === 'dropped') {
    await acquire(address);
    await sleep(10);
    await acquire(address, { timeout: 5000 });
    return 'free';
  }
  if (question === 'twice') {
    const lock = await acquire(address);
    return (await lock.release()) && !(await lock.release()) ? 'once' : 'again';
  }
  if (question === 'cancel') return acquire(address, { signal: AbortSignal.timeout(1000) });
  if (question === 'frozen') {
    const helper = ['sh', '-c', `echo $$ >${pids}; kill -STOP $$; exec sleep 300`];
    return acquire(address, { timeout: 200, killAfter: 100, helper });
  }
  await (await acquire(address, { timeout: timeouts[question] })).release();
  return 'got it';
}

function said(e) {
  if (e instanceof HeldError) return 'held';
  if (e instanceof CancelledError) return e.waited >= 300 ? 'cancelled' : e.waited;
  if (e instanceof TypeError && e.message.includes('timeout')) return 'refused';
  return e instanceof HelperError && e.code === 'unreachable' ? 'no answer' : e;
}

console.log('asks');
console.log(await answer().catch(said));
