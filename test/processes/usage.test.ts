import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { cli, cliProcess, listErrors, useStore } from '../support/cli.ts';
import { acme } from '../support/fleet.ts';
import { onEachStore, startServer } from '../support/server.ts';

const HEADER = 'source,id,time,entityType,entityId,meter,quantity,note';
const fleet = {
  organizations: [{ id: acme.id, name: 'Acme', tier: 'SCALE', services: [{ id: acme.primary, name: 'analytics' }] }],
};
const row = (id: string, quantity: string) =>
  `csv,"${id}",2026-11-01T10:00:00Z,service,${acme.primary},compute,${quantity},"a ""note"", with a comma"`;

onEachStore('usage commands', (name) => {
  const store = useStore(name);

  it('imports CSV, lists rejected events, ignores duplicates, locks days and passes the ledger check', async () => {
    await store.apply(fleet);
    const file = join(store.directory, 'usage.csv');
    writeFileSync(
      file,
      `\uFEFF${HEADER}\r\n${row('one', '60')}\r\n${row('line\nbreak', '30')}\r\n${row('bad', '-1')}\r\n`,
    );
    const first = await store.run('usage', 'import', file);
    expect(first.code).toBe(1);
    expect(first.stdout.trim()).toBe('2 accepted, 0 duplicates, 1 rejected.');
    expect(first.stderr).toMatch(/event 3: quantity: The value must be a decimal number/);
    const packed = join(store.directory, 'usage.csv.gz');
    writeFileSync(packed, gzipSync(`${HEADER}\n${row('one', '60')}\n${row('two', '30')}\n`));
    const second = await store.run('usage', 'import', packed, '--json');
    expect(second.code, second.stderr).toBe(0);
    expect(JSON.parse(second.stdout)).toEqual({ accepted: 1, duplicates: 1, rejected: 0, errors: [] });
    const locked = await store.run('usage', 'lock', '--through', '2026-11-01', '--json');
    expect(JSON.parse(locked.stdout)).toEqual({ lockedThrough: '2026-11-01', days: 1 });
    const { usageCosts } = await store.exportFirstOrganization();
    expect(usageCosts).toMatchObject([{ date: '2026-11-01', locked: true, metrics: { computeCHC: 0.597 } }]);
    const check = await store.run('usage', 'recompute', '--check', '--json');
    expect(JSON.parse(check.stdout)).toEqual({ days: 1, lines: 1, waiting: 0, mismatches: [], differences: [] });
  });

  it('rejects unreadable files and invalid options', async () => {
    await store.apply(fleet);
    const file = join(store.directory, 'usage.csv');
    writeFileSync(file, 'id,source\n1,2\n');
    const columns = await store.run('usage', 'import', file);
    expect(columns.code).toBe(2);
    expect(listErrors(columns)).toEqual([
      'The first row must name the columns; missing: time, entityType, entityId, meter, quantity',
    ]);
    expect((await store.run('usage', 'import', join(store.directory, 'none.csv'))).code).toBe(2);
    expect((await store.run('usage', 'import', file, '--format', 'xml')).code).toBe(2);
    expect(listErrors(await store.run('usage', 'import', file, '--url', 'ftp://x', '--key', 'no-colon'))).toEqual([
      '--url must look like http://127.0.0.1:8080, not "ftp://x"',
      '--key must look like id:secret',
    ]);
    expect(listErrors(await store.run('usage', 'import', file, '--url', 'http://x'))).toEqual([
      '--url and --data cannot be used together',
    ]);
    expect((await store.run('usage', 'lock', '--through', '2026-02-30')).code).toBe(2);
    expect((await store.run('usage', 'lock', '--through', '2999-01-01')).code).toBe(2);
  });

  it('shows and sets prices, and lists all violations at once', async () => {
    await store.apply(fleet);
    const shown = JSON.parse((await store.run('prices', 'show', '--json')).stdout);
    expect(shown).toMatchObject({ version: 1, effectiveFrom: '1970-01-01' });
    const file = join(store.directory, 'prices.json');
    writeFileSync(file, JSON.stringify({ effectiveFrom: '2026-12-01', prices: shown.prices.slice(1) }));
    const rejected = await store.run('prices', 'set', file);
    expect(rejected.code).toBe(2);
    expect(listErrors(rejected)).toEqual([expect.stringMatching(/compute of a service in BASIC/)]);
    writeFileSync(file, JSON.stringify({ effectiveFrom: '2026-12-01', prices: shown.prices }));
    expect((await store.run('prices', 'set', file)).code).toBe(0);
    const versions = [];
    for (const date of ['2026-11-30', '2026-12-01'])
      versions.push(JSON.parse((await store.run('prices', 'show', '--json', '--date', date)).stdout).version);
    expect(versions).toEqual([1, 2]);
  });
});

it('usage import --url sends events to a running server, which owns the embedded engine', async () => {
  const server = await startServer('libsql');
  try {
    const file = join(server.directory, 'usage.ndjson');
    const event = { source: 's', time: '2026-11-01T10:00:00Z', entityType: 'service', meter: 'compute', quantity: 1 };
    const lines = ['1', '2'].map((id) => JSON.stringify({ id, entityId: acme.primary, ...event }));
    writeFileSync(file, `${lines.join('\n')}\nnonsense\n`);
    const { keyId, keySecret } = acme.admin;
    const through = ['usage', 'import', file, '--url', server.url, '--key', `${keyId}:${keySecret}`, '--json'];
    const sent = await cli(through);
    expect(sent.code).toBe(1);
    expect(JSON.parse(sent.stdout)).toMatchObject({ accepted: 2, duplicates: 0, rejected: 1, errors: [{ index: 2 }] });
    const direct = await cliProcess([
      'usage',
      'import',
      file,
      '--data',
      join(server.directory, 'data'),
      '--org',
      acme.id,
    ]);
    expect(direct.code).toBe(1);
    expect(listErrors(direct)).toEqual([expect.stringMatching(/Another process is using the engine directory/)]);
    const unauthorized = await cli([...through.slice(0, -2), 'unknown:key']);
    expect(listErrors(unauthorized)).toEqual([expect.stringMatching(/rejects the key: Key is not found/)]);
  } finally {
    await server.remove();
  }
});
