import { describe, expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, inBrowser } from '../support/browser.ts';
import { acme, fleet } from '../support/fleet.ts';
import { useReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const today = new Date().toISOString().slice(0, 10);
const [organization, ...others] = fleet.organizations;
const usageCosts = [{ date: today, entityType: 'service', entityId: acme.primary, metrics: { computeCHC: 80 } }];

describe('budget alerts in the console', () => {
  const receiver = useReceiver();

  inBrowser(
    'with a webhook',
    (browser) => {
      const path = `/v1/organizations/${acme.id}/budgets`;
      const createBudget = async (body: object) =>
        (await browser.server.call({ method: 'POST', path, key: acme.admin, body })).json.result.id;
      const waitForAlert = (id: string, isReached: (alert: { delivery: string; attempts: number }) => boolean) =>
        until(
          async () => (await browser.server.call({ path: `${path}/${id}`, key: acme.admin })).json.result.notices,
          (notices) => notices.length === 1 && isReached(notices[0]),
          'the alert is not attempted',
        );

      it('are pending with the reason while the webhook fails, then delivered; never "sent" before', async () => {
        receiver.status = 500;
        const id = await createBudget({
          name: 'Failing',
          monthlyCHC: 100,
          thresholds: [50],
          webhook: { url: receiver.url },
        });
        await waitForAlert(id, ({ attempts }) => attempts > 0);
        await createBudget({ name: 'Without webhook', monthlyCHC: 100, thresholds: [60] });
        const page = await browser.signIn(acme.admin, '/costs');
        const row = page.getByRole('table', { name: 'Budgets' }).getByRole('row', { name: 'Failing' });
        await row.getByText('127.0.0.1 responded with status 500').locator('visible=true').waitFor();
        expect(await row.textContent()).toMatch(/50%: pending/);
        expect(await row.textContent()).toMatch(/\d+ attempts? so far\. Next attempt/);
        await expectAccessible(page);
        await checkWidths(page, 'budget-alert-pending');

        await page.goto(`${browser.server.url}/`);
        const panel = page.getByRole('region', { name: 'Budgets' });
        await panel.getByText('80.00 of 100.00 CHC').first().waitFor();
        await panel.getByText('127.0.0.1 responded with status 500').waitFor();
        await panel.getByText('60%: in the audit log').waitFor();
        await page
          .getByText('pilothouse budgets raised an alert: costs reached 50% of the budget Failing')
          .first()
          .waitFor();
        expect(await page.locator('main').textContent()).not.toMatch(/\bsent\b/);
        await expectAccessible(page);
        await checkWidths(page, 'overview-budgets');
        await page.emulateMedia({ colorScheme: 'dark' });
        await expectReadable(page);
        await checkWidths(page, 'overview-budgets-dark');

        receiver.status = 200;
        await waitForAlert(id, ({ delivery }) => delivery === 'delivered');
        await page.reload();
        await panel.getByText('50%: delivered').waitFor();
        expect(await panel.textContent()).not.toContain('responded with');
      });
    },
    {
      fleet: { organizations: [{ ...organization, usageCosts }, ...others] },
      args: ['--webhook-allow-private', 'yes'],
    },
  );
});
