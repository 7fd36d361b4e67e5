import { afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.ts';
import { useIngest } from '../support/ingest.ts';
import { JSON_TYPE, send, sendBytes, type Target } from '../support/otlp-client.ts';
import { encodeRequest } from '../support/otlp-encoding.ts';
import { exportMessage } from '../support/otlp-grpc.ts';
import { logRecord, toRequest } from '../support/otlp-requests.ts';
import { openRawConnection } from '../support/raw.ts';
import { until } from '../support/until.ts';

const MIB = 2 ** 20;
/** Of the bodies of all requests. */
const MAX_BYTES = 256 * MIB;

const log = (body = 'hello') => toRequest('logs', [logRecord(Date.now(), { body: { stringValue: body } })]);

describe('the bodies of all OTLP requests together', () => {
  const used = useIngest('libsql');
  const target = (): Target => ({ url: used.server.otlpUrl, authorization: used.acme });
  const bodies = () => used.server.domains.ingest.bodies;
  /** Fails if any body is held. */
  const expectNone = () => bodies().require(MAX_BYTES);
  let release = () => {};
  /** What other requests hold. */
  const hold = (bytes: number) => {
    ({ release } = bodies().hold(bytes));
  };
  afterEach(() => release());

  const chunked = (chunks: readonly string[]) =>
    fetch(`${used.server.otlpUrl}/v1/logs`, {
      method: 'POST',
      headers: { authorization: used.acme, 'content-type': JSON_TYPE },
      body: new ReadableStream({
        async pull(controller) {
          const [next, ...rest] = chunks;
          chunks = rest;
          if (next === undefined) controller.close();
          else controller.enqueue(new TextEncoder().encode(next));
        },
      }),
      duplex: 'half',
    } as RequestInit);

  it.each(['protobuf', 'json'] as const)('are limited: %s', async (format) => {
    hold(MAX_BYTES);
    const { status, headers, json } = await send(target(), 'logs', log(), format);
    expect([status, json.code, headers.get('retry-after')]).toEqual([503, 14, '2']);
    expect(json.message).toBe('Too much telemetry is waiting to be stored');
    release();
    expect((await send(target(), 'logs', log(), format)).status).toBe(200);
    expectNone();
  });

  it('are limited before they are read, by the size that is announced', async () => {
    hold(MAX_BYTES - MIB);
    const connection = await openRawConnection(used.server.otlpUrl);
    const head = (length: number) =>
      `POST /v1/logs HTTP/1.1\r\nHost: x\r\nAuthorization: ${used.acme}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${length}\r\n\r\n`;
    connection.send(head(2 * MIB));
    expect((await connection.response()).status).toBe(503);
    connection.socket.destroy();
    expect((await send(target(), 'logs', log())).status).toBe(200);
  });

  it('are limited while they are read, if their size is not announced', async () => {
    const text = JSON.stringify(log('x'.repeat(200_000)));
    const parts = Array.from({ length: 20 }, (_, index) => text.slice(index * 20_000, (index + 1) * 20_000));
    hold(MAX_BYTES - 100_000);
    const rejected = await chunked(parts);
    expect([rejected.status, ((await rejected.json()) as Json).code]).toEqual([503, 14]);
    release();
    expect((await chunked(parts)).status).toBe(200);
    expectNone();
  });

  it('do not count before they are sent, nor after the sender has disconnected', async () => {
    const connection = await openRawConnection(used.server.otlpUrl);
    const head = `POST /v1/logs HTTP/1.1\r\nHost: x\r\nAuthorization: ${used.acme}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${60 * MIB}\r\n\r\n`;
    connection.send(head);
    connection.send('x'.repeat(100_000));
    const isHeld = async () => {
      try {
        expectNone();
        return false;
      } catch {
        return true;
      }
    };
    await until(isHeld, Boolean, 'the bytes are not counted');
    bodies().require(MAX_BYTES - MIB);
    connection.socket.destroy();
    await until(isHeld, (held) => !held, 'the bytes still count');
  });

  it('are limited with gRPC', async () => {
    hold(MAX_BYTES + 1);
    const port = used.server.otlpGrpcPort;
    const message = encodeRequest('logs', log());
    expect(await exportMessage({ port, authorization: used.acme }, 'logs', message)).toMatchObject({ code: 14 });
    release();
    expect(await exportMessage({ port, authorization: used.acme }, 'logs', message)).not.toHaveProperty('code');
    expectNone();
  });

  it('of rejected requests do not count any more', async () => {
    for (const [authorization, body] of [
      ['wrong', '{}'],
      [used.acme, '{'],
      [used.acme, 'x'.repeat(65 * MIB)],
    ] as const) {
      const response = await sendBytes({ ...target(), authorization }, 'logs', body, { 'content-type': JSON_TYPE });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
    }
    expectNone();
  });
});
