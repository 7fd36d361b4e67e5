import { expect, it } from 'vitest';
import { HAND_OUTS } from '../../src/kernel/access/hand-outs.ts';
import { findPermission, OPERATIONS, PERMISSION_NAMES } from '../../src/kernel/access/permissions.ts';
import type { ApiResponse, Call } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { accept } from '../support/members.ts';
import { listOperations, type Operation } from '../support/operations.ts';
import { createPolicy, createRoleClient, ORGANIZATION } from '../support/roles.ts';
import { onEachStoreInLongRuns, useServer } from '../support/server.ts';
import { signIn } from '../support/sessions.ts';
import { BODIES, type Found, findCredentials, listAttempts, type Own, type World } from './hand-out-attempts.ts';
import { cleanUp, createWorld, readHolders, SECRETS } from './hand-out-world.ts';

/** The long form tries the id of every operation as a permission too. */
const PERMISSIONS = process.env.HOSTILE_REQUESTS ? [...PERMISSION_NAMES, ...OPERATIONS.keys()] : PERMISSION_NAMES;
const STEPS = 3;
/** Of the credentials that a step has found, these are used in the next one. */
const MAX_USED = 3;
/** Their data needs the engine, and they give nothing that other operations use. */
const NEEDS_ENGINE = /trace|search|charts|\/data$|telemetry|columns|prometheus|usageCost|exportSearch/i;

/** Something that was obtained and can send requests. */
interface Credential extends Pick<Call, 'headers'> {
  about: string;
  /** The operations that it may use. */
  operations: readonly string[];
}

