// The floor of embedded services and of the engine: ClickHouse, started as the control plane starts it, without a control plane.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const builtProgram = join(import.meta.dirname, '../dist/listener.cjs');
const POLL_MS = 10;
const USERS = `<clickhouse><profiles><default/></profiles><quotas><default/></quotas><users><default><password/>
<networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default></users></clickhouse>`;

/** Listens on 127.0.0.1 without a password. `elements` are added to the configuration. `nativePort`: also for the native protocol. */
export async function startListener(directory, memoryBytes = 2 ** 30, options = {}) {
  const { program = builtProgram, elements = '', nativePort } = options;
  const data = join(directory, 'data');
  const configuration = join(directory, 'configuration');
  for (const folder of [data, configuration]) mkdirSync(folder, { recursive: true });
  const port = await findFreePort();
  const config = join(configuration, 'config.xml');
  const users = join(configuration, 'users.xml');
  writeFileSync(users, USERS);
  const native = nativePort === undefined ? '' : `<tcp_port>${nativePort}</tcp_port>`;
  writeFileSync(
    config,
    `<clickhouse><users_config>${users}</users_config><path>${data}/</path><listen_host>127.0.0.1</listen_host>
<http_port>${port}</http_port><max_server_memory_usage>${memoryBytes}</max_server_memory_usage>${native}${elements}</clickhouse>`,
  );
  const statement =
    'SYSTEM START LISTEN HTTP; SELECT sleepEachRow(3) FROM system.numbers SETTINGS max_block_size = 1 FORMAT Null';
  const child = spawn(process.execPath, ['--v8-pool-size=1', program], {
    cwd: data,
    env: { TZ: 'UTC', UV_THREADPOOL_SIZE: '1' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const message = {
    library: findLibrary(),
    data,
    configuration,
    port,
    nativePort,
    arguments: [`--config-file=${config}`, '--query', statement],
  };
  child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    port,
    pid: child.pid,
    url: `http://127.0.0.1:${port}`,
    async untilAnswer() {
      for (;;) {
        const answer = await send(`http://127.0.0.1:${port}/`, 'SELECT 1').catch(() => undefined);
        if (answer?.status === 200) return;
        if (child.exitCode !== null) throw new Error('the listener ended');
        await delay(POLL_MS);
      }
    },
    stop() {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

/** Sends a statement on a connection of its own. */
export function send(url, statement, headers = {}) {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false });
    const request = httpRequest(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(statement);
  });
}

/** As the driver finds it: next to the package chdb. */
function findLibrary() {
  const manifest = createRequire(builtProgram).resolve('chdb/package.json');
  const suffix = process.platform === 'linux' ? '-gnu' : '';
  const name = `@chdb/lib-${process.platform}-${process.arch}${suffix}`;
  return join(dirname(createRequire(manifest).resolve(`${name}/package.json`)), 'libchdb.so');
}

export function findFreePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
