import { connect } from 'node:http2';
import { expect, it } from 'vitest';
import { acme } from '../support/fleet.ts';
import { openInProcessServer } from '../support/in-process-server.ts';
import { createIngestToken } from '../support/ingest.ts';

it('a gRPC call that is never completed does not keep the server from stopping', async () => {
  const server = await openInProcessServer({ otlpGrpcPort: '0' });
  const session = connect(`http://127.0.0.1:${server.otlpGrpcPort}`);
  try {
    session.on('error', () => {});
    const call = session.request({
      ':method': 'POST',
      ':path': '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: await createIngestToken(server.url, acme),
    });
    call.on('error', () => {});
    const ended = new Promise<void>((resolve) => call.once('close', resolve));
    // The length of a message that does not follow.
    call.write(Buffer.from([0, 0, 0, 0, 10]));
    await new Promise((resolve) => session.ping(resolve));
    await server.close();
    await ended;
    expect(call.closed).toBe(true);
  } finally {
    session.destroy();
    await server.remove();
  }
});
