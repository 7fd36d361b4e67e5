import { expect, it } from 'vitest';
import { listErrors, useStore } from '../support/cli.ts';
import { parseCsvRecords } from '../support/csv.ts';
import { acme, fleet } from '../support/fleet.ts';
import { findFocusViolations } from '../support/focus.ts';
import { onEachStore } from '../support/server.ts';

onEachStore('usage report and budget commands', (on) => {
  const store = useStore(on);
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await store.run(...args, '--org', 'Acme', '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };

  it('usage summary and usage export print the same costs as the API', async () => {
    await store.apply(fleet);
    const { rows, totals } = await json(
      'usage',
      'summary',
      '--from',
      '2026-10-01',
      '--to',
      '2026-10-31',
      '--group',
      'entityType',
    );
    expect(rows.map(({ entityType, totalCHC }: Record<string, unknown>) => [entityType, totalCHC])).toEqual([
      ['datawarehouse', 0.3],
      ['service', 13.445679],
    ]);
    expect(totals.totalCHC).toBe(13.745679);
    const table = await store.run('usage', 'summary', '--from', '2026-10-01', '--to', '2026-10-31', '--org', 'Acme');
    expect(table.stdout.split('\n').slice(0, 2)).toEqual([
      'PERIOD   GROUP  CHC    PREVIOUS  CHANGE',
      '2026-10         13.75  0.00      13.75',
    ]);
    const span = ['--from', '2026-01-01', '--to', '2026-12-31', '--org', 'Acme'];
    const csv = parseCsvRecords((await store.run('usage', 'export', ...span)).stdout);
    expect(csv.map(({ date, totalCHC }) => [date, totalCHC]).sort()).toEqual([
      ['2026-10-01', '0.3'],
      ['2026-10-01', '12.445678'],
      ['2026-10-02', '1.000001'],
    ]);
    const lines = parseCsvRecords((await store.run('usage', 'export', '--format', 'focus', ...span)).stdout);
    expect(lines).toHaveLength(5);
    for (const line of lines) expect(findFocusViolations(line)).toEqual([]);
  });

  it('usage forecast prints the expected cost of a month', async () => {
    await store.apply(fleet);
    const forecast = await json('usage', 'forecast', '--month', '2026-10');
    expect(forecast).toMatchObject({ month: '2026-10', forecast: { expectedCHC: 13.745679 } });
    const { stdout } = await store.run('usage', 'forecast', '--month', '2026-10', '--org', 'Acme');
    expect(stdout).toMatch(/^2026-10 +CHC\nmonth to date +13\.75\nforecast +13\.75 \(13\.75 to 13\.75\)\n/);
  });

  it('budget set, list and delete work', async () => {
    await store.apply(fleet);
    const hook = ['--webhook', 'https://example.com/hook'];
    const created = await json('budget', 'set', 'team', '--monthly', '100.5', '--threshold', '80', 'forecast', ...hook);
    expect(created).toMatchObject({ name: 'team', monthlyCHC: 100.5, thresholds: [80, 'forecast'] });
    expect(created.webhook.secret).toMatch(/^phw_/);
    expect(await json('budget', 'set', 'team', '--monthly', '200')).toMatchObject({
      id: created.id,
      webhook: { url: 'https://example.com/hook' },
    });
    const [listed] = await json('budget', 'list');
    expect(listed).toMatchObject({ id: created.id, monthlyCHC: 200, webhook: { url: 'https://example.com/hook' } });
    expect(listed.webhook).not.toHaveProperty('secret');
    expect(await json('budget', 'set', 'team', '--webhook', 'none')).not.toHaveProperty('webhook');
    expect(await json('budget', 'delete', 'team')).toEqual({ id: created.id });
    expect(await json('budget', 'list')).toEqual([]);
    expect((await store.run('budget', 'delete', 'team', '--org', acme.id)).code).toBe(1);
  });

  it.each([
    [['usage', 'summary', '--by', 'year'], ['--by: The value must be one of day, week, month, all <string:year>']],
    [['usage', 'export', '--format', 'xlsx'], ['--format: The value must be one of csv, focus <string:xlsx>']],
    [['usage', 'forecast', '--month', '13'], ['--month: The value must be a month (YYYY-MM) <string:13>']],
    [['budget', 'set', 'x'], ['--monthly is required to create a budget, and no budget is named "x"']],
    [
      ['budget', 'set', '', '--monthly', '1', '--threshold', '0'],
      [
        '<name>: The value must not be empty <string:>',
        '--threshold: The value must be an integer percentage from 1 to 1000, or forecast <number:0>',
      ],
    ],
    [['budget', 'set', 'x', '--monthly', 'much'], ['--monthly must be a number, not "much"']],
    [
      ['budget', 'set', 'x', '--monthly', '1', '--webhook', 'http://127.0.0.1/'],
      ['--webhook: The address is private; allow private addresses with --webhook-allow-private yes <string>'],
    ],
  ])('%j exits with 2', async (args, errors) => {
    await store.apply(fleet);
    const finished = await store.run(...args, '--org', 'Acme');
    expect([finished.code, listErrors(finished)]).toEqual([2, errors]);
  });
});
