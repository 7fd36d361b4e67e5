import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toChartRange, toChartRows } from '../../console/src/pages/services/autoscaling/autoscaling-series.ts';
import { listEvidence } from '../../console/src/pages/services/evidence-text.ts';
import { formatObservedSize, getPollMs, listDifferences } from '../../console/src/parts/services/service-status.ts';
import { checkWidths, expectAccessible, inBrowser, type Page } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { useServices } from '../support/running-service.ts';
import { runSql } from '../support/store-sql.ts';

const UNREACHABLE = '6de48484-c170-4164-a5bd-81c39c70f477';
const HOUR_MS = 3_600_000;
const run = promisify(execFile);

const fleet = {
  organizations: [
    {
      id: acme.id,
      name: 'Acme',
      paid: true,
      keys: [
        { name: 'admin', ...acme.admin, roles: ['admin'] },
        { name: 'developer', ...acme.developer, roles: ['developer'] },
      ],
      services: [
        {
          id: UNREACHABLE,
          name: 'elsewhere',
          driver: 'webhook',
          // The discard port: connections are refused.
          webhook: { url: 'http://127.0.0.1:9/', secret: 'a-secret-of-32-characters-or-more' },
        },
      ],
    },
  ],
};

inBrowser(
  'services that run',
  (browser) => {
    const services = useServices({ call: (call) => browser.server.call(call) });
    const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
    const tab = (page: Page, name: string) =>
      page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name, exact: true });

    /** A load of three hours and one decision, as the autoscaler records them. */
    async function recordLoad(id: string): Promise<void> {
      const first = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 3 * HOUR_MS;
      const samples = JSON.stringify(Array.from({ length: 60 }, (_, minute) => [minute, 16, 1, 0, 2, 9000]));
      for (const hour of [0, 1, 2])
        await runSql(
          browser.server,
          `INSERT INTO service_load VALUES ('${acme.id}', '${id}', ${first + hour * HOUR_MS}, '${samples}')`,
        );
      const decision = {
        id: '7ef59595-d281-4275-b6ce-92d4ad81a588',
        at: first + HOUR_MS,
        isApplied: false,
        action: 'up',
        from: { memoryGb: 16, replicas: 1 },
        to: { memoryGb: 20, replicas: 1 },
        reason: 'Memory peaked at 90% in the last 3 hours.',
        inputs: {
          mode: 'vertical',
          minMemoryGb: 16,
          maxMemoryGb: 120,
          minReplicas: 1,
          maxReplicas: 1,
          windowMinutes: 180,
          coveredMinutes: 180,
        },
      };
      await runSql(
        browser.server,
        `INSERT INTO autoscaling_decisions VALUES ('${acme.id}', '${id}', '${decision.id}', ${decision.at}, 0, '${JSON.stringify(decision)}')`,
      );
    }

    it('have their shards wherever their replicas are shown', async () => {
      const observed = { state: 'running', since: Date.now(), replicas: 3, memoryGb: 16, shards: 3 };
      await runSql(
        browser.server,
        `UPDATE services SET observed = '${JSON.stringify(observed)}' WHERE id = '${UNREACHABLE}'`,
      );
      const page = await browser.signIn(acme.admin, '/services');
      await page.getByText('3 shards × 3 replicas × 16–120 GB').waitFor();
      await page.getByRole('link', { name: 'elsewhere' }).click();
      await panel(page, 'Status').getByText('3 shards × 3 replicas × 16 GB').first().waitFor();
      await tab(page, 'Scaling').click();
      const scaling = page.getByRole('form', { name: 'Scaling' });
      await scaling.getByText('1,080 GB in total with 3 shards × 3 replicas').waitFor();
      await scaling.getByText('Of each of the 3 shards').waitFor();
      await scaling.getByText('Current, 3 shards × 3 replicas').waitFor();
      await expectAccessible(page);
    });

    it('an embedded service is created, idles, is woken by a query and is stopped', async () => {
      const page = await browser.signIn(acme.admin, '/services');
      await page.getByRole('button', { name: 'Create service' }).click();
      const form = page.getByRole('form', { name: 'Create service' });
      await form.getByLabel('Name').fill('real');
      await form.getByRole('combobox', { name: 'Driver' }).click();
      await page.getByRole('option', { name: 'embedded' }).click();
      await form.getByText('An embedded service runs one replica').waitFor();
      await form.getByRole('button', { name: 'Create service' }).click();
      const password = (await page.getByTestId('service-password').textContent()) ?? '';
      const dialog = page.getByRole('dialog');
      const curl = (await dialog.getByTestId('connect-curl').textContent()) ?? '';
      const [, url = ''] =
        /^curl -u 'default:(php_\w+)' '(http:\/\/127\.0\.0\.1:\d+\/\?query=SELECT\+version\(\))'$/
          .exec(curl)
          ?.slice(1) ?? [];
      expect(url, curl).not.toBe('');
      const snippets: Record<string, string> = {};
      for (const client of ['Python', 'JavaScript', 'JDBC', 'Go']) {
        await dialog.getByText(client, { exact: true }).click();
        snippets[client] = (await dialog.getByTestId(`connect-${client.toLowerCase()}`).textContent()) ?? '';
        expect(snippets[client]).toContain(password);
        expect(snippets[client]).toContain(new URL(url).port);
      }
      await dialog.getByText('clickhouse-client', { exact: true }).click();
      expect(await dialog.getByTestId('connect-clickhouse-client').textContent()).toMatch(
        /^clickhouse-client --host '127\.0\.0\.1' --port \d+ \\\n {2}--user 'default' --password 'php_\w+' /,
      );
      await expectAccessible(page);
      await page.getByLabel('I have saved the secret').check();
      await page.getByRole('button', { name: 'Done' }).click();

      const status = panel(page, 'Status');
      const idling = panel(page, 'Idling');
      await status.getByText('Running', { exact: true }).waitFor();
      await status.getByText('Requested 3 replicas, actual 1.').waitFor();
      await idling.getByText('The service was started').waitFor();
      await status.getByText(/^Process \d+, limit 1 GiB$/).waitFor();
      // Afterwards a placeholder stands for the password.
      expect(await page.getByTestId('connect-curl').textContent()).toBe(curl.replace(password, 'PASSWORD'));

      const id = page.url().split('/').at(-1) ?? '';
      // The driver runs one of three replicas: the size and the cost are for one.
      await tab(page, 'Scaling').click();
      const scaling = page.getByRole('form', { name: 'Scaling' });
      await scaling.getByText('120 GB in total with 1 replica').waitFor();
      await scaling.getByText('This service runs 1 replica').waitFor();
      await scaling.getByText('Current, 1 replica').waitFor();
      await tab(page, 'Overview').click();

      // A timeout that the API does not accept, and with which the service idles at once; then a change makes the
      // reconciler look at it.
      await runSql(
        browser.server,
        `UPDATE services SET document = json_set(document, '$.scaling.idleTimeoutMinutes', 0) WHERE id = '${id}'`,
      );
      await services.send('PATCH', `/${id}`, { tags: { add: [{ key: 'touched' }] } });
      await status.getByText('Idle', { exact: true }).waitFor();
      await status.getByText('No queries for 0 minutes').waitFor();
      await runSql(
        browser.server,
        `UPDATE services SET document = json_set(document, '$.scaling.idleTimeoutMinutes', 15) WHERE id = '${id}'`,
      );
      await idling.getByText('The service is idle. The next query wakes it.').waitFor();
      await page.getByRole('button', { name: 'Wake' }).waitFor();

      const authorization = `Basic ${Buffer.from(`default:${password}`).toString('base64')}`;
      const answer = await fetch(url, { headers: { authorization, 'user-agent': 'a-client/1.0' } });
      expect(await answer.text()).toMatch(/^\d+\.\d+/);
      await status.getByText('Running', { exact: true }).waitFor();
      await idling.getByText('by a query (SELECT)').waitFor();
      await idling.getByText('from 127.0.0.1').waitFor();
      await idling.getByText('a-client/1.0').waitFor();
      // The example runs as it is.
      const folder = mkdtempSync(join(tmpdir(), 'pilothouse-example-'));
      symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
      writeFileSync(join(folder, 'example.mjs'), snippets.JavaScript ?? '');
      const example = await run(process.execPath, [join(folder, 'example.mjs')]).finally(() =>
        rmSync(folder, { recursive: true }),
      );
      expect(example.stdout).toMatch(/version: '\d+\.\d+/);
      await tab(page, 'History').click();
      await panel(page, 'History').getByText('woke the service').waitFor();

      // Text of clients is in the log of the service; the page shows control characters and markup as text.
      await fetch(url.split('?')[0] ?? '', {
        method: 'POST',
        headers: { authorization },
        body: "SELECT '\u001b[31m<img src=x onerror=window.pwned=1>' FROM no_such_table",
      });
      await tab(page, 'Logs').click();
      const slow = page.getByRole('table', { name: 'Slow queries' });
      await slow.getByText('no_such_table').first().waitFor();
      expect(await slow.locator('img').count()).toBe(0);
      const log = page.getByTestId('service-log');
      await log.getByText('\\u001b[31m<img src=x onerror=window.pwned=1>').first().waitFor();
      expect(await log.locator('img').count()).toBe(0);
      expect(await page.evaluate('window.pwned')).toBeUndefined();
      await page.getByLabel('Filter entries').fill('no entry has this');
      await page.getByText('No matching entries').waitFor();
      await page.getByLabel('Filter entries').fill('');
      await expectAccessible(page);
      await checkWidths(page, 'service-log');

      await recordLoad(id);
      await tab(page, 'Autoscaling').click();
      await page.reload();
      const autoscaling = panel(page, 'Autoscaling');
      const chart = autoscaling.getByTestId('autoscaling-chart');
      await chart.locator('canvas').first().waitFor();
      expect(
        await chart.getByRole('img').evaluateAll((images) => images.map((image) => image.getAttribute('aria-label'))),
      ).toEqual(['Memory in GB over time', 'CPU in cores over time', 'Cost in CHC/h over time']);
      await autoscaling.getByText('Recommendations only; nothing is resized.').waitFor();
      await autoscaling.getByText('Memory peaked at 90% in the last 3 hours.').waitFor();
      await autoscaling.getByText('Apply', { exact: true }).click();
      await page.getByText('Autoscaling of real: apply').waitFor();
      expect((await services.send('GET', `/${id}/autoscaling`)).json.result.mode).toBe('apply');
      await expectAccessible(page);
      await checkWidths(page, 'running-service');

      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Stop service' }).click();
      await tab(page, 'Overview').click();
      await status.getByText('Stopped', { exact: true }).waitFor();
      await page.getByText('Queries are rejected until you start it.').waitFor();
      await page.getByRole('button', { name: 'Start' }).waitFor();
    });

    it('a service is backed up, its backup verified, and restored into a new service', async () => {
      const { id, query } = await services.create({ name: 'events' });
      await query('CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n');
      await query('INSERT INTO t VALUES (7)');
      const page = await browser.signIn(acme.admin, `/services/${id}/backups`);
      const backups = panel(page, 'Backups');
      await backups.getByText('No backups yet').waitFor();
      await backups.getByRole('button', { name: 'Back up now' }).click();
      const row = backups.getByRole('row').filter({ hasText: 'Full' });
      await row.getByText('Done', { exact: true }).waitFor();
      await row.getByText('Never', { exact: true }).waitFor();
      await row.getByRole('button', { name: 'Verify' }).click();
      await row.getByText('Never', { exact: true }).waitFor({ state: 'detached' });
      await row.getByText('In progress', { exact: true }).waitFor({ state: 'detached' });
      const listed = (await services.send('GET', `/${id}/backups`)).json.result;
      expect(listed).toMatchObject([{ status: 'done', verification: { status: 'done', rows: 1 } }]);
      await expectAccessible(page);
      await checkWidths(page, 'service-backups');
      await row.getByRole('button', { name: 'Restore' }).click();
      const form = page.getByRole('form', { name: 'Restore into a new service' });
      await form.getByLabel('Name').fill('events-restored');
      await form.getByRole('button', { name: 'Restore' }).click();
      await page.getByLabel('I have saved the secret').check();
      await page.getByRole('button', { name: 'Done' }).click();
      await panel(page, 'Status').getByText('Running', { exact: true }).waitFor();
      expect(page.url()).not.toContain(id);
    });

    it('a service that its driver cannot reach is degraded, with the reason', async () => {
      const page = await browser.signIn(acme.developer, '/services');
      const row = page.getByRole('row').filter({ hasText: 'elsewhere' });
      await row.getByText('webhook', { exact: true }).waitFor();
      await row.getByText('The webhook failed').waitFor();
      await row.getByRole('link').click();
      const status = panel(page, 'Status');
      await page.getByRole('alert').getByText('The service is degraded').waitFor();
      await status.getByText(/^Change 1, attempt \d+/).waitFor();
      await panel(page, 'Connect').getByText('No endpoint: the webhook reports no address').waitFor();
      await tab(page, 'History').click();
      await panel(page, 'History').getByText('as degraded').waitFor();
      await tab(page, 'Autoscaling').click();
      await panel(page, 'Autoscaling').getByRole('radio', { name: 'Apply' }).waitFor({ state: 'attached' });
      expect(await panel(page, 'Autoscaling').getByRole('radio', { name: 'Apply' }).isDisabled()).toBe(true);
      for (const name of ['Start', 'Stop', 'Wake']) expect(await page.getByRole('button', { name }).count()).toBe(0);
    });
  },
  { fleet, args: ['--endpoint-ports', '0', '--webhook-allow-private', 'yes'] },
);

