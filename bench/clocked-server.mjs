// A server in this process whose clock a benchmark sets forward: a service idles after minutes, not after seconds.
import { mkdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { rolldown } from 'rolldown';
import { authorization, base } from './tools.mjs';

const IDLE_AFTER_MS = 16 * 60_000;
const POLL_MS = 20;
const isLocal = (id) => id.startsWith('.') || id.startsWith('/');

/** The modules of the server; `dist` has the program only. */
async function loadServer() {
  const bundle = await rolldown({
    input: {
      'bench-server': 'src/server/server.ts',
      'bench-config': 'src/server/settings/config.ts',
      'bench-fleet': 'src/operations/fleet/file.ts',
    },
    platform: 'node',
    external: (id) => !isLocal(id),
  });
  await bundle.write({ dir: 'dist', format: 'esm', chunkFileNames: 'bench-[name].js' });
  await bundle.close();
  const [{ startServer }, { loadConfig }, { parseFleetFile }] = await Promise.all(
    ['server', 'config', 'fleet'].map((name) => import(`../dist/bench-${name}.js`)),
  );
  return { startServer, loadConfig, parseFleetFile };
}

export async function openClockedServer(data, fleet) {
  const { startServer, loadConfig, parseFleetFile } = await loadServer();
  mkdirSync(data, { recursive: true });
  const flags = { port: '0', dataDirectory: data, rateLimit: 'off', endpointPorts: '0' };
  const { config, problems } = loadConfig({ flags, environment: {}, readFile: () => '' });
  if (problems) throw new Error(problems.join('\n'));
  let now = Date.now();
  const startedAt = now;
  const server = await startServer({
    config,
    clock: { now: () => now, monotonicMs: () => now - startedAt },
    log: pino({ level: 'silent' }),
    access() {},
    async prepare(domains) {
      await domains.fleet.apply(parseFleetFile(JSON.stringify(fleet)), { type: 'system', id: 'bench', details: '' });
    },
  });

  async function call(method, path, body) {
    const response = await fetch(`${server.url}${base}/services${path}`, {
      method,
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { result, error } = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${error}`);
    return result;
  }

  async function untilState(id, state) {
    for (;;) {
      const record = await call('GET', `/${id}`);
      if (record.status.state === state && record.status.inFlight === undefined) return record;
      await delay(POLL_MS);
    }
  }

  return {
    /** Creates an embedded service and waits until it runs. */
    async createService(name) {
      const { service, password } = await call('POST', '', {
        name,
        provider: 'aws',
        region: 'eu-central-1',
        driver: 'embedded',
      });
      const { endpoints } = await untilState(service.id, 'running');
      const [{ host, port }] = endpoints;
      return { id: service.id, url: `http://${host}:${port}/`, password };
    },
    /** Lets the time pass after which services idle. The reconciler looks at a service at once when it has changed. */
    async letIdle(...ids) {
      now += IDLE_AFTER_MS;
      await Promise.all(
        ids.map((id) => call('PATCH', `/${id}`, { tags: { add: [{ key: 'idle-at', value: `${now}` }] } })),
      );
      await Promise.all(ids.map((id) => untilState(id, 'idle')));
    },
    close: () => server.close(),
  };
}
