// parent.js SCENARIO LOCK GO: see doc.go.
const { execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { createInterface } = require('node:readline');
const { setTimeout: sleep } = require('node:timers/promises');
const { Worker } = require('node:worker_threads');

const [scenario, lock, go] = process.argv.slice(2);

// Each way to start returns the stream of the helper's lines, and a function
// that lets go of the lock and waits.
function start() {
  const limit = scenario === 'try' ? ['--timeout', '0'] : [];
  const stdin = scenario === 'data' ? 'inherit' : 'pipe';
  const locker = spawn('locksmith', ['hold', ...limit, lock], { stdio: [stdin, 'pipe', 'inherit'] });
  const exited = once(locker, 'exit');
  const release = async () => {
    if (locker.stdin) locker.stdin.end();
    else locker.stdout.destroy();
    const [status] = await exited;
    if (status !== 0) throw new Error('lost the lock');
  };
  return { locker, output: locker.stdout, release };
}

// A worker closes its own pipes when it ends, so the pipe is the main thread's
// and only the fork is the worker's. The worker's loop is gone when the helper
// exits, so the end of the output must tell.
async function startInThread() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'parent-'));
  const fifo = path.join(dir, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const ours = fs.openSync(fifo, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  const theirs = fs.openSync(fifo, fs.constants.O_WRONLY);
  fs.rmSync(dir, { recursive: true });
  const worker = new Worker(
    `const { parentPort, workerData: { lock, theirs } } = require('node:worker_threads');
     const { spawn } = require('node:child_process');
     const locker = spawn('locksmith', ['hold', lock], { stdio: ['ignore', theirs, 'inherit'] });
     locker.unref();
     parentPort.postMessage(locker.pid);`,
    { eval: true, workerData: { lock, theirs } });
  const [[pid]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
  fs.closeSync(theirs);
  const output = new net.Socket({ fd: ours, readable: true, writable: false });
  const ended = once(output, 'end');
  const release = async () => {
    process.kill(pid);
    await ended;
  };
  return { output, release };
}

function leaveChild(locker) {
  const child = spawn('sleep', ['600'], { stdio: [locker.stdin, locker.stdout, 'inherit'] });
  console.log(`child ${child.pid}`);
}

async function awaitGo() {
  for (let i = 0; i < 2400; i++) {
    if (fs.existsSync(go)) return;
    await sleep(50);
  }
  throw new Error('told nothing');
}

async function main() {
  const { locker, output, release } = scenario === 'thread' ? await startInThread() : start();
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const line = (await lines.next()).value;
  if (!line?.startsWith('OK')) throw new Error(`no lock: ${line}`);

  if (scenario === 'fork') leaveChild(locker);
  console.log('working');
  if (scenario === 'data') {
    for await (const line of createInterface({ input: process.stdin })) console.log(`data ${line}`);
    console.log('eof');
  }
  await awaitGo();
  await release();
  console.log('released');
}

main();
