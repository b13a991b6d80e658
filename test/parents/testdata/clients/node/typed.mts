// All that the types of client/node have, for tsc --strict.
import { acquire, tryAcquire, CancelledError, HeldError, HelperError, LocksmithError, LostError, type Answer, type Holder, type Lock, type Options, type Refusal } from 'locksmith';

const options: Options = {
  timeout: Infinity, lease: 60_000, refresh: 1000, maxHold: 3_600_000, respite: 0, retries: 3, poll: [10, 50], slow: [100, 200],
  shared: true, strict: false, ref: true, meta: { job: 'nightly' }, log: (line) => console.log(line), helper: ['locksmith'], killAfter: 1000,
  signal: AbortSignal.timeout(1000),
};
const answers: Answer[] = [500, 0, false, null, undefined, { usual: 30_000 }];

function say(error: LocksmithError): string {
  if (error instanceof CancelledError) return `${error.waited} ${error.cause} ${error.holder.host}`;
  if (error instanceof HeldError) return `${error.waited ?? 0} ${error.holder.user}`;
  if (error instanceof HelperError || error instanceof LostError) return error.code ?? '';
  return error.message;
}

async function work(address: string): Promise<bigint> {
  await using lock = await acquire([address], { ...options, ask: async ({ tries, waited, held }: Refusal) => tries < 3 && waited < 1000 && held.holder.pid ? 10 : false });
  const holder: Holder = {};
  const same: Lock = lock;
  const first: bigint | undefined = lock.tokens[0];
  if (lock.lost && lock.error) throw lock.error;
  lock.signal.throwIfAborted();
  console.log(same.mode, lock.id, lock.address, lock.waited, holder.age, first, answers);
  return lock.token;
}

try {
  await work('local:/tmp/x');
  const lock: Lock = await tryAcquire('local:/tmp/x', { ask: () => {} });
  const released: boolean = await lock.release();
  console.log(released);
} catch (e) {
  if (!(e instanceof LocksmithError)) throw e;
  console.error(say(e));
}
