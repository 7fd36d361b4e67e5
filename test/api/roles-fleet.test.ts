import { expect, it } from 'vitest';
import { UNLIMITED } from '../../src/management/hand-outs/caller.ts';
import { parseFleetFile } from '../../src/operations/fleet/file.ts';
import { useBilling } from '../support/billing.ts';
import { acme } from '../support/fleet.ts';
import { createPolicy } from '../support/roles.ts';
import { onEachStore } from '../support/server.ts';

const actor = { type: 'system', id: 'test', details: 'test' } as const;
const ci = { name: 'ci', keyId: 'FleetCiKey0000000001', keySecret: 'fleet-ci-secret', customRoles: ['scaler'] };
const scaler = {
  name: 'scaler',
  policies: [
    createPolicy(['instanceScalingUpdate'], [`instance/${acme.primary.toUpperCase()}`]),
    createPolicy(['organizationGet'], ['organization/*']),
  ],
};
const organization = {
  id: acme.id,
  name: 'Acme',
  services: [{ id: acme.primary, name: 'analytics' }],
  roles: [scaler],
  keys: [ci],
};

onEachStore('roles in a fleet file', (store) => {
  const test = useBilling(store);
  const parse = (changes: object = {}) =>
    parseFleetFile(JSON.stringify({ organizations: [{ ...organization, ...changes }] }));
  const apply = (changes: object = {}, options: object = {}) =>
    test.domains.fleet.apply(parse(changes), actor, options);
  const listChanges = async (changes: object = {}, options: object = {}) =>
    (await apply(changes, options)).steps
      .filter(({ action }) => action !== 'unchanged')
      .map(({ action, kind, name }) => `${action} ${kind} ${name}`);

  it('F1, F2: declares roles and the keys that have them, and exports both', async () => {
    expect(await listChanges()).toContain('add role scaler');
    expect(await listChanges()).toEqual([]);
    const { domains } = test;
    const role = (await domains.roles.list(acme.id)).find(({ type }) => type === 'custom');
    expect(role).toMatchObject({ role: { name: 'scaler' } });
    expect(role?.role.policies).toEqual([
      createPolicy(['instanceScalingUpdate'], [`instance/${acme.primary}`]),
      createPolicy(['organizationGet']),
    ]);
    const [key] = await domains.keys.list(acme.id);
    expect(key).toMatchObject({ roles: [], assignedRoles: [{ roleId: role?.role.id, roleName: 'scaler' }] });
    expect(role?.actorIds).toEqual([key?.id]);

    const exported = await domains.fleet.export();
    const { roles, keys } = exported.organizations[0] ?? {};
    expect(roles).toMatchObject([{ id: role?.role.id, name: 'scaler' }]);
    expect(keys?.[0]).toMatchObject({ name: 'ci', customRoles: [role?.role.id] });
    const again = await domains.fleet.apply(parseFleetFile(JSON.stringify(exported)), actor);
    expect(again.steps.filter(({ action }) => action !== 'unchanged')).toEqual([]);

    // A change in the file reaches the key; what the API assigned stays.
    await domains.keys.update(actor, acme.id, key?.id ?? '', { roles: ['query_endpoints'], caller: UNLIMITED });
    const renamed = { ...scaler, id: role?.role.id, name: 'renamed' };
    const withIds = { ...ci, id: key?.id, customRoles: [role?.role.id] };
    expect(await listChanges({ roles: [renamed], keys: [withIds] })).toEqual(['change role renamed']);
    expect((await domains.keys.get(acme.id, key?.id ?? '')).roles).toEqual(['query_endpoints']);
  });

  it('F1, F2: reports what is wrong, and does not prune a role that a key has', async () => {
    await apply();
    const otherKey = { ...ci, id: acme.secondary, keyId: 'other-key-id', customRoles: ['none'] };
    const onOtherService = createPolicy(['instanceGet'], [`instance/${acme.secondary}`]);
    const wrong: [object, string][] = [
      [{ roles: [{ name: 'x', policies: [createPolicy(['fly'])] }] }, 'roles[0].policies[0].permissions[0]: The value'],
      [
        { roles: [{ name: 'x', policies: [onOtherService] }] },
        'roles[0].policies[0].resources[0]: The service does not',
      ],
      [{ roles: [{ name: 'admin' }] }, 'roles[0].name: This is the name of a system role'],
      [{ roles: [scaler, scaler] }, 'roles[1]: Already declared at organizations[0].roles[0]'],
      [{ keys: [ci, otherKey] }, 'keys: The key ci has a role that does not exist <string:none>'],
    ];
    for (const [changes, expected] of wrong)
      await expect(apply(changes), expected).rejects.toThrow(`organizations[0].${expected}`);
    const role = (await test.domains.roles.list(acme.id)).find(({ type }) => type === 'custom');
    const withId = { ...ci, customRoles: [role?.role.id] };
    await expect(apply({ roles: [], keys: [withId] }, { prune: true })).rejects.toThrow(
      `The key ci has a role that does not exist <string:${role?.role.id}>`,
    );
    expect(await listChanges({ roles: [], keys: [] }, { prune: true })).toEqual([
      'remove role scaler',
      'remove key ci',
    ]);
  });
});
