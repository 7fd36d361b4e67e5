import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { getServerStore } from '../support/cli.ts';
import { acme, fleet } from '../support/fleet.ts';
import { useServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const SECRET = 'the-secret-of-the-receiver';
const id = '6de48484-c180-4164-a5bd-81c39c70f477';

describe('a service behind a webhook', () => {
  const server = useServer('libsql', { args: ['--webhook-allow-private', 'yes'] });
  let receiver: ChildProcess;
  let url = '';
  beforeAll(async () => {
    receiver = spawn(process.execPath, ['examples/webhook-receiver.mjs'], {
      env: { ...process.env, SECRET, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(receiver.stdout ?? receiver, 'data');
    url = String(line).trim();
  });
  afterAll(() => receiver.kill());

  const path = `/v1/organizations/${acme.id}/services/${id}`;
  const call = (method: string, at: string, body?: object) =>
    server.call({ method, path: `${path}${at}`, key: acme.admin, ...(body ? { body } : {}) });
  const untilState = (state: string) =>
    until(
      async () => (await call('GET', '')).json.result,
      (record) => record.state === state,
      `the service is not ${state}`,
    );

  it('follows its commands, and its secret is shown nowhere', async () => {
    const [first, ...others] = fleet.organizations;
    const service = { id, name: 'hooked', driver: 'webhook', webhook: { url, secret: SECRET }, numReplicas: 3 };
    const organization = { ...first, services: [...(first?.services ?? []), service] };
    const added = await getServerStore(server).plan({ organizations: [organization, ...others] });
    expect(added).toEqual(['add service hooked']);
    // A change over the API makes the reconciler look at the service at once.
    await call('PATCH', '', { tags: { add: [{ key: 'touched', value: 'yes' }] } });
    await untilState('running');
    await call('PATCH', '/state', { command: 'stop' });
    await untilState('stopped');
    await call('PATCH', '/state', { command: 'start' });
    const running = await untilState('running');
    const activities = await server.call({ path: `/v1/organizations/${acme.id}/activities`, key: acme.admin });
    for (const text of [JSON.stringify(running), activities.text]) expect(text).not.toContain(SECRET);
  });

  it.each(['/sql/read', '/sql/write'])('says where its statements go instead of %s', async (at) => {
    expect(await call('POST', at, { sql: 'SELECT 1' })).toMatchObject({
      status: 409,
      json: {
        error:
          'CONFLICT: hooked has the driver webhook. SQL by role needs the driver embedded; use the endpoint of the service with its password',
      },
    });
  });

  /** A receiver that answers every question with the same members. */
  async function startReceiver(status: object) {
    const posts: { generation: number; memoryGb: number; replicas: number }[] = [];
    const receiver = {
      posts,
      url: '',
      status: { generation: 0, state: 'running', ...status } as Record<string, unknown>,
    };
    const listening = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      if (request.method === 'POST') posts.push(JSON.parse(body).desired);
      response.end(request.method === 'POST' ? '' : JSON.stringify(receiver.status));
    });
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      listening.closeAllConnections();
      listening.close();
    });
    receiver.url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/`;
    return receiver;
  }

  /** Creates a service, and makes the reconciler look at it at once. */
  async function createService(serviceId: string, receiverUrl: string): Promise<string> {
    const [first, ...others] = fleet.organizations;
    const service = {
      id: serviceId,
      name: `hooked-${serviceId.slice(0, 8)}`,
      driver: 'webhook',
      webhook: { url: receiverUrl, secret: SECRET },
      ...{ numReplicas: 3, minReplicaMemoryGb: 16, maxReplicaMemoryGb: 64 },
    };
    await getServerStore(server).plan({
      organizations: [{ ...first, services: [...(first?.services ?? []), service] }, ...others],
    });
    const at = `/v1/organizations/${acme.id}/services/${serviceId}`;
    await server.call({
      method: 'PATCH',
      path: at,
      key: acme.admin,
      body: { tags: { add: [{ key: 'touched', value: 'yes' }] } },
    });
    return at;
  }

  const untilStatus = (at: string, isExpected: (status: Record<string, unknown>) => boolean, text: string) =>
    until(async () => (await server.call({ path: at, key: acme.admin })).json.result.status, isExpected, text);

  it('is told every change by a receiver that reports only a generation and a state', async () => {
    const { posts, url: own, status } = await startReceiver({});
    const at = await createService('0b1f6c2e-5d0a-4b8e-9f43-6a2f6f0c8e01', own);
    const isBehind = ({ reason }: Record<string, unknown>) =>
      String(reason).startsWith('The driver is at generation 0 of');
    await untilStatus(at, isBehind, 'the service counts as reached');
    expect(posts[0]).toMatchObject({ memoryGb: 16, replicas: 3 });

    const settle = async (memoryGb: number) => {
      const sent = await until(
        async () => posts.at(-1),
        (post) => post?.memoryGb === memoryGb,
        `${memoryGb} GB were not sent`,
      );
      status.generation = sent?.generation;
      await untilStatus(
        at,
        ({ observedGeneration, generation }) => observedGeneration === generation,
        'the change is not done',
      );
    };
    await settle(16);
    const body = { minReplicaMemoryGb: 32 };
    const changed = await server.call({ method: 'PATCH', path: `${at}/replicaScaling`, key: acme.admin, body });
    await settle(32);
    expect(changed.json.result.status.generation).toBe(posts.at(-1)?.generation);
  });

  it('is degraded and not billed while the receiver claims what no service can have', async () => {
    const receiver = await startReceiver({ replicas: 10_000, memoryGb: 1_000_000 });
    const serviceId = '0b1f6c2e-5d0a-4b8e-9f43-6a2f6f0c8e02';
    const at = await createService(serviceId, receiver.url);
    const degraded = await untilStatus(at, ({ reason }) => String(reason).includes('10000'), 'the claim is accepted');
    expect(degraded).toMatchObject({
      state: 'degraded',
      reason:
        'The driver reported impossible values: replicas is 10000 and must be from 0 to 20; memoryGb is 1000000 and must be from 0 to 356',
    });
    expect(degraded.observed).toEqual({});
    // The change is delivered nevertheless, and a claim that is possible counts.
    const sent = await until(
      async () => receiver.posts.at(-1),
      (post) => post !== undefined,
      'nothing was delivered',
    );
    Object.assign(receiver.status, sent);
    await untilStatus(at, ({ state }) => state === 'running', 'the service does not run');
  });
});
