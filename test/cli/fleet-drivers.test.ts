import { expect, it } from 'vitest';
import { listErrors, useStore } from '../support/cli.ts';
import { onEachStoreInLongRuns } from '../support/server.ts';

const SECRET = 'the-secret-of-the-receiver';
const PASSWORD = 'the-password-of-the-database';
const webhook = { url: 'https://hooks.example.com/pilothouse?token=in-the-address', secret: SECRET };
const kubernetes = {
  kind: 'ClickHouseInstallation',
  namespace: 'fleet',
  name: 'orders',
  url: 'http://clickhouse-orders.fleet.svc:8123',
  username: 'pilothouse',
  password: PASSWORD,
};
const toFleet = (...services: object[]) => ({
  organizations: [{ id: '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d', name: 'Acme', services }],
});
const hooked = { name: 'hooked', driver: 'webhook', webhook };
const orders = { name: 'orders', driver: 'kubernetes', kubernetes };

onEachStoreInLongRuns('settings of drivers in the fleet file', (store) => {
  const commands = useStore(store);

  it('are stored, and their secrets are in no plan, activity or export', async () => {
    const applied = await commands.apply(toFleet(hooked, orders), '--json');
    expect([applied.code, applied.stderr]).toEqual([0, '']);
    const exported = await commands.run('export', '--json');
    const [organization] = JSON.parse(exported.stdout).organizations;
    const settings = organization.services.map((service: Record<string, unknown>) => [
      service.driver,
      service.webhook ?? service.kubernetes,
    ]);
    const { password: _, ...resource } = kubernetes;
    expect(settings.sort()).toEqual([
      ['kubernetes', resource],
      ['webhook', { url: webhook.url }],
    ]);
    expect(exported.stderr).toContain('.webhook.secret is not exported; add it before you apply');
    expect(exported.stderr).toContain('.kubernetes.password is not exported');
    const plan = await commands.apply(toFleet({ ...hooked, webhook: { ...webhook, secret: 'another-secret-of-it' } }));
    expect(plan.stdout).toContain('~ service hooked\n    credentials');
    const moved = { ...webhook, url: 'https://other.example.com/secret-path' };
    const changed = await commands.apply(toFleet({ ...hooked, webhook: moved }));
    expect(changed.stdout).toContain('webhook: "https://hooks.example.com" → "https://other.example.com"');
    const backup = await commands.run('audit', 'verify');
    for (const { stdout, stderr } of [applied, exported, plan, changed, backup])
      for (const secret of [SECRET, PASSWORD, 'another-secret-of-it', 'secret-path'])
        expect(stdout + stderr).not.toContain(secret);
  });

  it('applying an export changes nothing, and keeps the secrets', async () => {
    const file = toFleet(hooked, orders);
    await commands.plan(file);
    const exported = { organizations: [await commands.exportFirstOrganization()] };
    expect(await commands.plan(exported)).toEqual([]);
    expect(await commands.plan(exported, '--force')).toEqual([]);
    expect(await commands.plan(file, '--force')).toEqual([]);
  });

  it.each([
    [{ driver: 'webhook' }, 'webhook: The driver webhook requires these options <missing>'],
    [{ driver: 'kubernetes' }, 'kubernetes: The driver kubernetes requires these options <missing>'],
    [{ webhook }, 'webhook: These options require driver: webhook <missing>'],
    [
      { driver: 'webhook', webhook, kubernetes },
      'kubernetes: These options require driver: kubernetes <string:webhook>',
    ],
    [
      { driver: 'webhook', webhook: { url: webhook.url } },
      'webhook.secret: The value is required for a new webhook <missing>',
    ],
    [
      { driver: 'webhook', webhook: { ...webhook, url: 'http://169.254.169.254/' } },
      'webhook.url: The value must be an http or https URL without a user name, and not to a reserved address <string>',
    ],
    [
      { driver: 'kubernetes', kubernetes: { ...kubernetes, namespace: '../kube-system' } },
      'kubernetes.namespace: The value must be a name of Kubernetes: lower-case letters, digits, dashes and dots <string:../kube-system>',
    ],
    [
      { driver: 'kubernetes', kubernetes: { ...kubernetes, url: 'https://user:secret@db' } },
      'kubernetes.url: The value must be an http URL without a user name, and not to a reserved address <string>',
    ],
    [
      { driver: 'kubernetes', kubernetes: { ...kubernetes, password: 'two\nlines' } },
      'kubernetes.password: The value must consist of printable ASCII characters <string>',
    ],
    [
      { driver: 'kubernetes', kubernetes: { ...kubernetes, canIdle: true } },
      'kubernetes.canIdle: The value is for a ClickHouseCluster; a ClickHouseInstallation can always idle <boolean:true>',
    ],
  ])('are rejected: %j', async (spec, message) => {
    const result = await commands.apply(toFleet({ name: 'wrong', ...spec }));
    expect([result.code, listErrors(result)]).toEqual([2, [`organizations[0].services[0].${message}`]]);
  });
});
