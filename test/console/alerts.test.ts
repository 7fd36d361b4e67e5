import { beforeAll, expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { createIngestToken, postOtlp } from '../support/otlp-json.ts';
import { useReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

/** The first request starts the engine. */
const ENGINE = { timeout: 100_000 };
const HOUR_MS = 3_600_000;
const HOSTILE = '<img src=x onerror="window.pwned=1">';

inBrowser(
  'alerts',
  (browser) => {
    const receiver = useReceiver();
    let channelId = '';
    const call = (method: string, path: string, body?: object) =>
      browser.server.call({ method, path, token: acme.writer, ...(body ? { body } : {}) });
    const created = async (path: string, body: object): Promise<Json> => {
      const { status, json, text } = await call('POST', path, body);
      expect(status, text).toBe(200);
      return json.data;
    };
    /** Fires at its first evaluation, for the key that expires soon. */
    const createFiring = async (more: object = {}): Promise<Json> => {
      const alert = await created('/api/v2/alerts', {
        source: 'condition',
        condition: 'key_expiry_days',
        interval: '1m',
        thresholdType: 'below',
        threshold: 30,
        channels: [{ type: 'webhook', webhookId: channelId }],
        ...more,
      });
      await until(
        async () => (await call('GET', `/api/v2/alerts/${alert.id}`)).json.data.status,
        (status) => status === 'firing',
        'the alert does not fire',
      );
      return alert;
    };
    const table = (page: Page) => page.getByRole('table', { name: 'Alerts' });
    const row = (page: Page, name: string) => table(page).getByRole('row').filter({ hasText: name });
    const choose = async (page: Page, name: string, item: string) => {
      await page.getByRole('button', { name: `Actions for alert ${name}`, exact: true }).click();
      await page.getByRole('menuitem', { name: item, exact: true }).click();
    };
    const checkLook = async (page: Page, name: string) => {
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectReadable(page);
      await page.emulateMedia({ colorScheme: 'light' });
      await checkWidths(page, name);
      await expectAccessible(page);
      await page.setViewportSize({ width: 1280, height: 900 });
    };

    beforeAll(async () => {
      await createKey(browser.server, {
        name: 'expires soon',
        expireAt: new Date(Date.now() + 120 * HOUR_MS).toISOString(),
      });
    });

    it('have channels with a secret that is shown once, and a test that shows the answer', async () => {
      const page = await browser.signIn(acme.admin, '/channels');
      await page.getByText('No channels yet').waitFor();
      await page.getByRole('button', { name: 'Create channel' }).first().click();
      const form = page.getByRole('form', { name: 'New channel' });
      const create = form.getByRole('button', { name: 'Create channel' });
      await create.click();
      await form.getByText('The value must not be empty').waitFor();
      await form.getByLabel('Name', { exact: true }).fill(HOSTILE);
      await form.getByLabel('URL').fill('ftp://example.com');
      await form.getByRole('button', { name: 'Add header' }).click();
      await form.getByLabel('Name of header 1').fill('Authorization');
      await form.getByLabel('Value of header 1').fill('Bearer of-the-header');
      await create.click();
      await form.getByText(/http/).waitFor();
      await form.getByLabel('URL').fill(receiver.url);
      await checkLook(page, 'channel-form');
      await create.click();
      const secret = await page.getByTestId('signing-secret').textContent();
      expect(secret).toMatch(/^whsec_/);
      await page.keyboard.press('Escape');
      await page.getByLabel('I have saved the secret').click();
      await page.getByRole('button', { name: 'Done' }).click();
      const channels = page.getByRole('table', { name: 'Channels' });
      await channels.getByText(new URL(receiver.url).origin).waitFor();
      expect(await page.content()).not.toContain(secret);
      channelId = (await call('GET', '/api/v2/webhooks')).json.data[0].id;

      const actions = page.getByRole('button', { name: `Actions for channel ${HOSTILE}` });
      const test = page.getByRole('dialog', { name: `Test of ${HOSTILE}` });
      await actions.click();
      await page.getByRole('menuitem', { name: 'Send a test' }).click();
      await test.getByText('Delivered', { exact: true }).waitFor();
      await test.getByText('Status 204').waitFor();
      expect(receiver.received.at(-1)?.headers.authorization).toBe('Bearer of-the-header');
      receiver.status = 500;
      await test.getByRole('button', { name: 'Send again' }).click();
      await test.getByText('Not delivered').waitFor();
      await test.getByText(/^Status 500/).waitFor();
      receiver.status = 204;
      await test.getByRole('button', { name: 'Close' }).last().click();

      await actions.click();
      await page.getByRole('menuitem', { name: 'Replace signing secret' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
      const replaced = await page.getByTestId('signing-secret').textContent();
      expect(replaced).toMatch(/^whsec_/);
      expect(replaced).not.toBe(secret);
      await page.getByLabel('I have saved the secret').click();
      await page.getByRole('button', { name: 'Done' }).click();

      await actions.click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      const edit = page.getByRole('form', { name: /Edit channel/ });
      await edit.getByText('The stored values are kept.').first().waitFor();
      await edit.getByLabel('Name', { exact: true }).fill('On call');
      await edit.getByRole('button', { name: 'Save changes' }).click();
      await channels.getByText('On call').waitFor();
      expect(await page.evaluate('window.pwned')).toBeUndefined();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await checkLook(page, 'channels');
    });

    it('are listed with their state, silenced, acknowledged and deleted', async () => {
      const empty = await browser.signIn(acme.admin, '/alerts');
      await empty.getByText('No alerts yet').waitFor();
      await createFiring({ name: 'Keys of payment', owner: 'Team A' });
      await created('/api/v2/alerts', {
        ...{ source: 'condition', condition: 'budget_percent', interval: '1d', thresholdType: 'above', threshold: 80 },
        ...{ scheduleStartAt: new Date(Date.now() + 24 * HOUR_MS).toISOString() },
        channels: [{ type: 'webhook', webhookId: channelId }],
      });
      const page = await browser.signIn(acme.admin, '/alerts');
      await row(page, 'Keys of payment').getByText('Firing', { exact: true }).waitFor();
      await row(page, 'Keys of payment').getByText('fires if < 30', { exact: true }).waitFor();
      await row(page, 'Keys of payment')
        .getByRole('img', { name: /^Last \d+ values?, threshold < 30$/ })
        .waitFor();
      await row(page, 'Percent of a budget spent this month').getByText('Not evaluated yet').waitFor();
      await checkLook(page, 'alerts');

      await page.getByText('Firing (1)').click();
      await row(page, 'Percent of a budget').waitFor({ state: 'detached' });
      expect(new URL(page.url()).searchParams.get('state')).toBe('firing');
      await choose(page, 'Keys of payment', 'Silence');
      const form = page.getByRole('form', { name: 'Silence' });
      await form.getByLabel('Until a time').click();
      await form.getByLabel('Until', { exact: true }).fill('2020-01-01T10:00');
      await form.getByRole('button', { name: 'Silence' }).click();
      await form.getByText('The value must be a time in the next 365 days').waitFor();
      await form.getByLabel('4 hours').click();
      await form.getByLabel('Reason').fill('Planned maintenance');
      await expectAccessible(page);
      await form.getByRole('button', { name: 'Silence' }).click();
      await page.getByText('Silenced (1)').waitFor();
      const [alert] = (await call('GET', '/api/v2/alerts')).json.data.filter((one: Json) => one.silenced);
      expect(alert.silenced).toMatchObject({ reason: 'Planned maintenance' });
      expect(Math.round((Date.parse(alert.silenced.until) - Date.now()) / HOUR_MS)).toBe(4);
      await choose(page, 'Keys of payment', 'Acknowledge');
      await row(page, 'Keys of payment').getByText('acknowledged').waitFor();
      await choose(page, 'Keys of payment', 'End silence');
      await page.getByText('Silenced (1)').waitFor({ state: 'detached' });

      await page.goto(`${browser.server.url}/`);
      await page.getByRole('region', { name: 'Alerts' }).getByText('1 of 2 alerts is firing.').waitFor();
      await page.getByRole('region', { name: 'Alerts' }).getByRole('link', { name: 'Keys of payment' }).click();
      await page.getByRole('heading', { name: 'Keys of payment', level: 1 }).waitFor();
      await page.getByText('acknowledged it').waitFor();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor();
      await row(page, 'Percent of a budget').waitFor();
      await row(page, 'Keys of payment').waitFor({ state: 'detached' });
    });

    it('show what they saw and sent, and can be edited', async () => {
      const { id } = await createFiring({
        name: HOSTILE,
        runbookUrl: 'https://example.com/runbook',
        labels: { team: 'a' },
      });
      const page = await browser.signIn(acme.admin, `/alerts/${id}`);
      await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor();
      await page
        .getByTestId('alert-chart')
        .getByRole('img', { name: /^Values of \d+ windows?, fires if < 30$/ })
        .waitFor();
      await page.getByRole('table', { name: 'Groups' }).getByText('expires soon').waitFor();
      await page.getByRole('table', { name: 'Evaluations' }).getByText('Firing', { exact: true }).waitFor();
      const message = page.getByRole('list', { name: 'Messages' }).getByRole('listitem').first();
      await message.getByText('Delivered').waitFor();
      await message.getByText('Delivered').click();
      await message.getByText('Response with status 204').waitFor();
      await message.getByText(/^Sent to http/).waitFor();
      await message
        .getByText(/expires soon/)
        .last()
        .waitFor();
      const before = receiver.received.length;
      await message.getByRole('button', { name: 'Send again' }).click();
      await until(
        () => Promise.resolve(receiver.received.length),
        (count) => count > before,
        'the message was not sent again',
      );
      expect(await page.evaluate('window.pwned')).toBeUndefined();
      await checkLook(page, 'alert');

      await page.getByRole('link', { name: 'Edit' }).click();
      const form = page.getByRole('form', { name: 'Edit alert' });
      expect(await form.getByLabel('Threshold').inputValue()).toBe('30');
      await form.getByText('The past of a condition is not stored').waitFor();
      await form.getByLabel('Fires if the value is').click();
      await page.getByRole('option', { name: 'outside' }).click();
      await form.getByLabel('Name', { exact: true }).fill('{{#if');
      await form.getByRole('button', { name: 'Save changes' }).click();
      await form.getByText('The value is required for not_between').waitFor();
      await form.getByText('The template is not valid on line 1').waitFor();
      await form.getByLabel('Name', { exact: true }).fill('Keys');
      await form.getByLabel('Upper limit').fill('900');
      await form.getByLabel('Pending (minutes)').fill('7');
      await form.getByLabel('Windows in a row').fill('3');
      await form.getByLabel('Note').fill('Ask the owners.');
      await form.getByRole('button', { name: 'Show' }).click();
      await form.getByRole('button', { name: 'Add quiet hours' }).click();
      await form.getByText('Sat', { exact: true }).click();
      await form.getByLabel('Move windows by (minutes)').fill('5');
      await form.getByRole('button', { name: 'Save changes' }).click();
      await form.getByText('The value must be less than the interval 1m').waitFor();
      await form.getByLabel('Move windows by (minutes)').fill('');
      await form.getByLabel('First window starts at').fill('2026-01-02T03:04');
      // Changed by someone else meanwhile.
      const stored = (await call('GET', `/api/v2/alerts/${id}`)).json.data;
      expect((await call('PUT', `/api/v2/alerts/${id}`, { ...stored, repeatMinutes: 60 })).status).toBe(200);
      await form.getByRole('button', { name: 'Save changes' }).click();
      await form.getByText('The alert has changed since it was read').waitFor();
      expect((await call('PUT', `/api/v2/alerts/${id}`, stored)).status).toBe(200);
      await form.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
      await page.getByText('outside 30 – 900 every 1 minute, for 7 minutes').waitFor();
      expect((await call('GET', `/api/v2/alerts/${id}`)).json.data).toMatchObject({
        ...{ name: 'Keys', thresholdType: 'not_between', thresholdMax: 900, pendingMinutes: 7, labels: { team: 'a' } },
        quietHours: { ranges: [{ days: ['sat'], start: '22:00', end: '06:00' }] },
        ...{ numConsecutiveWindows: 3, note: 'Ask the owners.', scheduleOffsetMinutes: 0 },
        scheduleStartAt: expect.stringMatching(/^2026-01-0.T..:04:00\.000Z$/),
      });
      await page.goto(`${browser.server.url}/channels`);
      await page.getByRole('button', { name: 'Actions for channel On call' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText(/The webhook is in use: .*alert Keys/).waitFor();
    });

    it('are created from a search and from a tile, with a replay', async () => {
      const { token } = await createIngestToken(browser.server, acme, 'alerts');
      const now = Date.now();
      const logRecords = Array.from({ length: 40 }, (_, index) => ({
        timeUnixNano: `${now - HOUR_MS - Math.floor(index / 20) * 3 * HOUR_MS - index * 1000}000000`,
        severityText: 'ERROR',
        body: { stringValue: 'payment declined' },
      }));
      const body = { resourceLogs: [{ resource: { attributes: [] }, scopeLogs: [{ logRecords }] }] };
      expect((await postOtlp(browser.server, token, 'logs', body)).status).toBe(200);

      const page = await browser.signIn(acme.admin, '/search?where=declined&last=24h');
      await page.getByTestId('progress').getByText('40 rows').waitFor(ENGINE);
      await page.getByRole('button', { name: 'Create alert' }).click();
      await page.getByRole('form', { name: 'Save search' }).getByLabel('Name').fill('Declined payments');
      await page.getByRole('form', { name: 'Save search' }).getByRole('button', { name: 'Save' }).click();
      const form = page.getByRole('form', { name: 'New alert' });
      const summary = page.getByTestId('replay-summary');
      await summary.getByText('It would have fired 2 times').waitFor(ENGINE);
      expect(await form.getByRole('combobox', { name: 'Saved search' }).inputValue()).toBe('Declined payments');
      await page.getByRole('table', { name: 'Incidents' }).getByText('20').first().waitFor();
      await checkLook(page, 'alert-form');
      await form.getByLabel('Threshold').fill('21');
      await summary.getByText('It would not have fired').waitFor();
      await form.getByLabel('Group by').fill('NoSuchColumn');
      await form.getByText('Correct the marked fields to run the replay.').waitFor();
      await form.getByLabel('Group by').fill('');
      await page.keyboard.press('Escape');
      await form.getByRole('button', { name: 'Create alert' }).click();
      await page.getByRole('heading', { name: 'Declined payments', level: 1 }).waitFor();
      await page.getByRole('link', { name: 'Declined payments' }).click();
      await page.getByTestId('progress').getByText('40 rows').waitFor(ENGINE);
      expect(new URL(page.url()).searchParams.get('where')).toBe('declined');

      await page.goto(`${browser.server.url}/dashboards/${acme.dashboard}`);
      await page
        .getByRole('button', { name: /^More actions for/ })
        .first()
        .click();
      await page.getByRole('menuitem', { name: 'Create alert' }).click();
      await form.getByRole('combobox', { name: 'Tile' }).waitFor();
      expect(await form.getByRole('combobox', { name: 'Tile' }).inputValue()).not.toBe('');
      await summary.waitFor(ENGINE);

      await form.getByText('Metric or events').click();
      await form.getByRole('combobox', { name: 'Source' }).click();
      await page.getByRole('option', { name: 'Logs', exact: true }).click();
      await form.getByRole('combobox', { name: 'Where' }).fill('declined');
      await page.keyboard.press('Escape');
      await summary.getByText('It would have fired 2 times').waitFor();
    });

    it('are read-only with a token that may only read', async () => {
      const page = await browser.signIn({ token: acme.token }, '/alerts');
      await row(page, 'Declined payments').waitFor();
      expect(await page.getByRole('link', { name: 'Create alert' }).count()).toBe(0);
      expect(await page.getByRole('button', { name: /Actions for/ }).count()).toBe(0);
      await page.getByRole('link', { name: 'Declined payments' }).click();
      await page.getByRole('heading', { name: 'Declined payments', level: 1 }).waitFor();
      expect(await page.getByRole('button', { name: 'Silence' }).count()).toBe(0);
    });
  },
  { args: ['--webhook-allow-private', 'yes'] },
);
