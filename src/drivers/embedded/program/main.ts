import { writeSync } from 'node:fs';
import { confine, endWithParent } from './landlock.ts';
import type { StartMessage, StartReport } from './messages.ts';
import { loadNative } from './native.ts';

// The process of one embedded service: ClickHouse with its own HTTP listener. It ends with the control plane and ignores
// signals: Ctrl+C and service managers signal all processes, and the control plane ends this one when it has flushed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

/** ClickHouse's threads are running, so an orderly exit could crash. Stored data is safe. */
const end = () => process.kill(process.pid, 'SIGKILL');

let text = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  const isFirstLine = !text.includes('\n');
  if (isFirstLine) text += chunk;
  if (isFirstLine && text.includes('\n')) run(JSON.parse(text)).catch(fail);
});
process.stdin.on('end', end);

async function run(message: StartMessage): Promise<void> {
  const native = loadNative(message.library);
  endWithParent(native);
  const report: StartReport = { isolation: await confine(native, message) };
  writeSync(1, `${JSON.stringify(report)}\n`);
  await native.runClickHouse(['clickhouse', ...message.arguments]);
  throw new Error('ClickHouse ended');
}

function fail(error: Error): void {
  writeSync(2, `${error.message}\n`);
  end();
}