onEachStoreInLongRuns('a credential with one permission', (store) => {
  const server = useServer(store, {
    args: ['--max-keys', '100000', '--log-level', 'error', '--webhook-allow-private', 'yes'],
  });
  const { send, createRole } = createRoleClient(server);

  it('R4: an attempt is made with every operation that hands out something', () => {
    const handing = [...HAND_OUTS].filter(([id, kind]) => OPERATIONS.has(id) && !['nothing', 'data'].includes(kind));
    expect(handing.map(([id]) => id).filter((id) => !BODIES[id])).toEqual([]);
  });

  /** What the permission names: its operations, on one service only. */
  const isNamed = (permission: string, operation: string): boolean =>
    findPermission(permission)?.operations.includes(operation) ?? false;

  async function openKey(permission: string, { keyId, text, id }: Found, about: string): Promise<Credential> {
    const key = { keyId: keyId ?? '', keySecret: text };
    await expectNoAccess(permission, key, about);
    const { headers, json } = await signIn(server, key);
    expect(json.credential.id, about).toBe(id);
    return { about, headers, operations: json.operations };
  }

  /** The services that the permission is not for, and the SQL of the one that it is for. */
  async function expectNoAccess(permission: string, key: NonNullable<Call['key']>, about: string): Promise<void> {
    const path = `${ORGANIZATION}/services/${acme.primary}`;
    const calls: Call[] = [
      { path },
      { path: `${path}/backups` },
      { method: 'POST', path: `${path}/sql/read`, body: { sql: 'SELECT 1' } },
      { method: 'POST', path: `/service/${acme.primary}/run`, body: { sql: 'SELECT 1' } },
      { method: 'POST', path: `/service/${acme.development}/run`, body: { sql: 'SELECT 1' } },
    ];
    for (const call of calls)
      expect((await server.call({ ...call, key })).status, `${permission}: ${about}: ${call.path}`).toBe(403);
  }

  /** Uses what a response contained. Undefined if it sends no requests. */
  async function open(permission: string, found: Found, world: World, about: string): Promise<Credential | undefined> {
    if (found.kind === 'key') return openKey(permission, found, about);
    if (found.kind === 'token') {
      const { headers, json } = await signIn(server, { token: found.text });
      return { about, headers, operations: json.operations };
    }
    if (found.kind === 'invitation') {
      const accepted = await accept(server, found.text);
      if (accepted.status !== 200) return undefined;
      const [cookie = ''] = accepted.headers.get('set-cookie')?.split(';') ?? [];
      const { json } = await server.call({ path: '/console/session', headers: { cookie } });
      expect(json.credential.id, about).not.toBe(world.memberId);
      return { about, headers: { cookie, 'x-pilothouse-csrf': json.csrf }, operations: json.operations };
    }
    const needed = found.kind === 'link' ? ['getDashboard', 'getTileData'] : ['sqlRead', 'sqlWrite'];
    for (const operation of needed) expect(isNamed(permission, operation), about).toBe(true);
    return undefined;
  }

  function expectNoSecret(permission: string, { text }: ApiResponse, about: string): void {
    for (const [secret, operations] of Object.entries(SECRETS))
      if (!operations.some((operation) => isNamed(permission, operation)))
        expect(text, `${permission}: ${about}`).not.toContain(secret);
  }

  /** Sends every attempt with an operation. */
  async function* attempt({ about: of, headers = {} }: Credential, operation: Operation, world: World, own: Own) {
    const { method } = operation;
    for (const { path, body } of listAttempts(operation, world, own)) {
      const call = { method, path, headers };
      const response = await server.call(body ? { ...call, body } : call);
      const about = `${of}, ${method} ${path} ${JSON.stringify(body)}`;
      expect(response.status, `${about}: ${response.text}`).toBeLessThan(500);
      yield { response, body, about };
    }
  }

  interface Step {
    permission: string;
    world: World;
    own: Own;
    /** The ids of the roles that were created. */
    created: string[];
    /** The number of credentials in responses. */
    obtained: number;
  }

  interface Obtained {
    found: Found;
    /** The request that returned it. */
    about: string;
  }

  /** Returns the credentials that the responses to an operation have. */
  async function tryOperation(credential: Credential, operation: Operation, step: Step): Promise<Obtained[]> {
    const { permission, world, own, created } = step;
    const obtained: Obtained[] = [];
    for await (const { response, body, about } of attempt(credential, operation, world, own)) {
      expectNoSecret(permission, response, about);
      if (response.status !== 200) continue;
      if (operation.id === 'instanceCreate') expect(body, `${permission}: ${about}`).toMatchObject({ name: 'own' });
      if (operation.id === 'organizationRolePost') created.push(response.json.result.id);
      obtained.push(...findCredentials(operation.id, response.json).map((found) => ({ found, about })));
    }
    return obtained;
  }

  /** Tries everything that a credential may do. Returns the credentials that it got and that can send requests. */
  async function takeStep(credential: Credential, operations: readonly Operation[], step: Step) {
    const { permission, world } = step;
    const usable: Credential[] = [];
    for (const operation of operations) {
      if (!credential.operations.includes(operation.id) || NEEDS_ENGINE.test(operation.path)) continue;
      for (const { found, about } of await tryOperation(credential, operation, step)) {
        step.obtained++;
        const opened = await open(permission, found, world, about);
        const excess = opened?.operations.filter((id) => !isNamed(permission, id)) ?? [];
        expect(excess, `${permission}: ${about}`).toEqual([]);
        if (opened && opened.operations.length > 0) usable.push(opened);
      }
    }
    return usable;
  }

  /** Returns the number of credentials that were obtained. */
  async function explore(permission: string, operations: readonly Operation[], world: World): Promise<number> {
    const resource = findPermission(permission)?.scope === 'service' ? [`instance/${world.serviceId}`] : undefined;
    const role = await createRole([createPolicy([permission], resource)]);
    const { id, credentials } = await createKey(server, { assignedRoleIds: [role.id] });
    const first = { kind: 'key' as const, id, keyId: credentials.keyId, text: credentials.keySecret };
    const start = await openKey(permission, first, permission);
    const created: string[] = [];
    let obtained = 0;
    let frontier = [start];
    for (let round = 1; round <= STEPS && frontier.length > 0; round++) {
      const own = { keyId: id, roleId: role.id, roleIds: created.slice(0, MAX_USED) };
      const step: Step = { permission, world, own, created, obtained: 0 };
      const known = created.length;
      const next: Credential[] = [];
      for (const credential of frontier) next.push(...(await takeStep(credential, operations, step)));
      obtained += step.obtained;
      // The first key can use the roles that it has created.
      frontier = [...(created.length > known ? [start] : []), ...next.slice(0, MAX_USED)];
    }
    await cleanUp(server, [...created, role.id]);
    return obtained;
  }

  it('R4: never gets more, in three steps of all operations', { timeout: 900_000 }, async () => {
    const operations = [...(await listOperations(server, '/v1')), ...(await listOperations(server, '/api/v2'))];
    const world = await createWorld(server);
    const before = await readHolders(server, world);
    const counts = new Map<string, number>();
    for (const permission of PERMISSIONS) {
      counts.set(permission, await explore(permission, operations, world));
      expect(await readHolders(server, world), permission).toEqual(before);
    }
    // The attempts are not all rejected because of their form.
    for (const permission of ['create-api-keys', 'update-api-keys', 'manage-members'])
      expect(counts.get(`control-plane:organization:${permission}`), permission).toBeGreaterThan(0);
    expect((await send('GET', `${ORGANIZATION}/services`)).json.result.length).toBeGreaterThan(3);
  });
});
