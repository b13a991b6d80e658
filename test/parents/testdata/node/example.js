const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { createInterface } = require('node:readline');

async function main(lock) {
  const locker = spawn('locksmith', ['hold', '--stdin', 'watch', '--timeout', '10m', lock], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(locker, 'exit');
  const lines = createInterface({ input: locker.stdout })[Symbol.asyncIterator]();
  const line = (await lines.next()).value;
  if (!line?.startsWith('OK')) throw new Error(`no lock: ${line}`);

  console.log('working');

  locker.stdin.end();
  const [status] = await exited; // then it is released
  locker.stdout.destroy(); // which something that it started may have
  if (status !== 0) throw new Error('lost the lock');
}

main(process.argv[2]);
