import { expect, it } from 'vitest';
import type { ApiResponse, Call } from '../support/client.ts';
import { expandReferences } from '../support/expand.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStore, type TestServer, useServer } from '../support/server.ts';
import { UUID_V4 } from '../support/shapes.ts';
import {
  generateNearlyValid,
  generateValid,
  generateWildBody,
  generateWildText,
  type JsonSchema,
  listTextChanges,
} from './generate.ts';
import { createRandom, type Random } from './random.ts';

const SEED = Number(process.env.HOSTILE_SEED ?? 12);
const REQUESTS = Number(process.env.HOSTILE_REQUESTS ?? 600);

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required?: boolean;
  schema: JsonSchema;
}

interface Operation {
  id: string;
  method: string;
  path: string;
  parameters: Parameter[];
  body: JsonSchema | undefined;
}

interface Document {
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        parameters?: Parameter[];
        requestBody?: { content: Record<string, { schema: JsonSchema }> };
      }
    >
  >;
}

const listOperations = ({ paths }: Document): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [], requestBody }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
      parameters,
      body: requestBody?.content['application/json']?.schema,
    })),
  );

type Kind = 'valid' | 'nearly valid' | 'wild';

const KINDS: readonly Kind[] = ['valid', 'valid', 'nearly valid', 'nearly valid', 'nearly valid', 'wild'];

/** Ids of resources by path parameter: those of the fleet file, and those that earlier requests created. */
type KnownIds = Record<string, string[]>;

const createKnownIds = (): KnownIds => ({
  organizationId: [acme.id, acme.id, acme.id.toUpperCase(), globex.id],
  serviceId: [acme.primary, acme.secondary, acme.development, globex.primary],
  id: [acme.dashboard, globex.dashboard, 'logs'],
  clickStackDashboardId: [acme.dashboard, globex.dashboard],
  clickStackSourceId: ['logs'],
  clickStackSavedSearchId: [],
  clickStackAlertId: [],
  clickStackWebhookId: [],
  tileId: ['one'],
  version: ['99999999999', '0', '2', '1'],
  keyId: [],
  tokenId: [],
  linkId: [],
  userId: [],
  invitationId: [],
  sessionId: [],
  budgetId: [],
  backupId: [],
  activityId: [],
  queryId: [],
});

/** Remembers the ids in a response, so that later requests find something to change. */
function learnIds(known: KnownIds, { id }: Operation, { status, json }: ApiResponse): void {
  if (status !== 200 || json === undefined) return;
  const learned: Record<string, [string, unknown]> = {
    openapiKeyCreate: ['keyId', json.result?.key?.id],
    dashboardTokenCreate: ['tokenId', json.result?.dashboardToken?.id],
    budgetCreate: ['budgetId', json.result?.id],
    invitationCreate: ['invitationId', json.result?.id],
    createDashboard: ['id', json.data?.id],
    createDashboardLink: ['linkId', json.data?.link?.id],
    createAnnotation: ['id', json.data?.id],
    createSource: ['id', json.data?.id],
    savedQueryCreate: ['queryId', json.result?.id],
    createSavedSearch: ['id', json.data?.id],
    createAlert: ['id', json.data?.id],
    createWebhook: ['id', json.data?.id],
    clickStackCreateWebhook: ['clickStackWebhookId', json.result?.id],
    clickStackCreateAlert: ['clickStackAlertId', json.result?.id],
    clickStackCreateSavedSearch: ['clickStackSavedSearchId', json.result?.id],
    clickStackCreateDashboard: ['clickStackDashboardId', json.result?.id],
    clickStackCreateSource: ['clickStackSourceId', json.result?.id],
    activityGetList: ['activityId', json.result?.[0]?.id],
  };
  const [name, value] = learned[id] ?? [];
  if (name !== undefined && typeof value === 'string') known[name]?.push(value);
}

function generateCall(random: Random, operation: Operation, known: KnownIds): Call {
  const kind = random.pick(KINDS);
  const { method, path, parameters, body } = operation;
  const isWild = () => kind === 'wild' && random.chance(0.5);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const ids = known[name] ?? [];
    if (isWild()) return generateWildText(random);
    return name !== 'organizationId' && (ids.length === 0 || random.chance(0.2)) ? random.uuid() : random.pick(ids);
  });
  const query = parameters.flatMap(({ in: place, name, required, schema }) => {
    if (place !== 'query' || !(required || random.chance(0.5)) || (kind !== 'valid' && random.chance(0.1))) return [];
    const isInvalid = isWild() || (kind === 'nearly valid' && random.chance(0.2));
    const text = isInvalid ? generateWildText(random) : encodeURIComponent(String(generateValid(random, schema, name)));
    return random.chance(0.03) ? [`${name}=${text}`, `${name}=${text}`] : [`${name}=${text}`];
  });
  if (kind !== 'valid' && random.chance(0.1)) query.push(`${generateWildText(random)}=${generateWildText(random)}`);
  return {
    method,
    path: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
    headers: generateHeaders(random, operation, kind),
    ...(method === 'GET' || (!body && random.chance(0.8)) ? {} : { text: generateBody(random, kind, body ?? {}) }),
  };
}

