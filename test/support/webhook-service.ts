import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { acme, fleet } from './fleet.ts';
import { type StartOptions, type StoreName, startServer, type TestServer } from './server.ts';

/** Where a ClickHouse server answers over HTTP. */
interface Database {
  url: string;
  username: string;
  password: string;
}

export const HOOKED = 'c7f0c1ad-5b0d-4f2b-9a57-2e1c9a2b6f10';
export const HOOKED_PATH = `/v1/organizations/${acme.id}/services/${HOOKED}`;

interface HookedServer extends TestServer {
  /** The receiver says so many times that the service is starting before it runs. */
  delayStart(answers: number): void;
}

/** A server whose fleet has the service `HOOKED` behind a webhook: it runs at `database` unless it is stopped. */
export async function startWithHookedService(
  store: StoreName,
  database: Database,
  options: StartOptions = {},
): Promise<HookedServer> {
  let [generation, state, startingAnswers] = [0, 'running', 0];
  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    if (request.method === 'POST') {
      ({ generation, state } = JSON.parse(body).desired);
      return void response.end();
    }
    const isStarting = state === 'running' && startingAnswers-- > 0;
    response.end(JSON.stringify({ generation, state: isStarting ? 'starting' : state, ...database }));
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const service = { id: HOOKED, name: 'hooked', driver: 'webhook', webhook: { url, secret: 'of-the-receiver' } };
  const [first, ...others] = fleet.organizations;
  const server = await startServer(store, {
    ...options,
    fleet: { organizations: [{ ...first, services: [...(first?.services ?? []), service] }, ...others] },
    args: ['--webhook-allow-private', 'yes', '--endpoint-ports', '0', ...(options.args ?? [])],
  });
  return {
    ...server,
    delayStart(answers) {
      startingAnswers = answers;
    },
    async remove() {
      await server.remove();
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}
