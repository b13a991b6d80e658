// proper-lockfile. Its lock is a directory that it touches all the time.
const { spawnSync } = require('node:child_process');
const { setTimeout } = require('node:timers/promises');
const { lock } = require('proper-lockfile');

const [verb, path, rounds, ...command] = process.argv.slice(2);
// By default stale is 10 s, in which a process may not run on a busy machine.
const options = { lockfilePath: path, realpath: false, stale: Number(process.env.STALE || 25) * 1000 };

async function take() {
  for (;;) {
    try {
      return await lock(path, options);
    } catch (e) {
      if (verb === 'try') throw e;
      await setTimeout(50);
    }
  }
}

async function loop() {
  for (let i = 0; i < rounds; i++) {
    const give = await take();
    const { status } = spawnSync(command[0], command.slice(1));
    if (status !== 0) throw new Error(`${command}: ${status}`);
    await give();
  }
}

async function hold() {
  const give = await take();
  console.log('held');
  for await (const _ of process.stdin); // until it ends
  await give();
}

async function once() {
  const give = await take();
  await give();
}

({ loop, hold, try: once })[verb]().catch((e) => {
  console.error(e.code || e.message);
  process.exit(e.code === 'ELOCKED' ? 75 : 1);
});