describe('the status of a service', () => {
  const status = {
    state: 'running',
    since: '2026-11-16T12:00:00Z',
    desiredState: 'running',
    generation: 2,
    observedGeneration: 1,
    requested: { replicas: 3, replicaMemoryGb: 24 },
    observed: { replicas: 3, replicaMemoryGb: 24 },
  } as const;

  it('names what differs from the request', () => {
    expect(listDifferences(status)).toEqual([]);
    expect(listDifferences({ ...status, state: 'resizing', observed: { replicas: 1, replicaMemoryGb: 16 } })).toEqual([
      'Requested 3 replicas, actual 1',
      'Requested 24 GB per replica, actual 16 GB',
    ]);
    expect(listDifferences({ ...status, state: 'stopping', desiredState: 'stopped' })).toEqual([
      'Requested stopped, actual stopping',
    ]);
    expect(listDifferences({ ...status, state: 'idle', desiredState: 'idle', observed: { replicas: 0 } })).toEqual([]);
  });

  it('is read again sooner during a change, and not at all for simulated services', () => {
    const simulated = { driver: 'simulated', state: 'running', status } as const;
    const embedded = { ...simulated, driver: 'embedded' } as const;
    expect(getPollMs([simulated])).toBe(false);
    expect(getPollMs([simulated, { ...simulated, status: { ...status, state: 'stopping' } }])).toBe(1000);
    expect(getPollMs([simulated, embedded])).toBe(10_000);
    expect(getPollMs([{ ...embedded, status: { ...status, state: 'resizing' } }])).toBe(1000);
  });

  it('has no line where the load was not measured', () => {
    const point = { state: 'running', memoryGb: 16, replicas: 2, cpuCores: 1, outOfMemory: 0, costPerHourCHC: 0.5 };
    const points = ['10:00', '10:01', '10:05'].map((time) => ({ ...point, at: `2026-11-16T${time}:00Z` }));
    const { times, values } = toChartRows({ points, stepMinutes: 1 });
    expect(times.map((at) => new Date(at).toISOString().slice(14, 16))).toEqual(['00', '01', '02', '05']);
    expect(values).toEqual([
      [32, 32, null, 32],
      [null, null, null, null],
      [1, 1, null, 1],
      [0.5, 0.5, null, 0.5],
    ]);
  });

  it('has a chart that starts with the first point', () => {
    const [from, to] = ['2026-11-15T10:06:00Z', '2026-11-16T10:06:00Z'];
    const point = { state: 'running', memoryGb: 16, replicas: 2, outOfMemory: 0, costPerHourCHC: 0.5 };
    const range = (...times: string[]) =>
      toChartRange({ from, to, points: times.map((time) => ({ ...point, at: `2026-11-16T${time}:00Z` })) }).map((at) =>
        new Date(at).toISOString().slice(8, 16),
      );
    expect(range('09:50', '10:05')).toEqual(['16T09:50', '16T10:06']);
    expect(range('10:05')).toEqual(['16T10:01', '16T10:06']);
    expect(range()).toEqual(['15T10:06', '16T10:06']);
  });

  it('with shards has the size of all of them', () => {
    const point = { state: 'running', memoryGb: 16, replicas: 2, shards: 3, outOfMemory: 0, costPerHourCHC: 3.6 };
    const points = [{ ...point, at: '2026-11-16T10:00:00Z' }];
    expect(toChartRows({ points, stepMinutes: 1 }).values[0]).toEqual([96]);
    expect(formatObservedSize({ replicas: 2, replicaMemoryGb: 16 }, 3)).toBe('3 shards × 2 replicas × 16 GB');
    expect(formatObservedSize({ replicas: 2, replicaMemoryGb: 16 })).toBe('2 replicas with 16 GB each');
  });

  it('names what was observed in words', () => {
    expect(listEvidence({ pid: 14505, isolation: 'landlock', memoryLimitMiB: 1024 })).toEqual([
      'Process 14505, limit 1 GiB',
      'Isolated by Landlock',
    ]);
    expect(listEvidence({ pid: 7, isolation: 'none', memoryLimitMiB: 512 })).toEqual([
      'Process 7, limit 512 MiB',
      'Not isolated',
    ]);
    expect(listEvidence({ resourceVersion: '812', readyReplicas: 2 })).toEqual([
      'Resource version 812',
      'Ready replicas 2',
    ]);
  });
});
