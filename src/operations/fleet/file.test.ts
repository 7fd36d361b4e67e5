import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseFleetFile } from './file.ts';
import { parseDeclarations } from './resource.ts';
import type { FleetFile } from './schema.ts';
import { listWeakSecrets } from './weak-secrets.ts';

function formatErrors(text: string): string {
  try {
    parseFleetFile(text);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Ten levels of ten aliases each: ten billion elements if expanded. */
const bomb = [
  'a: &a [x]',
  ...[...'bcdefghijk'].map(
    (name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdefghij'[index]}`).join(',')}]`,
  ),
  'organizations: *k',
].join('\n');

describe('parseFleetFile', () => {
  it.each([
    ['an empty file', '', []],
    ['only comments', '# nothing yet\n', []],
    ['JSON', '{"organizations": [{"name": "A", "paid": null}]}', [{ name: 'A' }]],
    ['JSON with a byte order mark', '\uFEFF{"organizations": []}', []],
    ['YAML', 'organizations:\n  - name: A\n    tier: # left empty\n', [{ name: 'A' }]],
    ['YAML in flow style', '{organizations: [{name: A}]}', [{ name: 'A' }]],
    [
      'YAML dates, which stay text',
      'organizations: [{name: A, usageCosts: [{date: 2026-11-01, entityType: service, entityId: 4bc26262-af5e-4f42-839b-6fa17a5ed255}]}]',
      undefined,
    ],
    [
      'a moderate number of anchors and aliases',
      'organizations: [{name: &n A, services: [{name: *n}]}]',
      [{ name: 'A', services: [{ name: 'A' }] }],
    ],
  ])('F2: accepts %s', (_, text, organizations) => {
    const file = parseFleetFile(text);
    if (organizations) expect(file).toEqual({ organizations });
    else expect(file.organizations[0]?.usageCosts?.[0]?.date).toBe('2026-11-01');
  });

  it.each([
    ['a list', '[]', 'The value must be an object <array>'],
    ['a word', 'hello', 'The value must be an object <string:hello>'],
    ['no organizations', '{}', 'organizations: The value is required <missing>'],
    ['a tab in the indentation', 'organizations:\n\t- name: A\n', 'line 2, column 1'],
    ['a repeated member', 'organizations: []\norganizations: []\n', 'line 2, column 1: Map keys must be unique'],
    ['broken JSON', '{"organizations": [}', 'The fleet file cannot be read: line 1'],
    ['two documents', 'organizations: []\n---\norganizations: []\n', 'The fleet file cannot be read'],
    ['an alias bomb', bomb, 'Excessive alias count'],
    [
      'more than 6 decimals',
      'organizations: [{name: A, usageCosts: [{metrics: {computeCHC: 0.0000001}}]}]',
      'organizations[0].usageCosts[0].metrics.computeCHC: The value must be an amount from 0',
    ],
    [
      'a negative amount',
      'organizations: [{name: A, usageCosts: [{metrics: {storageCHC: -1}}]}]',
      'organizations[0].usageCosts[0].metrics.storageCHC: The value must be an amount from 0',
    ],
    [
      'a NUL character',
      '{"organizations": [{"name": "A\\u0000"}]}',
      'organizations[0].name: The value must not contain NUL',
    ],
  ])('F2: rejects %s with its path', (_, text, expected) => {
    expect(formatErrors(text)).toContain(expected);
  });

  it('F2: reports all errors, however many', () => {
    const services = Array.from({ length: 300 }, (_, index) => ({ name: `s${index}`, numReplicas: 0 }));
    const lines = formatErrors(JSON.stringify({ organizations: [{ name: 'A', services }] })).split('; ');
    expect(lines).toHaveLength(300);
    expect(lines[299]).toBe('organizations[0].services[299].numReplicas: The value must be at least 1 <number:0>');
  });

  const secret = 'hunter2';
  it.each([
    ['a misspelled member', `keys: [{keyId: a, keysecret: ${secret}}]`],
    ['an unknown member of a key', `keys: [{keyId: a, pin: ${secret}}]`],
    ['a number', 'keys: [{keyId: a, keySecret: 7072}]', '7072'],
    ['an empty key id next to it', `keys: [{keyId: '', keySecret: ${secret}}]`],
    ['a secret in place of its hash', `dashboardTokens: [{name: a, tokenHash: ${secret}}]`],
    ['hashData', `keys: [{hashData: {keyIdHash: ${secret}, keyIdSuffix: ${secret}, keySecretHash: ${secret}}}]`],
    ['a list of bare tokens', `dashboardTokens: [${secret}]`],
    ['a token in the wrong place', `token: ${secret}`],
    ['a syntax error next to it', `keys: [{keySecret: "${secret}"x}]`],
    ['an unknown tag', `keys: [{keyId: a, keySecret: !${secret} }]`],
    ['an unknown alias', `keys: [{keyId: a, keySecret: *${secret} }]`],
    ['a block scalar', `keys:\n      - keySecret: |${secret}\n`],
  ])('F2: never prints a secret: %s', (_, members, hidden = secret) => {
    const message = formatErrors(`organizations:\n  - name: A\n    ${members}`);
    expect(message).not.toBe('');
    expect(message).not.toContain(hidden);
  });
});

describe('secrets in a fleet file', () => {
  const organization = (members: object) => JSON.stringify({ organizations: [{ name: 'A', ...members }] });
  const withKey = (keySecret: string) => organization({ keys: [{ keyId: 'an-id', keySecret }] });
  const withToken = (token: string) => organization({ dashboardTokens: [{ name: 't', token }] });
  const EMPTY = hash('sha256', '', 'base64');

  it.each([
    ['keys[0].keySecret', withKey],
    ['dashboardTokens[0].token', withToken],
  ])('%s must have at least 8 characters', (path, write) => {
    for (const secret of ['', 'x', 'seven-7', '🔑🔑🔑🔑🔑🔑🔑']) {
      const message = formatErrors(write(secret));
      expect(message).toMatch(new RegExp(`^organizations\\[0\\]\\.${path.replaceAll(/[[\]]/g, '\\$&')}: .* 8 `));
      if (secret.length > 1) expect(message).not.toContain(secret);
    }
    for (const secret of ['eight--8', '🔑🔑🔑🔑🔑🔑🔑🔑']) expect(formatErrors(write(secret))).toBe('');
  });

  it.each([
    ['keys[0].keySecret', withKey],
    ['dashboardTokens[0].token', withToken],
  ])('%s below 16 characters has a warning, without the secret', (path, write) => {
    const warnings = (secret: string) => listWeakSecrets(parseFleetFile(write(secret)));
    for (const secret of ['eight--8', 'fifteen-letters'])
      expect(warnings(secret)).toEqual([
        `organizations[0].${path}: The secret is short; use at least 16 random characters`,
      ]);
    expect(warnings('sixteen-letters!')).toEqual([]);
  });

  it('K7: the hash of the empty string is rejected', () => {
    const real = {
      keyIdHash: hash('sha256', 'a', 'base64'),
      keyIdSuffix: 'aaaa',
      keySecretHash: hash('sha256', 'b', 'base64'),
    };
    expect(formatErrors(organization({ keys: [{ hashData: real }] }))).toBe('');
    for (const member of ['keyIdHash', 'keySecretHash'])
      expect(formatErrors(organization({ keys: [{ hashData: { ...real, [member]: EMPTY } }] }))).toBe(
        `organizations[0].keys[0].hashData.${member}: The value is the hash of an empty string; hash the real value <string>`,
      );
    expect(formatErrors(organization({ dashboardTokens: [{ name: 't', tokenHash: EMPTY }] }))).toMatch(
      /tokenHash: The value is the hash of an empty string/,
    );
  });
});

describe('parseDeclarations', () => {
  const id = '4bc26262-af5e-4f42-839b-6fa17a5ed255';
  const cost = { date: '2026-10-01', entityType: 'service', entityId: id } as const;
  const key = { keyId: 'k', keySecret: 'a-secret-of-some-length' };

  it.each([
    [
      'an organization',
      {
        organizations: [
          { name: 'A', id },
          { name: 'B', id: id.toUpperCase() },
        ],
      },
      'organizations[1]',
      'organizations[0]',
    ],
    [
      'an organization without id',
      { organizations: [{ name: 'A' }, { name: 'A' }] },
      'organizations[1]',
      'organizations[0]',
    ],
    [
      'a service',
      { organizations: [{ name: 'A', services: [{ name: 'a' }, { name: 'a' }] }] },
      'organizations[0].services[1]',
      'organizations[0].services[0]',
    ],
    [
      'a service in two organizations',
      {
        organizations: [
          { name: 'A', services: [{ id, name: 'a' }] },
          { name: 'B', services: [{ id, name: 'a' }] },
        ],
      },
      'organizations[1].services[0]',
      'organizations[0].services[0]',
    ],
    [
      'a key id',
      { organizations: [{ name: 'A', keys: [key, { ...key, keySecret: 'other' }] }] },
      'organizations[0].keys[1]',
      'organizations[0].keys[0]',
    ],
    [
      'a key id under another id',
      { organizations: [{ name: 'A', keys: [key, { ...key, id }] }] },
      'organizations[0].keys[1]',
      'organizations[0].keys[0]',
    ],
    [
      'a key id in two organizations',
      {
        organizations: [
          { name: 'A', keys: [key] },
          { name: 'B', keys: [key] },
        ],
      },
      'organizations[1].keys[0]',
      'organizations[0].keys[0]',
    ],
    [
      'a token',
      {
        organizations: [
          { name: 'A', dashboardTokens: [{ name: 'a', token: 't' }] },
          { name: 'B', dashboardTokens: [{ name: 'b', token: 't' }] },
        ],
      },
      'organizations[1].dashboardTokens[0]',
      'organizations[0].dashboardTokens[0]',
    ],
    [
      'a source',
      {
        organizations: [
          {
            name: 'A',
            sources: [
              { id: 'x', name: 'a', kind: 'log' as const },
              { id: 'x', name: 'b', kind: 'log' as const },
            ],
          },
        ],
      },
      'organizations[0].sources[1]',
      'organizations[0].sources[0]',
    ],
    [
      'a dashboard',
      {
        organizations: [
          {
            name: 'A',
            dashboards: [
              { id: 'x', name: 'a' },
              { id: 'x', name: 'b' },
            ],
          },
        ],
      },
      'organizations[0].dashboards[1]',
      'organizations[0].dashboards[0]',
    ],
    [
      'a cost record',
      { organizations: [{ name: 'A', usageCosts: [cost, { ...cost, entityId: id.toUpperCase() }] }] },
      'organizations[0].usageCosts[1]',
      'organizations[0].usageCosts[0]',
    ],
  ] satisfies [string, FleetFile, string, string][])(
    'F2: rejects %s that is declared twice, and names the first declaration',
    (_, file, path, first) => {
      const { violations } = parseDeclarations(file);
      expect(violations.map((violation) => violation.path)).toEqual([path]);
      expect(violations[0]?.rule).toContain(`at ${first}`);
    },
  );

  it.each([
    ['a key without credentials', { keys: [{}] }, 'keys[0]'],
    ['a key with a secret only', { keys: [{ keySecret: 's' }] }, 'keys[0]'],
    [
      'a key with both',
      { keys: [{ ...key, hashData: { keyIdHash: 'h', keyIdSuffix: 'aaaa', keySecretHash: 'h' } }] },
      'keys[0]',
    ],
    ['a token without a value', { dashboardTokens: [{ name: 't' }] }, 'dashboardTokens[0]'],
    ['a token with both', { dashboardTokens: [{ name: 't', token: 't', tokenHash: 'h' }] }, 'dashboardTokens[0]'],
    [
      'totals that are not three replicas',
      { services: [{ name: 's', minTotalMemoryGb: 48, minReplicaMemoryGb: 20 }] },
      'services[0].minTotalMemoryGb',
    ],
  ])('F3, S4: rejects %s', (_, members, path) => {
    expect(
      parseDeclarations({ organizations: [{ name: 'A', ...members }] }).violations.map((violation) => violation.path),
    ).toEqual([`organizations[0].${path}`]);
  });

  it('D3: accepts the same id in two organizations', () => {
    const dashboards = [{ id: 'x', name: 'a' }];
    expect(
      parseDeclarations({
        organizations: [
          { name: 'A', dashboards },
          { name: 'B', dashboards },
        ],
      }).violations,
    ).toEqual([]);
  });
});