function generateBody(random: Random, kind: Kind, schema: JsonSchema): string | Uint8Array {
  if (kind === 'wild' && random.chance(0.6)) return generateWildBody(random);
  return JSON.stringify(kind === 'valid' ? generateValid(random, schema) : generateNearlyValid(random, schema)) ?? '';
}

const basic = ({ keyId, keySecret }: { keyId: string; keySecret: string }) =>
  `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString('base64')}`;

function generateHeaders(random: Random, { path, parameters }: Operation, kind: Kind): Record<string, string> {
  const isManagement = path.startsWith('/v1');
  const usual = isManagement ? basic(acme.admin) : `Bearer ${acme.writer}`;
  const others = [
    basic(acme.developer),
    basic(globex.admin),
    `Bearer ${acme.token}`,
    basic(acme.disabled),
    'Basic',
    '',
  ];
  const headers: Record<string, string> = {
    authorization: random.chance(0.93) ? usual : random.pick(others),
    'content-type': 'application/json',
  };
  for (const { in: place, name, schema } of parameters)
    if (place === 'header' && random.chance(0.3)) headers[name] = String(generateValid(random, schema, name));
  if (random.chance(0.2)) headers['accept-encoding'] = random.pick(['gzip', 'br', 'identity', '*', 'gzip;q=0']);
  if (kind !== 'wild') return headers;
  const wild: readonly [string, string][] = [
    ['content-type', random.pick(['text/plain', 'application/json; charset=utf-16', 'application/x-ndjson', 'x', ''])],
    ['content-encoding', random.pick(['gzip', 'identity', 'br'])],
    ['if-match', random.pick(['', '*', '"', 'W/', ','.repeat(1000)])],
    ['if-none-match', random.pick(['*', '"x"', ','.repeat(1000)])],
    ['cookie', random.pick(['pilothouse_session=x', 'pilothouse_session=', 'a=b; pilothouse_session="', '='])],
    ['x-forwarded-for', random.pick(['1.2.3.4', 'x', ','.repeat(100), '::1'])],
    ['x-request-id', 'not-yours'],
    ['x-pilothouse-csrf', 'x'],
    ['sec-fetch-site', 'cross-site'],
    ['accept', random.pick(['text/html', 'text/csv', '*/*', 'x'])],
    ['range', 'bytes=0-1'],
  ];
  for (let count = random.integer(0, 2); count > 0; count--) {
    const [name, value] = random.pick(wild);
    headers[name] = value;
  }
  return headers;
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Repeats the request in a shell. */
function formatCurl(url: string, { method = 'GET', path, headers = {}, text }: Call): string {
  const parts = ['curl', '-i', '--path-as-is', '-X', method, quote(url + path)];
  for (const [name, value] of Object.entries(headers)) parts.push('-H', quote(`${name}: ${value}`));
  if (typeof text === 'string') parts.push('--data-binary', quote(text));
  else if (text)
    parts.unshift(`printf '${[...text].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}' |`);
  if (text && typeof text !== 'string') parts.push('--data-binary', '@-');
  return parts.join(' ');
}

const SECRETS = [
  ...[acme, globex].flatMap(({ admin, token, writer }) => [admin.keySecret, token, writer]),
  acme.developer.keySecret,
  acme.disabled.keySecret,
];

function expectSound({ status, headers, text, json }: ApiResponse): void {
  if (status !== 503) expect(status).toBeLessThan(500);
  const requestId = headers.get('x-request-id');
  expect(requestId).toMatch(UUID_V4);
  if (json?.requestId !== undefined) expect(json.requestId).toBe(requestId);
  if (text !== '')
    expect(headers.get('content-type')).toMatch(/^(application\/json|text\/csv); charset=utf-8|^text\/(plain|html)/);
  expect(text).not.toMatch(/node_modules|\.[jt]s:\d|\n\s+at |DB::|SQLITE_|sqlState/);
  for (const secret of SECRETS) expect(text).not.toContain(secret);
}

async function readOperations(server: TestServer): Promise<Operation[]> {
  const { json } = await server.call({ path: '/openapi.json' });
  const operations = listOperations(expandReferences(json)).filter(({ path }) =>
    /^\/(v1|api\/v2|console)\//.test(path),
  );
  expect(operations.length).toBeGreaterThan(40);
  return operations;
}

/** Sends a request and checks the response; a failure says how to repeat it. */
async function send(server: TestServer, call: Call, name: string): Promise<ApiResponse> {
  try {
    const response = await server.call(call);
    expectSound(response);
    return response;
  } catch (error) {
    throw new Error(`${name}:\n${formatCurl(server.url, call)}\n${(error as Error).message}`, { cause: error });
  }
}

async function fuzz(
  server: TestServer,
  known: KnownIds,
  seed: number,
  requests: number,
): Promise<Record<string, number>> {
  const random = createRandom(seed);
  const operations = await readOperations(server);
  const counts: Record<string, number> = {};
  for (let index = 0; index < requests; index++) {
    const operation = operations[index % operations.length] as Operation;
    const call = generateCall(random, operation, known);
    const response = await send(server, call, `request ${index} of seed ${seed} (${operation.id})`);
    learnIds(known, operation, response);
    counts[response.status] = (counts[response.status] ?? 0) + 1;
  }
  return counts;
}

/** Valid requests, except that one parameter or one text of the body has a NUL character, which PostgreSQL rejects. */
function listNulCalls(random: Random, { method, path, parameters, body }: Operation, known: KnownIds): Call[] {
  const others: string[] = [globex.id, globex.primary, globex.dashboard];
  const fill = ({ name, schema }: Pick<Parameter, 'name' | 'schema'>): string => {
    const id = known[name]?.findLast((value) => !others.includes(value));
    return encodeURIComponent(String(id ?? generateValid(random, schema, name)));
  };
  const create = (withNul: Parameter | undefined, content: unknown): Call => {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      withNul?.in === 'path' && withNul.name === name ? 'a%00b' : fill({ name, schema: { format: 'uuid' } }),
    );
    const query = parameters.flatMap((parameter) => {
      if (parameter.in !== 'query') return [];
      if (parameter === withNul) return [`${parameter.name}=a%00b`];
      return parameter.required ? [`${parameter.name}=${fill(parameter)}`] : [];
    });
    const authorization = path.startsWith('/v1') ? basic(acme.admin) : `Bearer ${acme.writer}`;
    const headers = { authorization, 'content-type': 'application/json' };
    return { method, path: `${filled}?${query.join('&')}`, headers, ...(body && { text: JSON.stringify(content) }) };
  };
  const content = body && generateValid(random, body);
  return [
    ...parameters
      .filter(({ in: place }) => place === 'path' || place === 'query')
      .map((parameter) => create(parameter, content)),
    ...listTextChanges(content, 'a\u0000b').map((changed) => create(undefined, changed)),
  ];
}

