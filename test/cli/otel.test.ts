import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli, getServerStore, type Json, listErrors } from '../support/cli.ts';
import { acme, globex } from '../support/fleet.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';

const KEY = `${acme.admin.keyId}:${acme.admin.keySecret}`;
const DEVELOPER = `${acme.developer.keyId}:${acme.developer.keySecret}`;

/** Without any configuration in its code. */
const INSTRUMENTED_APP = `
  const { NodeSDK } = require('@opentelemetry/sdk-node');
  const { trace, metrics } = require('@opentelemetry/api');
  const { logs } = require('@opentelemetry/api-logs');
  const sdk = new NodeSDK();
  sdk.start();
  logs.getLogger('app').emit({ body: 'started' });
  trace.getTracer('app').startSpan('start').end();
  metrics.getMeter('app').createCounter('starts').add(1);
  sdk.shutdown();
`;

const parseJson = ({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): Json => {
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

onEachStoreInLongRuns('pilothouse otel', (store) => {
  const server = useServer(store);
  const otel = (args: string[], environment: Record<string, string> = {}) => cli(['otel', ...args], environment);
  const createToken = async (key = KEY): Promise<string> => {
    const args = ['token', 'create', '--access', 'ingest', '--url', server.url, '--json'];
    return parseJson(await cli(args, { PILOTHOUSE_KEY: key })).token;
  };
  let token: string;
  beforeAll(async () => {
    token = await createToken();
  });

  describe('env', () => {
    it('a shell that runs the output has the variables, whatever the name of the service', async () => {
      const name = `it's "my" $HOME \`app\` \\ ünï`;
      const args = ['env', '--url', server.url, '--token', token, '--service-name', name];
      const variables = parseJson(await otel([...args, '--json']));
      expect(variables).toEqual({
        OTEL_EXPORTER_OTLP_ENDPOINT: `${server.url}/otlp`,
        OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${token}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
        OTEL_SERVICE_NAME: name,
      });
      const { stdout, stderr } = await otel(args);
      expect(stderr).toBe('');
      const script = `${stdout}\nfor name in ${Object.keys(variables).join(' ')}; do printenv $name; done`;
      expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n')).toEqual(
        Object.values(variables),
      );
    });

    it("an app with OpenTelemetry's SDK for Node.js that is started after these lines sends all three signals", async () => {
      const args = ['env', '--url', server.url, '--token', token, '--service-name', 'sdk-app', '--language', 'node'];
      const { stdout } = await otel(args);
      const environment = { PATH: process.env.PATH };
      const script = `${stdout}\nexec node --input-type=commonjs -e "$0"`;
      await promisify(execFile)('sh', ['-c', script, INSTRUMENTED_APP], { env: environment, cwd: import.meta.dirname });
      const series = [
        { sourceId: 'logs', aggFn: 'count', where: 'Body:started' },
        { sourceId: 'traces', aggFn: 'count', where: 'SpanName:start' },
        { sourceId: 'metrics', aggFn: 'count', metricName: 'starts', metricDataType: 'sum' },
      ].map(({ where = '', ...one }) => ({ ...one, where: `${where} ServiceName:"sdk-app"`.trim() }));
      const body = { startTime: Date.now() - 600_000, endTime: Date.now(), series };
      const { json } = await server.call({ method: 'POST', path: '/api/v2/charts/series', token: acme.token, body });
      // In one bucket of time, or in two.
      const count = (index: number) =>
        json.data.reduce((sum: number, row: Json) => sum + (row[`series_${index}.data`] ?? 0), 0);
      expect([0, 1, 2].map(count)).toEqual([1, 1, 1]);
    });

    it.each(['--url', 'the store'])('--create-token creates a token that can send, with %s', async (how) => {
      const args = ['otel', 'env', '--create-token', 'app', '--language', 'node', '--format', 'dotenv'];
      const { code, stdout, stderr } =
        how === '--url'
          ? await cli([...args, '--url', server.url], { PILOTHOUSE_KEY: KEY })
          : await getServerStore(server).run(...args, '--org', 'Acme');
      expect([code, stderr]).toEqual([0, expect.stringContaining('Created the token app. It is shown only once.')]);
      const [, created = ''] = /^OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20(pht_\w+)$/m.exec(stdout) ?? [];
      expect(stdout).toMatch(/^OTEL_METRICS_EXPORTER=otlp$/m);
      expect(stderr).toContain('To start the app: npm install');
      expect((await otel(['send', '--url', server.url], { PILOTHOUSE_TOKEN: created })).code).toBe(0);
    });

    it('says that no token was given, and where a server on this machine is', async () => {
      const args = ['env', '--format', 'powershell', '--service-name', "it's"];
      const { code, stdout, stderr } = await otel(args, { PILOTHOUSE_PORT: '8123' });
      expect([code, stdout]).toEqual([
        0,
        [
          "$env:OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:8123/otlp'",
          "$env:OTEL_EXPORTER_OTLP_HEADERS = 'Authorization=Bearer%20TOKEN'",
          "$env:OTEL_EXPORTER_OTLP_PROTOCOL = 'http/protobuf'",
          "$env:OTEL_SERVICE_NAME = 'it''s'\n",
        ].join('\n'),
      ]);
      expect(stderr).toMatch(/^warning: no token was given: replace TOKEN, or use --token-file, /);
      const variables = parseJson(await otel(['env', '--json'], { PILOTHOUSE_OTLP_PORT: '4318' }));
      expect(variables.OTEL_EXPORTER_OTLP_ENDPOINT).toBe('http://127.0.0.1:4318');
    });

    it.each([
      [['--token', 'abc', '--create-token', 'app'], '--create-token and --token (or PILOTHOUSE_TOKEN) cannot be used'],
      [['--token', 'two words'], '--token must have 1 to 1024 visible ASCII characters'],
      [['--language', 'cobol'], '--language must be one of node, python, java, go, dotnet, not "cobol"'],
      [['--service-name', 'a\nb'], '--service-name must have 1 to 255 characters, without control characters'],
      [['--endpoint', 'localhost:4318'], '--endpoint must look like http://host:4318'],
    ])('%j is a usage error', async (args, message) => {
      const finished = await otel(['env', ...args]);
      expect([finished.code, finished.stdout, listErrors(finished)]).toEqual([
        2,
        '',
        [expect.stringContaining(message)],
      ]);
    });

    it('--create-token has the rules of the API, and needs a key that may create tokens', async () => {
      const create = (name: string, key: string) =>
        otel(['env', '--url', server.url, '--create-token', name], { PILOTHOUSE_KEY: key });
      const unnamed = await create('', KEY);
      expect([unnamed.code, listErrors(unnamed)]).toEqual([
        2,
        [expect.stringMatching(/^--create-token: The value must/)],
      ]);
      const forbidden = await create('app', DEVELOPER);
      expect([forbidden.code, forbidden.stdout, listErrors(forbidden)]).toEqual([
        1,
        '',
        [expect.stringMatching(/admin/)],
      ]);
    });
  });

  describe('send', () => {
    const send = (args: string[], environment: Record<string, string> = {}) =>
      otel(['send', '--url', server.url, ...args], { PILOTHOUSE_TOKEN: token, ...environment });

    it.each([
      ['an admin key', { PILOTHOUSE_KEY: KEY }],
      ['a read-only key', { PILOTHOUSE_KEY: DEVELOPER }],
      ['a dashboard token', { PILOTHOUSE_READ_TOKEN: acme.token }],
    ])('waits until the three records can be queried, with %s', async (_, environment) => {
      const sent = parseJson(await send(['--service-name', 'checkout', '--json'], environment));
      expect(sent).toEqual({
        endpoint: `${server.url}/otlp`,
        serviceName: 'checkout',
        traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
        queried: true,
        waitedMs: expect.any(Number),
      });
      const count = async (sourceId: string) => {
        const series = [{ sourceId, aggFn: 'count', where: `TraceId:${sent.traceId} ServiceName:checkout` }];
        const body = { startTime: Date.now() - 600_000, endTime: Date.now(), series };
        const { json } = await server.call({ method: 'POST', path: '/api/v2/charts/series', token: acme.token, body });
        return json.data.map((row: Json) => row['series_0.data']);
      };
      expect(await Promise.all([count('logs'), count('traces')])).toEqual([[1], [1]]);
    });

    it('signs out', async () => {
      await send([], { PILOTHOUSE_KEY: DEVELOPER });
      const { json } = await server.call({
        path: `/v1/organizations/${acme.id}/activities?limit=1`,
        key: acme.admin,
      });
      expect(json.result[0].type).toBe('user_logout');
    });

    it('with a token for sending alone, says that the records are on disk and how to query them', async () => {
      const { code, stdout, stderr } = await send([]);
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: `${server.url}/otlp accepted one log, one span and one data point of the service otel-send.\nThey were not queried. A Pilothouse server accepts records when they are on disk.\n`,
        stderr: expect.stringContaining('To query them: use --url with --key-file or --read-token-file'),
      });
      const file = join(server.directory, 'token');
      writeFileSync(file, `${token}\n`);
      const args = ['send', '--endpoint', server.url, '--token-file', file, '--json'];
      expect(parseJson(await otel(args))).toMatchObject({ endpoint: server.url, queried: false });
    });

    it('uses the variables of an SDK if there is no other endpoint', async () => {
      const variables = parseJson(await otel(['env', '--url', server.url, '--token', token, '--json']));
      expect(parseJson(await otel(['send', '--json'], variables))).toMatchObject({ endpoint: `${server.url}/otlp` });
    });

    it.each([
      ['an unknown token', { PILOTHOUSE_TOKEN: 'unknown-token' }, [], /rejects the token: it is not a token of this/],
      [
        'a token that cannot send',
        { PILOTHOUSE_TOKEN: acme.token },
        [],
        /Telemetry needs a token with the access ingest/,
      ],
      ['a wrong key', { PILOTHOUSE_KEY: 'a:b' }, [], /^http:\S+ rejects the key: /],
      ['a closed port', {}, ['--endpoint', 'http://127.0.0.1:10'], /^http:\S+ cannot be reached: connect ECONNREFUSED/],
    ])('fails with %s', async (_, environment, args, message) => {
      const finished = await send(args, environment);
      expect([finished.code, finished.stdout, listErrors(finished)]).toEqual([1, '', [expect.stringMatching(message)]]);
    });

    it('fails with a wrong path, and names the right one', async () => {
      const errors = async (endpoint: string) => listErrors(await send(['--endpoint', endpoint]));
      expect(await errors(`${server.url}/otlp/v1/logs`)).toEqual([
        expect.stringMatching(/does not accept telemetry; send it to \/otlp\/v1\/logs, /),
      ]);
      expect(await errors(`${server.url}/v1`)).toEqual([
        expect.stringMatching(/responds with status 404, but .* the endpoint of Pilothouse is its URL and \/otlp, or/),
      ]);
    });

    it('fails if the records belong to another organization than the key', async () => {
      const other = await createToken(`${globex.admin.keyId}:${globex.admin.keySecret}`);
      const finished = await send(['--wait', '1'], { PILOTHOUSE_TOKEN: other, PILOTHOUSE_KEY: KEY });
      expect([finished.code, listErrors(finished)]).toEqual([
        1,
        [expect.stringMatching(/^the log, the span, the data point cannot be queried .*same organization as the key/)],
      ]);
    });

    it.each([
      [{ PILOTHOUSE_TOKEN: '' }, ['--url', 'http://127.0.0.1:10'], 'the token is missing'],
      [{ PILOTHOUSE_TOKEN: 'some-token' }, [], 'the endpoint is missing'],
      [
        { PILOTHOUSE_TOKEN: 'some-token' },
        ['--endpoint', 'http://h', '--read-token', 'x'],
        '--read-token needs the server',
      ],
    ])('%j %j is a usage error', async (environment, args, message) => {
      const finished = await otel(['send', ...args], environment);
      expect([finished.code, listErrors(finished)]).toEqual([2, [expect.stringContaining(message)]]);
    });
  });
});

