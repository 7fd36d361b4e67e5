import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expandReferences } from '../support/expand.ts';
import { acme } from '../support/fleet.ts';
import { useServices } from '../support/running-service.ts';
import { START_LIMIT_MS, startServer, type TestServer } from '../support/server.ts';
import { createLoopDelays, probeEnvironment } from './loop-delay.ts';
import { BATCHES, LARGE_DASHBOARDS, LONG_URLS, SHAPES, type Target } from './shapes.ts';

/**
 * No request holds the event loop for more than 100 ms of CPU time. The factor allows for a machine under load, on which
 * the same work takes more CPU time; what these tests prevent took between one and fifteen seconds.
 */
const MAX_HELD_MS = 100 * 4;
const ATTEMPTS = 3;
const MAX_RESIDENT_BYTES = 1.5 * 1024 ** 3;
const MIB = 1024 * 1024;
const MAX_BYTES = { '/v1': MIB, '/api/v2': 2 * MIB, '/console': 16 * 1024 };
const IS_LONG = process.env.HOSTILE_REQUESTS !== undefined;

const DASHBOARD_OPERATIONS = [
  ['POST', '/api/v2/dashboards/validate'],
  ['POST', '/api/v2/dashboards'],
  ['PUT', '/api/v2/dashboards/{id}'],
  ['PUT', '/api/v2/dashboards/{id}?format=config'],
] as const;

interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  maxItems?: number;
  maxLength?: number;
  maxProperties?: number;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  anyOf?: JsonSchema[];
  additionalProperties?: unknown;
}

interface BodyOperation {
  id: string;
  method: string;
  path: string;
  schema: JsonSchema;
}

interface Document {
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: { content: Record<string, { schema: JsonSchema }> } }>
  >;
}

const VALUES: Record<string, string> = {
  organizationId: acme.id,
  serviceId: acme.secondary,
  keyId: '11111111-1111-4111-8111-111111111111',
  budgetId: '11111111-1111-4111-8111-111111111111',
  tokenId: '11111111-1111-4111-8111-111111111111',
  linkId: '11111111-1111-4111-8111-111111111111',
  userId: '11111111-1111-4111-8111-111111111111',
  id: acme.dashboard,
  clickStackDashboardId: acme.dashboard,
  clickStackSourceId: 'ffffffffffffffffffffffff',
  tileId: 'one',
  version: '1',
};

function listBodyOperations(document: Document): BodyOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      return schema ? [{ id: operationId, method: method.toUpperCase(), path, schema }] : [];
    }),
  );
}

function createTarget({ path, schema }: BodyOperation): Target {
  const prefix = path.startsWith('/v1') ? '/v1' : path.startsWith('/api/v2') ? '/api/v2' : '/console';
  const find = (type: string) =>
    Object.entries(schema.properties ?? {}).find(([, member]) => member.type === type)?.[0] ?? type;
  return { bytes: MAX_BYTES[prefix], list: find('array'), text: find('string') };
}

/** The paths of lists, texts and free objects without a maximum size. */
function listUnlimited(schema: JsonSchema, path: string): string[] {
  const isUnlimited =
    (schema.type === 'array' && schema.maxItems === undefined) ||
    (schema.type === 'string' && schema.maxLength === undefined && !schema.enum && !schema.format && !schema.pattern) ||
    (schema.additionalProperties === true && schema.maxProperties === undefined);
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    listUnlimited(member, `${path}.${name}`),
  );
  const elements = schema.items ? listUnlimited(schema.items, `${path}[]`) : [];
  const variants = (schema.anyOf ?? []).flatMap((variant) => listUnlimited(variant, path));
  return [...(isUnlimited ? [path] : []), ...members, ...elements, ...variants];
}

const authorization = (path: string): string =>
  path.startsWith('/v1')
    ? `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`
    : `Bearer ${acme.writer}`;

