// As dist/listener.cjs, without the confinement and with ClickHouse's native protocol: the shards of a cluster connect to each other.
const { readSync, writeSync } = require('node:fs');
const { DataType, load, open } = require('ffi-rs');

const buffer = Buffer.alloc(64 * 1024);
let length = 0;
while (!buffer.subarray(0, length).includes('\n')) {
  const bytes = readSync(0, buffer, length, buffer.length - length, null);
  if (bytes === 0) process.exit(1);
  length += bytes;
}
const message = JSON.parse(buffer.toString('utf8', 0, length));
open({ library: 'chdb', path: message.library });
writeSync(1, `${JSON.stringify({ isolation: 'none', hasNative: false })}\n`);
const statements = [
  'SYSTEM START LISTEN TCP',
  'SYSTEM START LISTEN HTTP',
  'SELECT sleepEachRow(3) FROM system.numbers SETTINGS max_block_size = 1 FORMAT Null',
];
const values = ['clickhouse', '--query', statements.join('; '), ...message.arguments];
load({
  library: 'chdb',
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [values.length, values],
  runInNewThread: true,
});
const end = () => process.kill(process.pid, 'SIGKILL');
process.stdin.on('end', end).resume();
