import { expect, it } from 'vitest';
import { listErrors, useStore } from '../support/cli.ts';
import { onEachStore } from '../support/server.ts';

const place = { kind: 'ClickHouseInstallation', namespace: 'fleet', name: 'orders' };
const toOrganization = (name: string, ...services: object[]) => ({ name, tier: 'SCALE', paid: true, services });
const toService = (name: string, kubernetes: object = place) => ({ name, driver: 'kubernetes', kubernetes });
const toFleet = (...organizations: object[]) => ({ organizations });
const free = { ...place, name: 'free' };
const acme = toOrganization('Acme', toService('orders'));

onEachStore('a resource that a service owns', (store) => {
  const commands = useStore(store);
  const refuse = async (file: object, ...flags: string[]) => {
    const refused = await commands.apply(file, ...flags);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    return listErrors(refused).join('\n');
  };

  it('is refused at every door that accepts its name, and nothing of another organization is shown', async () => {
    const other = toService('events', { ...place, name: 'events' });
    expect(await commands.plan(toFleet(acme, toOrganization('Globex', other)))).toContain('add service orders');
    const doors: [string, object, string[]][] = [
      ['a new service', toFleet(toOrganization('Globex', toService('copy'))), []],
      ['a new organization', toFleet(toOrganization('Initech', toService('copy'))), []],
      ['a service that gets it', toFleet(toOrganization('Globex', toService('events'))), []],
      ['a service that is forced to it', toFleet(toOrganization('Globex', toService('events'))), ['--force']],
      ['a dry run', toFleet(toOrganization('Globex', toService('copy'))), ['--dry-run']],
      ['two services of a file', toFleet(toOrganization('Initech', toService('a', free), toService('b', free))), []],
      [
        'two organizations of a file',
        toFleet(toOrganization('A', toService('a', free)), toOrganization('B', toService('b', free))),
        [],
      ],
    ];
    for (const [door, file, flags] of doors) {
      const text = await refuse(file, ...flags);
      expect(text, door).toMatch(/^ClickHouseInstallation fleet\/(orders|free) belongs to /);
      expect(text, door).not.toMatch(/Acme|7c0e/);
    }
    const own = await refuse(toFleet(toOrganization('Acme', toService('orders'), toService('second'))));
    expect(own).toMatch(/^ClickHouseInstallation fleet\/orders belongs to the service [0-9a-f-]{36}$/);
    // A simulated service that becomes one on Kubernetes, and another kind with the same name.
    const simulated = (driver: object) => toFleet(toOrganization('Initech', { name: 'copy', ...driver }));
    expect(await commands.plan(simulated({}))).toContain('add service copy');
    expect(await refuse(simulated({ driver: 'kubernetes', kubernetes: place }))).toContain(
      'belongs to another service',
    );
    const cluster = { ...place, kind: 'ClickHouseCluster' };
    expect(await commands.plan(simulated({ driver: 'kubernetes', kubernetes: cluster }))).toEqual([
      'change service copy',
    ]);
    // Its own file and export change nothing.
    expect(await commands.plan(toFleet(acme), '--force')).toEqual([]);
  });

  it('stays with it when its service is no longer declared', async () => {
    await commands.plan(toFleet(acme));
    const pruned = toFleet(toOrganization('Acme'));
    expect(await commands.plan(pruned, '--prune')).toEqual(['remove service orders']);
    // No driver has released it.
    expect(await refuse(toFleet(toOrganization('Acme', toService('second'))))).toContain('is being deleted');
    expect(await refuse(toFleet(toOrganization('Globex', toService('copy'))))).toContain('belongs to another service');
  });

  it('idles only where the file says so, for each driver with clients of its own', async () => {
    const readIdle = async (name: string) => {
      const { services } = await commands.exportFirstOrganization();
      return services.find((service: { name: string }) => service.name === name).idleScaling;
    };
    const webhook = { url: 'https://hooks.example.com/', secret: 'a-secret-of-16-or-more' };
    const events = toService('events', { ...place, name: 'events' });
    const later = { name: 'later' };
    const apply = (...services: object[]) => commands.plan(toFleet(toOrganization('Acme', ...services)));
    await apply(
      toService('orders'),
      { ...events, idleScaling: true },
      { name: 'hooked', driver: 'webhook', webhook },
      later,
    );
    expect([
      await readIdle('orders'),
      await readIdle('events'),
      await readIdle('hooked'),
      await readIdle('later'),
    ]).toEqual([false, true, false, true]);
    await apply({ ...later, driver: 'webhook', webhook });
    expect(await readIdle('later')).toBe(false);
    // A setting that was made stays.
    await apply({ ...events, numReplicas: 4 });
    expect(await readIdle('events')).toBe(true);
  });
});
