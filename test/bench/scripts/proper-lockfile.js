// proper-lockfile: probe, run LOCK COMMAND…, loop LOCK DIR WORKER (see loop.sh).
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const { lock } = require('proper-lockfile');

const [verb, path, ...rest] = process.argv.slice(2);

// Without retries it would give up at once.
const take = () => lock(path, { realpath: false, retries: { forever: true } });

async function run() {
  const give = await take();
  const { status } = spawnSync(rest[0], rest.slice(1), { stdio: 'inherit' });
  await give();
  if (status !== 0) throw new Error(`${rest}: ${status}`);
}

async function loop() {
  const [dir, worker] = rest;
  console.log('ready');
  for await (const _ of process.stdin); // until it ends
  while (!fs.existsSync(`${dir}/stop`)) {
    const give = await take();
    const n = Number(fs.readFileSync(`${dir}/counter`, 'utf8')) + 1;
    fs.writeFileSync(`${dir}/counter`, `${n}\n`);
    fs.appendFileSync(`${dir}/log`, `${n} ${worker}\n`);
    await give();
  }
}

({ run, loop, probe: async () => {} })[verb]().catch((e) => {
  console.error(e.message);
  process.exit(1);
});
