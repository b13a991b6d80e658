// Runs a command under proper-lockfile: proper-lockfile.js LOCK COMMAND…
// The library tells that the lock is compromised; then the command is ended.
const { spawn } = require('node:child_process');
const { lock } = require('proper-lockfile');

const [path, ...argv] = process.argv.slice(2);
let command;
const onCompromised = () => command?.kill('SIGTERM');
lock(path, { realpath: false, retries: { forever: true, minTimeout: 50, maxTimeout: 500 }, onCompromised }).then((give) => {
  command = spawn(argv[0], argv.slice(1), { stdio: 'inherit' });
  command.on('exit', () => give().catch(() => {}));
});
