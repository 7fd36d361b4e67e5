import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Upstream } from '../../management/services/driver.ts';
import { toPrivate } from './private-upstream.ts';
import { runBackupTo } from './statements.ts';
import { formatTarget } from './storage/s3-target.ts';

const SIGNAL = new AbortController().signal;
const SECRET = "of/the+storage's\\own";
const TARGET = formatTarget('s3://b/', 'https://b/x', { accessKeyId: 'AK', secretAccessKey: SECRET });

/** In place of ClickHouse. */
async function start(listener: RequestListener): Promise<Upstream> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port, headers: {} };
}

/** Fails with what `explain` makes of the statement `BACKUP`. */
const startFailing = (explain: (statement: string) => string): Promise<Upstream> =>
  start(async (request, response) => {
    let statement = '';
    for await (const chunk of request.setEncoding('utf8')) statement += chunk;
    if (!statement.startsWith('BACKUP')) return void response.end('0\n');
    response.writeHead(400).end(`Code: 62. DB::Exception: Syntax error: ${explain(statement)}`);
  });

describe('the statement BACKUP … TO S3', () => {
  it.each<[string, (statement: string) => string]>([
    ['all of it', (statement) => statement],
    // Each length up to the limit of a message, which may cut the secret.
    ...[...Array(30).keys()].map(
      (more) =>
        [`it after ${220 + more}`, (text: string) => 'x'.repeat(220 + more) + text.slice(text.indexOf('S3('))] as [
          string,
          () => string,
        ],
    ),
    ['the quoted secret', () => TARGET.sql.slice(TARGET.sql.indexOf('of/the'))],
    ['the secret', () => `the key ${SECRET} is not valid`],
  ])('fails without the secret if the error repeats %s', async (_, explain) => {
    const upstream = await startFailing(explain);
    const error = await runBackupTo(upstream, TARGET, undefined, SIGNAL).catch((failure: Error) => failure);
    expect(error?.message).toMatch(/^400 Code: 62/);
    expect(`${error?.stack}`).not.toContain('of/th');
  });

  it('is given up after a limit', async () => {
    const upstream = await start(() => {});
    await expect(runBackupTo(upstream, TARGET, undefined, SIGNAL, 36)).rejects.toThrow(
      'ClickHouse did not finish the backup within 0.00001 hours',
    );
  });
});

describe('the key for backups', () => {
  it.each([
    ['127.0.0.1', { host: '127.0.0.1', headers: {} }],
    ['10.1.2.3', { host: '10.1.2.3', headers: {} }],
    ['localhost', { host: expect.stringMatching(/^(127\.0\.0\.1|::1)$/), headers: { Host: 'localhost:8123' } }],
  ])('is sent to %s', async (host, expected) => {
    expect(await toPrivate({ host, port: 8123, headers: {} }, SIGNAL)).toMatchObject(expected);
  });

  it.each(['8.8.8.8', '169.254.169.254', '2606:4700::1111'])('is not sent to %s', async (host) => {
    await expect(toPrivate({ host, port: 8123, headers: {} }, SIGNAL)).rejects.toThrow(
      `The key for backups is not sent to the ClickHouse at ${host}: the address is not private, and the connection is not encrypted`,
    );
  });
});
