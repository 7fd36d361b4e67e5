import { expect, it } from 'vitest';
import { inBrowser, type Page } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';

const SERVICES = 120;
const KEYS = 60;
const number = (index: number) => String(index).padStart(3, '0');
const today = new Date().toISOString().slice(0, 10);
const serviceId = (index: number) => `00000000-0000-4000-8000-000000000${number(index)}`;
const WAREHOUSE = '3ab15151-9e4d-4e31-b28a-5e906f4dc144';

/** The oldest services have the last names. */
const fleet = {
  organizations: [
    {
      id: acme.id,
      name: 'Acme',
      paid: true,
      keys: [
        { name: 'admin', ...acme.admin, roles: ['admin'] },
        ...Array.from({ length: KEYS }, (_, index) => ({
          name: `Key-${number(index)}`,
          keyId: `ListedKey00000000${number(index)}`,
          keySecret: `listed-key-secret-${number(index)}`,
          roles: ['developer'],
          createdAt: new Date(Date.UTC(2026, 0, 1) - index * 1000).toISOString(),
        })),
      ],
      services: Array.from({ length: SERVICES }, (_, index) => ({
        id: serviceId(index),
        name: `Unit-${number(index)}`,
        createdAt: new Date(Date.UTC(2026, 0, 1) - index * 1000).toISOString(),
        ...(index === 0 ? { dataWarehouseId: WAREHOUSE } : {}),
      })),
      usageCosts: [
        { date: today, entityType: 'service', entityId: serviceId(0), metrics: { computeCHC: 3 } },
        { date: today, entityType: 'service', entityId: serviceId(SERVICES - 1), metrics: { computeCHC: 20 } },
        { date: today, entityType: 'datawarehouse', entityId: WAREHOUSE, metrics: { storageCHC: 100 } },
      ],
    },
  ],
};

const table = (page: Page, name: string) => page.getByRole('table', { name });
const readNames = async (page: Page, name: string): Promise<string[]> => {
  const texts = await table(page, name).locator('tbody tr td:first-child').allTextContents();
  return texts.map((text) => /(Unit|Key)-\d{3}/.exec(text)?.[0] ?? text);
};
const range = (first: number, last: number, prefix: string): string[] =>
  Array.from(
    { length: Math.abs(last - first) + 1 },
    (_, index) => `${prefix}-${number(first < last ? first + index : first - index)}`,
  );

inBrowser(
  'long lists',
  (browser) => {
    it('the services page loads, sorts and searches on the server', async () => {
      const page = await browser.signIn(acme.admin, '/');
      const requests: URL[] = [];
      page.on('request', (request) => requests.push(new URL(request.url())));
      const listed = () =>
        requests.filter(({ pathname }) => /\/services$/.test(pathname) && pathname.startsWith('/v1'));

      // The overview shows the oldest services and the costs of the others in one row.
      await table(page, 'Services').getByRole('row', { name: /Total/ }).getByText('123.00').waitFor();
      expect(await readNames(page, 'Services')).toEqual(range(SERVICES - 1, SERVICES - 20, 'Unit'));
      const other = table(page, 'Services').getByRole('row', { name: /Other services/ });
      await other.getByText('3.00').waitFor();

      await page.getByRole('link', { name: 'All services' }).click();
      await page.getByText('More than 50 services').waitFor();
      expect(await readNames(page, 'Services')).toEqual(range(SERVICES - 1, SERVICES - 50, 'Unit'));
      await page.getByRole('button', { name: 'Load more' }).click();
      await page.getByText('100 services loaded').waitFor();
      expect(await readNames(page, 'Services')).toEqual(range(SERVICES - 1, SERVICES - 100, 'Unit'));

      await page.getByRole('button', { name: 'Name' }).click();
      await table(page, 'Services').getByText('Unit-000').waitFor();
      expect(await readNames(page, 'Services')).toEqual(range(0, 49, 'Unit'));
      expect(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('ascending');

      await page.getByRole('textbox', { name: 'Search services' }).fill('UNIT-11');
      await page.getByText('10 services found').waitFor();
      expect(await readNames(page, 'Services')).toEqual(range(110, 119, 'Unit'));
      await table(page, 'Services')
        .getByRole('row', { name: /Unit-119/ })
        .getByText('20.00')
        .waitFor();
      await page.getByRole('textbox', { name: 'Search services' }).fill('nothing');
      await page.getByText('No matching services').waitFor();

      for (const { search } of listed()) {
        const parameters = new URLSearchParams(search);
        const size = Number(parameters.get('limit') ?? parameters.getAll('id').length);
        expect(size, search).toBeGreaterThan(0);
        expect(size, search).toBeLessThanOrEqual(100);
      }
      expect(listed().length).toBeGreaterThan(3);
    });

    it('the command palette, the keys page and the activity page search on the server', async () => {
      const page = await browser.signIn(acme.admin, '/keys');
      await page.getByText('More than 50 API keys').waitFor();
      await page.getByRole('button', { name: 'Load more' }).click();
      await page.getByText(`${KEYS + 1} API keys`).waitFor();
      await page.getByRole('textbox', { name: 'Search keys' }).fill('key-05');
      await page.getByText('10 API keys').waitFor();
      await page.getByRole('button', { name: 'Name' }).click();
      await table(page, 'Keys').getByText('Key-050').waitFor();
      expect(await readNames(page, 'Keys')).toEqual(range(50, 59, 'Key'));

      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('Search pages, services, dashboards and actions…').fill('unit-003');
      await page.getByRole('button', { name: 'Unit-003 Simulated service' }).click();
      await page.getByRole('heading', { name: 'Unit-003' }).waitFor();

      // The audit log records the id of the service only; the name finds it.
      await browser.server.call({
        method: 'PATCH',
        path: `/v1/organizations/${acme.id}/services/${serviceId(3)}/scaling`,
        key: acme.admin,
        body: { numReplicas: 5 },
      });
      await page.getByRole('link', { name: 'History', exact: true }).click();
      await page.getByRole('link', { name: 'View in audit log' }).click();
      await page
        .getByRole('list', { name: 'Activity' })
        .getByText(/changed the number of replicas/)
        .waitFor();
      expect(await page.getByRole('list', { name: 'Activity' }).textContent()).toContain('Unit-003');
    });
  },
  { fleet },
);