describe('the largest bodies', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-hostile-'));
  const file = join(directory, 'held');
  const delays = createLoopDelays(file);
  const table: [string, number, number][] = [];
  let server: TestServer;
  let operations: BodyOperation[] = [];

  beforeAll(async () => {
    server = await startServer('libsql', {
      environment: probeEnvironment(file),
      args: ['--log-level', 'error', '--endpoint-ports', '0'],
    });
    operations = listBodyOperations(expandReferences(await (await fetch(`${server.url}/openapi.json`)).json()));
  }, START_LIMIT_MS);
  afterAll(async () => {
    await server.remove();
    rmSync(directory, { recursive: true, force: true });
    const worst = table.sort((a, b) => b[2] - a[2]).slice(0, IS_LONG ? 40 : 5);
    console.info(worst.map(([name, status, ms]) => `${String(ms).padStart(5)} ms  ${status}  ${name}`).join('\n'));
  });

  const settle = () => fetch(`${server.url}/healthz`);

  /** Sends the body and returns the status and the longest time that it held the event loop. */
  async function measure(
    { method, path }: Pick<BodyOperation, 'method' | 'path'>,
    body: string | Buffer,
    type: string,
  ): Promise<{ status: number; heldMs: number }> {
    const url = server.url + path.replace(/\{(\w+)\}/g, (_, parameter: string) => VALUES[parameter] ?? parameter);
    const headers = { authorization: authorization(path), 'content-type': type };
    const response = await fetch(url, { method, headers, body: body as RequestInit['body'] });
    await response.arrayBuffer();
    return { status: response.status, heldMs: await delays.takeLongest(settle) };
  }

  /** Repeats a request that held the event loop too long: a slow moment of the machine does not come three times. */
  async function send(
    name: string,
    operation: Pick<BodyOperation, 'method' | 'path'>,
    body: string | Buffer,
    { type = 'application/json' } = {},
  ): Promise<number> {
    let result = await measure(operation, body, type);
    const { status } = result;
    for (let attempt = 1; attempt < ATTEMPTS && result.heldMs >= MAX_HELD_MS; attempt++) {
      const again = await measure(operation, body, type);
      if (again.heldMs < result.heldMs) result = again;
    }
    table.push([name, status, result.heldMs]);
    expect(status, name).toBeLessThan(500);
    expect(result.heldMs, `${name} held the event loop for ${result.heldMs} ms of CPU time`).toBeLessThan(MAX_HELD_MS);
    return status;
  }

  /** The dashboards of an organization are limited in total size. */
  async function deleteOtherDashboards(): Promise<void> {
    const headers = { authorization: authorization('/api/v2') };
    const { data } = (await (await fetch(`${server.url}/api/v2/dashboards`, { headers })).json()) as {
      data: { id: string }[];
    };
    for (const { id } of data)
      if (id !== acme.dashboard) await fetch(`${server.url}/api/v2/dashboards/${id}`, { method: 'DELETE', headers });
    await delays.takeLongest(settle);
  }

  it('start with a quiet server', async () => {
    await fetch(`${server.url}/api/v2/dashboards`, { headers: { authorization: `Bearer ${acme.token}` } });
    await delays.takeLongest(settle);
    expect(operations.length).toBeGreaterThan(15);
  });

  it('are limited: every list, text and free object of a body has a maximum size', () => {
    for (const { id, schema } of operations.filter((operation) => operation.id !== 'usageEventsCreate'))
      expect(listUnlimited(schema, id)).toEqual([]);
  });

  it('of every shape hold the event loop briefly in every operation', { timeout: 1_800_000 }, async () => {
    for (const [at, operation] of operations.filter(({ id }) => id !== 'usageEventsCreate').entries())
      for (const [index, [name, create]] of Object.entries(SHAPES).entries()) {
        // The short form sends every shape to one operation in fourteen.
        if (!IS_LONG && (index + at) % 14 !== 0) continue;
        const target = createTarget(operation);
        const body = create(target);
        expect(Buffer.byteLength(body), name).toBeLessThanOrEqual(target.bytes);
        await send(`${operation.id}: ${name}`, operation, body);
      }
  });

  it('hold the event loop briefly if they are valid dashboards', { timeout: 1_800_000 }, async () => {
    for (const [index, [name, create]] of Object.entries(LARGE_DASHBOARDS).entries()) {
      const body = create();
      const expected = name.includes('invalid') ? 400 : 200;
      for (const [at, [method, path]] of DASHBOARD_OPERATIONS.entries()) {
        // The short form sends one in eight of the combinations.
        if (!IS_LONG && (index + at) % 8 !== 0) continue;
        const status = await send(`${method} ${path}: ${name}`, { method, path }, body);
        expect(status, name).toBe(path.endsWith('/validate') ? 200 : expected);
        await deleteOtherDashboards();
      }
    }
  });

  it('hold the event loop briefly if they are usage events', { timeout: 1_800_000 }, async () => {
    const path = '/v1/organizations/{organizationId}/usageEvents';
    for (const [index, [name, { type, body }]] of Object.entries(BATCHES).entries())
      if (IS_LONG || index % 8 === 0)
        await send(`usageEventsCreate: ${name}`, { method: 'POST', path }, body(), { type });
  });

  /** Requests without credentials, several at a time in the long form. */
  async function measureUrl(url: string): Promise<{ statuses: number[]; heldMs: number }> {
    // The server may close the connection before it has read everything.
    const ask = () =>
      fetch(url).then(
        ({ status }) => status,
        () => 431,
      );
    const statuses = await Promise.all(Array.from({ length: IS_LONG ? 20 : 1 }, ask));
    return { statuses, heldMs: await delays.takeLongest(settle) };
  }

  async function sendUrl(name: string, url: string): Promise<void> {
    let result = await measureUrl(url);
    for (let attempt = 1; attempt < ATTEMPTS && result.heldMs >= MAX_HELD_MS; attempt++) result = await measureUrl(url);
    table.push([name, result.statuses[0] ?? 0, result.heldMs]);
    for (const status of result.statuses) expect([400, 401, 403, 414, 429, 431], name).toContain(status);
    expect(result.heldMs, name).toBeLessThan(MAX_HELD_MS * (IS_LONG ? 2 : 1));
  }

  it('and the longest URLs hold the event loop briefly, without credentials', { timeout: 600_000 }, async () => {
    const { url } = await useServices(server).create();
    for (const [name, query] of Object.entries(LONG_URLS)) {
      await sendUrl(`endpoint: ${name}`, `${url}/?${query}`);
      for (const path of ['/v1/organizations', '/api/v2/dashboards', '/console/session'])
        await sendUrl(`${path}: ${name}`, `${server.url}${path}?${query}`);
    }
  });

  it('do not fill the memory', () => {
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1];
    expect(Number(peak) * 1024).toBeLessThan(MAX_RESIDENT_BYTES);
  });
});
