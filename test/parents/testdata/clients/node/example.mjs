import { acquire } from '../../../../../client/node/locksmith.mjs';

const lock = await acquire(process.argv[2], { timeout: 600_000 });
try {
  console.log('working');
} finally {
  await lock.release();
}