describe('pilothouse otel send to another receiver', () => {
  const opened: { close(): unknown }[] = [];
  afterAll(() => opened.forEach((one) => void one.close()));
  const open = async (server: Server | ReturnType<typeof createHttp2Server>): Promise<string> => {
    opened.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const answer = (status: number, headers: Record<string, string>, body: string) =>
    open(createServer((_, response) => response.writeHead(status, { connection: 'close', ...headers }).end(body)));
  const fail = async (endpoint: string) => {
    const finished = await cli(['otel', 'send', '--endpoint', endpoint], { PILOTHOUSE_TOKEN: 'some-token' });
    expect([finished.code, finished.stdout]).toEqual([1, '']);
    return listErrors(finished).join('\n');
  };

  it('fails if the record is rejected, with the reason', async () => {
    const partialSuccess = { rejectedLogRecords: '1', errorMessage: `too old \u001b[31m${'x'.repeat(5000)}` };
    const message = await fail(await answer(200, {}, JSON.stringify({ partialSuccess })));
    expect(message).toMatch(/\/v1\/logs rejects the record: too old \\u001b\[31mx+$/);
    expect(message.length).toBeLessThan(1000);
  });

  it('fails with a redirect, a page, and a port for gRPC', async () => {
    expect(await fail(await answer(308, { location: 'https://h/v1/logs' }, ''))).toMatch(
      /redirects to https:\/\/h\/v1\/logs; use that address$/,
    );
    expect(await fail(await answer(502, {}, '<h1>Bad gateway</h1>'))).toMatch(/responds with status 502, but not as/);
    expect(await fail(await open(createHttp2Server()))).toMatch(/is it a port for gRPC\? The usual port .* is 4318$/);
  });
});
