import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
});
