import { expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { createIngestToken, postOtlp, sendGauge, sendLogs } from '../support/otlp-json.ts';

/** The first request starts the engine. */
const ENGINE = { timeout: 100_000 };
const DAY_MS = 86_400_000;

/** Longer than the page shows, in one word. */
const LONG_NAME = `<b>&amp;${'service'.repeat(50)}`;

const readVariable = (text: string, name: string): string =>
  new RegExp(`^export ${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';
const arrival = (page: Page, text: string | RegExp) => page.getByTestId('arrival').getByText(text);

inBrowser(
  'telemetry page',
  (browser) => {
    const createToken = async (page: Page, name: string): Promise<string> => {
      const form = page.getByRole('form', { name: 'Create ingest token' });
      await form.getByLabel('Name of the token').fill(name);
      await form.getByRole('button', { name: 'Create ingest token' }).click();
      return (await page.getByTestId('ingest-token').textContent()) ?? '';
    };

    it.each([1280, 390])('from a new token to the first rows (%i px)', async (width) => {
      const page = await browser.signIn(acme.admin, '/', { width });
      if (width < 768) await page.getByRole('button', { name: 'Navigation' }).click();
      await page.getByRole('link', { name: 'Telemetry' }).click();
      await page.getByRole('heading', { name: 'Telemetry', level: 1 }).waitFor();
      const token = await createToken(page, `phone and desk ${width}`);
      await arrival(page, 'Waiting for the first rows').waitFor(ENGINE);
      const variables = (await page.getByTestId('variables').textContent()) ?? '';
      expect(variables).toContain(token);
      // The address in the variables is one that accepts telemetry.
      const url = readVariable(variables, 'OTEL_EXPORTER_OTLP_ENDPOINT');
      expect(url).not.toBe(`${browser.server.url}/otlp`);
      const service = `checkout-${width}`;
      const now = `${Date.now()}000000`;
      const logRecords = [1, 2].map((n) => ({ timeUnixNano: now, body: { stringValue: `order ${n}` } }));
      const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] };
      const response = await fetch(`${url}/v1/logs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }),
      });
      expect(response.status).toBe(200);
      await arrival(page, `2 logs from ${service}`).waitFor();
      const senders = page.getByRole('table', { name: 'Senders' });
      await senders.getByText(service).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Hide token' }).click();
      await page.getByRole('form', { name: 'Create ingest token' }).waitFor();
      expect(await page.content()).not.toContain(token);
      await arrival(page, `2 logs from ${service}`).waitFor();
    });

    it('changes the retention of a signal, which developers only see', async () => {
      const page = await browser.signIn(acme.admin, '/telemetry');
      const form = page.getByRole('form', { name: 'Retention' });
      await form.getByLabel('Logs').fill('7');
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved the retention of telemetry').waitFor();
      const reader = await browser.signIn(acme.developer, '/telemetry');
      const readerForm = reader.getByRole('form', { name: 'Retention' });
      expect(await readerForm.getByLabel('Logs').inputValue()).toBe('7 days');
      expect(await readerForm.getByLabel('Logs').isDisabled()).toBe(true);
      await form.getByLabel('Logs').fill('30');
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText('At most 30 days').waitFor();
    });

    it('shows why records are rejected, with a sample, before anything is stored', async () => {
      const page = await browser.signIn(acme.admin, '/telemetry');
      const token = await createToken(page, 'wrong clock');
      await sendLogs(browser.server, token, 'clock', [{ body: 'from the past', at: Date.now() - 400 * DAY_MS }]);
      await arrival(page, 'Records arrive, but are rejected').waitFor(ENGINE);
      await arrival(page, 'its time is before the retention of this signal').waitFor();
      const rejected = page.getByRole('table', { name: 'Rejected records' });
      await rejected.getByText('Such as log record with the body "from the past"').waitFor();
      await rejected.getByText('Logs with wrong clock').waitFor();
    });

    it('shows what was received and what is stored', async () => {
      const { token } = await createIngestToken(browser.server, acme, 'shop');
      await sendLogs(browser.server, token, 'shop', [
        { body: 'one', attributes: { 'http.route': '/orders/{id}', 'user.agent': 'x'.repeat(300) } },
        { body: 'two', at: Date.now() - 3 * DAY_MS, attributes: { 'http.route': '/orders' } },
        { body: 'late', at: Date.now() - 400 * DAY_MS },
      ]);
      await sendLogs(browser.server, token, LONG_NAME, [{ body: 'x' }]);
      await sendGauge(browser.server, token, 'shop-worker', [3, 1, 4, 1, 5]);
      expect((await postOtlp(browser.server, token, 'traces', { resourceSpans: 7 })).status).toBe(400);
      const page = await browser.signIn(acme.admin, '/telemetry');
      const senders = page.getByRole('table', { name: 'Senders' });
      const worker = senders.getByRole('row').filter({ hasText: 'shop-worker' });
      await worker.getByText('5', { exact: true }).waitFor(ENGINE);
      await worker.getByText('shop', { exact: true }).waitFor();
      await page.getByRole('img', { name: 'Records received over time: Logs, Metrics, Rejected' }).waitFor();
      await worker.getByRole('button', { name: 'Show only metrics of shop-worker with shop in the chart' }).click();
      await page.getByRole('img', { name: 'Records received over time: Metrics' }).waitFor();
      await page.getByText('Bytes', { exact: true }).click();
      await page.getByRole('img', { name: 'Bytes received over time: Metrics' }).waitFor();
      await page.getByRole('button', { name: 'Show all senders, not only Metrics of shop-worker' }).click();
      await page.getByRole('img', { name: /^Bytes received over time: Logs, Metrics, Rejected$/ }).waitFor();

      const refused = page
        .getByRole('table', { name: 'Rejected records' })
        .getByRole('row')
        .filter({ hasText: 'not valid OTLP' });
      await refused.getByText('Whole requests').waitFor();
      const stored = page.getByRole('table', { name: 'Stored telemetry' });
      await stored.getByRole('row').filter({ hasText: 'Logs' }).getByText('3 days ago').waitFor();
      await stored.getByRole('row').filter({ hasText: 'Traces' }).getByText('None').waitFor();
      const keys = page.getByRole('table', { name: 'Attributes by size' });
      await keys.getByRole('row').filter({ hasText: 'user.agent' }).getByText('310 B').waitFor();

      const long = senders.getByRole('row').filter({ hasText: LONG_NAME.slice(0, 200) });
      await long.getByRole('button', { name: /^Show only logs of <b>/ }).click();
      await page.getByRole('img', { name: 'Bytes received over time: Logs' }).waitFor();

      await page.getByText('Last 7d').click();
      await page.waitForURL(/last=7d/);
      await expectAccessible(page);
      await checkWidths(page, 'telemetry');
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectReadable(page);
      await checkWidths(page, 'telemetry-dark');
    });

    it('has settings for each language, and for gRPC', async () => {
      const page = await browser.signIn(acme.admin, '/telemetry');
      const variables = page.getByTestId('variables');
      for (const [language, text] of [
        ['Python', 'opentelemetry-instrument python app.py'],
        ['Java', '-javaagent:opentelemetry-javaagent.jar'],
        ['Go', 'go run .'],
        ['.NET', 'dotnet run'],
        ['Collector', 'exporters: [otlphttp/pilothouse]'],
        ['Node.js', 'auto-instrumentations-node/register'],
      ] as const) {
        await page.getByRole('radiogroup', { name: 'Language' }).getByText(language, { exact: true }).click();
        await variables.getByText(text).waitFor();
        expect(await variables.textContent()).toMatch(/http:\/\/127\.0\.0\.1:\d+\n/);
        expect(await variables.textContent()).toContain('INGEST_TOKEN');
      }
      await page.getByText(/OTLP\/gRPC is at http:\/\/127\.0\.0\.1:\d+/).waitFor();
    });

    it('offers no token without the permission to create one', async () => {
      const page = await browser.signIn(acme.developer, '/telemetry');
      await page.getByText('Ask an administrator for a token with the access “Send telemetry”.').waitFor();
      expect(await page.getByRole('button', { name: 'Create ingest token' }).count()).toBe(0);
    });
  },
  { args: ['--otlp-port', '0', '--otlp-grpc-port', '0'] },
);
