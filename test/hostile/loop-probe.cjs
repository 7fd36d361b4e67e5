// Loaded into the server with --require. Appends a line to the file for every turn of the event loop in which the main
// thread used much CPU time. CPU time, not elapsed time: other programs on the machine do not count.
const { appendFileSync, openSync, readSync } = require('node:fs');

const MIN_REPORTED_MS = 20;
const TICK_MS = 5;
const file = process.env.LOOP_PROBE_FILE;

/** CPU time of the main thread in milliseconds; of the whole process where the system does not tell. */
function createCpuClock() {
  try {
    const descriptor = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    const bytes = Buffer.alloc(128);
    const read = () => Number(bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, 128, 0)).split(' ')[0]) / 1e6;
    if (read() > 0) return read;
  } catch {
    // Not Linux.
  }
  return () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
}

// The engine's process inherits the options of the server's.
if (file && process.argv[1]?.endsWith('main.js')) {
  const cpuMs = createCpuClock();
  let before = cpuMs();
  setInterval(() => {
    const now = cpuMs();
    if (now - before >= MIN_REPORTED_MS) appendFileSync(file, `${Math.round(now - before)}\n`);
    before = cpuMs();
  }, TICK_MS).unref();
}
