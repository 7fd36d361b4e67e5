import { beforeAll, expect, it } from 'vitest';
import { fillSignIn, inBrowser, type Page, waitUntilSettled } from '../support/browser.ts';
import { acme, fleet } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';

/** Each sets `window.pwned` if it is interpreted as markup, script or URL. */
const HOSTILE = [
  '<img src=x onerror="window.pwned=1">',
  '<script>window.pwned=1</script>',
  '"><svg onload=window.pwned=1>',
  'javascript:window.pwned=1',
  '{{constructor.constructor("window.pwned=1")()}}',
  "'); window.pwned=1; ('",
  '&lt;b&gt;&#x3c;script&#x3e;window.pwned=1',
  '<style>body{display:none}</style>',
  '\u202egnp.exe <b>',
  `${'W'.repeat(250)}<b>`,
];

const [organization, ...others] = fleet.organizations;
const hostileFleet = {
  organizations: [
    {
      ...organization,
      name: HOSTILE[0],
      services: organization?.services?.map((service, index) => ({ ...service, name: HOSTILE[index] })),
      dashboards: [],
      sources: [],
    },
    ...others,
  ],
};

inBrowser(
  'hostile names',
  (browser) => {
    async function signInByForm(path: string): Promise<Page> {
      const page = await browser.open(path);
      await fillSignIn(page, acme.admin);
      await page.getByRole('button', { name: 'Account and appearance' }).waitFor();
      return page;
    }

    beforeAll(async () => {
      for (const name of HOSTILE)
        await createKey(browser.server, {
          name,
          expireAt: new Date(Date.now() + 86_400_000).toISOString(),
          ipAccessList: [{ source: '127.0.0.1', description: name }],
        });
    });

    it.each([
      '/',
      '/services',
      `/services/${acme.primary}`,
      `/services/${acme.secondary}`,
      `/services/${acme.primary}/access`,
      `/services/${acme.primary}/history`,
      '/keys',
      '/activity',
      `/activity?text=${encodeURIComponent(HOSTILE[1] ?? '')}&kind=${encodeURIComponent(HOSTILE[2] ?? '')}`,
      `/${encodeURIComponent(HOSTILE[1] ?? '')}`,
      `/sign-in?to=${encodeURIComponent('javascript:window.pwned=1')}`,
      `/sign-in?problem=not-a-member&account=${encodeURIComponent(HOSTILE[1] ?? '')}`,
    ])('are plain text at %s', async (path) => {
      const page = await (path.startsWith('/sign-in') ? signInByForm(path) : browser.signIn(acme.admin, path));
      await waitUntilSettled(page);
      for (const summary of await page.locator('summary').all()) await summary.click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.evaluate('window.pwned')).toBeUndefined();
      expect(
        await page.evaluate('document.querySelectorAll("main script, main img, main b b, svg[onload]").length'),
      ).toBe(0);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1280);
    });

    it('are shown unchanged', async () => {
      const page = await browser.signIn(acme.admin, `/services/${acme.primary}`);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(HOSTILE[0]);
      await page.goto(`${browser.server.url}/keys`);
      await page
        .getByRole('table')
        .getByText(HOSTILE[1] ?? '', { exact: true })
        .first()
        .waitFor();
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('Search pages, services, dashboards and actions…').fill('<img');
      await page
        .getByRole('button', { name: HOSTILE[0] ?? '' })
        .first()
        .waitFor();
      expect(await page.evaluate('window.pwned')).toBeUndefined();
    });

    it('are plain text in confirmations and error messages', async () => {
      const page = await browser.signIn(acme.admin, '/keys');
      await page
        .getByRole('button', { name: `Actions for ${HOSTILE[0]}` })
        .first()
        .click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page
        .getByRole('dialog')
        .getByText(HOSTILE[0] ?? '', { exact: true })
        .waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Add address' }).click();
      await page.getByLabel('Address 1', { exact: true }).fill(HOSTILE[2] ?? '');
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog').getByText('The value must be an IPv4 or IPv6 address').waitFor();
      expect(await page.evaluate('window.pwned')).toBeUndefined();
    });
  },
  { fleet: hostileFleet, args: ['--max-keys', '10000'] },
);
