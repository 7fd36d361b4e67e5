import { beforeAll, expect, it } from 'vitest';
import {
  checkWidths,
  expectAccessible,
  expectReadable,
  inBrowser,
  type Page,
  waitUntilSettled,
} from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';

const PAGES: [name: string, path: string][] = [
  ['overview', '/'],
  ['services', '/services'],
  ['service', `/services/${acme.primary}`],
  ['service-scaling', `/services/${acme.primary}/scaling`],
  ['service-autoscaling', `/services/${acme.primary}/autoscaling`],
  ['service-schedule', `/services/${acme.primary}/schedule`],
  ['service-backups', `/services/${acme.primary}/backups`],
  ['service-access', `/services/${acme.primary}/access`],
  ['service-logs', `/services/${acme.primary}/logs`],
  ['service-history', `/services/${acme.primary}/history`],
  ['development-service', `/services/${acme.development}/scaling`],
  ['members-empty', '/members'],
  ['keys', '/keys'],
  ['roles', '/roles'],
  ['tokens', '/tokens'],
  ['activity', '/activity'],
  ['costs', '/costs'],
  ['search', '/search'],
  ['dashboards', '/dashboards'],
  ['traces-empty', '/traces'],
  ['service-map-empty', '/service-map'],
  ['alerts-empty', '/alerts'],
  ['new-alert', '/alerts/new'],
  ['channels-empty', '/channels'],
  ['sources', '/sources'],
  ['dashboard', `/dashboards/${acme.dashboard}`],
  ['not-found', '/no/such/page'],
];

const STATES: [name: string, path: string, prepare: (page: Page) => Promise<void>][] = [
  [
    'scaling-errors',
    `/services/${acme.primary}/scaling`,
    async (page) => {
      await page.getByLabel('Minimum per replica (GB)').fill('23');
      await page.getByRole('textbox', { name: 'Number of replicas' }).fill('6');
    },
  ],
  [
    'create-service',
    '/services',
    async (page) => {
      await page.getByRole('button', { name: 'Create service' }).click();
      await page.getByTestId('new-service-cost').waitFor();
    },
  ],
  [
    'schedule-window',
    `/services/${acme.primary}/schedule`,
    async (page) => {
      await page.getByRole('button', { name: 'Add window' }).click();
      await page.getByRole('form', { name: 'Add window' }).getByRole('button', { name: 'Add window' }).click();
      await page.getByText('The value must not be empty').waitFor();
    },
  ],
  [
    'create-key',
    '/keys',
    async (page) => {
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Add address' }).click();
    },
  ],
  [
    'key-secret',
    '/keys',
    async (page) => {
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      await page.getByTestId('key-secret').waitFor();
    },
  ],
  [
    'delete-key',
    '/keys',
    async (page) => {
      await page.getByRole('button', { name: /Actions for expired/ }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByRole('dialog').waitFor();
    },
  ],
  [
    'activity-entry',
    '/activity',
    async (page) =>
      page.getByRole('listitem').filter({ hasText: 'created' }).first().getByText('created').first().click(),
  ],
  [
    'palette',
    '/',
    async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('Search pages, services, dashboards and actions…').waitFor();
    },
  ],
  ['menu', '/', async (page) => page.getByRole('button', { name: 'Account and appearance' }).click()],
];

inBrowser('every page', (browser) => {
  beforeAll(async () => {
    const expireAt = new Date(Date.now() + 5 * 86_400_000).toISOString();
    await createKey(browser.server, { name: 'expiring', expireAt });
  });

  it('sign-in is accessible and fits three widths', async () => {
    const page = await browser.open('/sign-in');
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
    await expectAccessible(page);
    await checkWidths(page, 'sign-in');
  });

  it.each(PAGES)('%s is accessible in light and dark and fits three widths', async (name, path) => {
    const page = await browser.signIn(acme.admin, path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await page.emulateMedia({ colorScheme: 'light' });
    await checkWidths(page, name);
    // The last width is that of a phone, which shows other columns.
    await expectAccessible(page);
  });

  it.each(STATES)('%s is accessible in light and dark', async (name, path, prepare) => {
    const page = await browser.signIn(acme.admin, path);
    await waitUntilSettled(page);
    await prepare(page);
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await checkWidths(page, `${name}-dark`);
  });

  it('can be used by keyboard', async () => {
    const page = await browser.signIn(acme.admin);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to main content');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search pages, services, dashboards and actions…').waitFor();
    await page.keyboard.type('reader');
    await page.getByRole('button', { name: 'reader Simulated service' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'reader', level: 1 }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });

  it('stores the selected theme', async () => {
    const page = await browser.signIn(acme.admin);
    await page.getByRole('button', { name: 'Account and appearance' }).click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    const scheme = () => page.evaluate('document.documentElement.dataset.mantineColorScheme');
    expect(await scheme()).toBe('dark');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await scheme()).toBe('dark');
  });
});
