import { expect, it } from 'vitest';
import { checkWidths, expectAccessible, inBrowser, type Page } from '../support/browser.ts';
import { acme, fleet } from '../support/fleet.ts';

const DAY_MS = 86_400_000;
const [organization, ...others] = fleet.organizations;
/** 24 GB per replica × 2 replicas, at 0.2985 CHC per 8 GB and hour. */
const usageCosts = Array.from({ length: 10 }, (_, back) => ({
  date: new Date(Date.now() - (back + 1) * DAY_MS).toISOString().slice(0, 10),
  entityType: 'service',
  entityId: acme.secondary,
  metrics: { computeCHC: 42.984 },
}));

const replicas = (page: Page) => page.getByRole('textbox', { name: 'Number of replicas' });
const save = (page: Page) => page.getByRole('button', { name: 'Save changes' });

inBrowser(
  'scaling changes',
  (browser) => {
    const path = `/v1/organizations/${acme.id}/services/${acme.secondary}`;
    const stored = async () => (await browser.server.call({ path, key: acme.admin })).json.result;
    const scale = (body: object) =>
      browser.server.call({ method: 'PATCH', path: `${path}/replicaScaling`, key: acme.admin, body });

    it('have a cost estimate at recent usage next to the range', async () => {
      const page = await browser.signIn(acme.admin, `/services/${acme.secondary}/scaling`);
      // 42.984 CHC a day for a month of 732 hours, and twice as much with twice the replicas.
      await page.getByTestId('current-estimate').getByText('≈ 1,311.01').waitFor();
      await replicas(page).fill('4');
      await page.getByTestId('new-estimate').getByText('≈ 2,622.02').waitFor();
      await page.getByText('at the usage of the last 10 days').waitFor();
      await expectAccessible(page);
      await checkWidths(page, 'scaling-estimate');
    });

    it.each([1280, 390])('are undone from the message after saving (%i px)', async (width) => {
      const before = await stored();
      const page = await browser.signIn(acme.admin, `/services/${acme.secondary}/scaling`, { width });
      await replicas(page).fill('6');
      await page.getByRole('switch').click();
      await save(page).click();
      await page.getByText(/reader is now .* × 6/).waitFor();
      expect(await stored()).toMatchObject({ numReplicas: 6, idleScaling: !before.idleScaling });
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText(/Change undone: reader is .* × 2 again/).waitFor();
      expect(await stored()).toEqual(before);
      expect(await replicas(page).inputValue()).toBe('2');
    });

    it.each([1280, 390])('are reverted from the history, without touching other settings (%i px)', async (width) => {
      await scale({ numReplicas: 3 });
      await scale({ numReplicas: 9, minReplicaMemoryGb: 24 });
      await scale({ idleTimeoutMinutes: 45 });
      const page = await browser.signIn(acme.admin, `/services/${acme.secondary}/history`, { width });
      const entry = page
        .getByRole('region', { name: 'History' })
        .getByRole('listitem')
        .filter({ hasText: 'replicas from 3 to 9' });
      await entry
        .first()
        .getByRole('button', { name: /^Revert the change of/ })
        .click();
      const dialog = page.getByRole('dialog', { name: 'Revert this change?' });
      expect(await dialog.locator('dl').textContent()).toBe('Replicas9 → 3Minimum memory per replica24 → 16 GB');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Revert' }).click();
      await page.getByText(/reader is now .* × 3/).waitFor();
      expect(await stored()).toMatchObject({ numReplicas: 3, minReplicaMemoryGb: 16, idleTimeoutMinutes: 45 });
      await scale({ numReplicas: 2, minReplicaMemoryGb: 16, idleTimeoutMinutes: 15, idleScaling: true });
    });

    it('show why a change cannot be reverted, and offer nothing to developers', async () => {
      await scale({ minReplicaMemoryGb: 64 });
      await scale({ minReplicaMemoryGb: 16 });
      await scale({ maxReplicaMemoryGb: 32 });
      const page = await browser.signIn(acme.admin, `/services/${acme.secondary}/history`);
      const entries = page.getByRole('region', { name: 'History' }).getByRole('listitem');
      await entries
        .filter({ hasText: 'minimum from 64 to 16 GB' })
        .first()
        .getByRole('button', { name: /^Revert/ })
        .click();
      const dialog = page.getByRole('dialog', { name: 'Revert this change?' });
      await dialog.getByRole('button', { name: 'Revert' }).click();
      await dialog.getByText('The minimum of 64 GB must not exceed the maximum of 32 GB').waitFor();
      expect(await stored()).toMatchObject({ minReplicaMemoryGb: 16, maxReplicaMemoryGb: 32 });
      const reader = await browser.signIn(acme.developer, `/services/${acme.secondary}/history`);
      await reader.getByRole('region', { name: 'History' }).getByRole('listitem').first().waitFor();
      expect(await reader.getByRole('button', { name: /^Revert/ }).count()).toBe(0);
    });
  },
  { fleet: { organizations: [{ ...organization, usageCosts }, ...others] } },
);