onEachStore('fuzzed requests', (store) => {
  const server = useServer(store, { args: ['--max-keys', '100000', '--log-level', 'error'], inProcess: false });
  const known = createKnownIds();

  it(`B2, B3, B6: ${REQUESTS} requests get documented responses`, { timeout: 3_600_000 }, async () => {
    const { pid } = server;
    const counts = await fuzz(server, known, SEED + (store === 'postgres' ? 1 : 0), REQUESTS);
    console.info(`${store}: ${JSON.stringify(counts)}`);
    expect(counts[200], 'valid requests succeed').toBeGreaterThan(REQUESTS / 10);
    expect(counts[400], 'invalid requests are rejected').toBeGreaterThan(REQUESTS / 10);
    expect((await server.call({ path: '/healthz' })).status).toBe(200);
    expect(server.pid).toBe(pid);
  });

  // After the requests above, from which it knows the ids of keys, tokens and budgets.
  it('B2: a NUL character in any parameter or text is not a failure of the store', { timeout: 600_000 }, async () => {
    const random = createRandom(SEED);
    const counts: Record<string, number> = {};
    for (const operation of await readOperations(server))
      for (const call of listNulCalls(random, operation, known)) {
        const { status, text } = await send(server, call, operation.id);
        expect(status, `${call.method} ${call.path} ${text}`).toBeLessThan(500);
        counts[status] = (counts[status] ?? 0) + 1;
      }
    console.info(`${store}: ${JSON.stringify(counts)}`);
    expect(counts[400]).toBeGreaterThan(100);
  });
});
