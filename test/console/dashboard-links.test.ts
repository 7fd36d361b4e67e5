import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { board, RANGE, rows } from '../support/board.ts';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet } from '../support/fleet.ts';

const [organization, ...others] = fleet.organizations;

inBrowser(
  'read-only links to a dashboard',
  (browser) => {
    beforeAll(() => fillEngine(join(browser.server.directory, 'data'), rows));

    const dialog = (page: Page) => page.getByRole('dialog');

    async function openLinks(): Promise<Page> {
      const page = await browser.signIn(acme.admin, `/dashboards/board?${RANGE}`);
      await page.getByRole('button', { name: 'More actions', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Read-only links' }).click();
      await dialog(page).getByRole('form', { name: 'Create link' }).waitFor();
      return page;
    }

    /** Creates a link in the dialog and returns its URL. */
    async function createLink(page: Page, name: string): Promise<string> {
      await dialog(page).getByLabel('Name').fill(name);
      await dialog(page).getByRole('button', { name: 'Create link' }).click();
      const url = (await dialog(page).getByTestId('link-url').textContent()) ?? '';
      await dialog(page).getByLabel('I have saved the secret').check();
      await dialog(page).getByRole('button', { name: 'Done' }).click();
      return url;
    }

    const inRange = (url: string) => url.replace('#', `?${RANGE}#`);

    it('a link shows the dashboard without a session, and nothing else', async () => {
      const page = await openLinks();
      const url = await createLink(page, 'wall');
      expect(url).toMatch(/\/shared#phl_\w{49}$/);
      await dialog(page).getByRole('row', { name: /wall/ }).waitFor();
      await expectAccessible(page);
      await checkWidths(page, 'links-dialog');

      const visitor = await browser.open('/shared');
      await visitor.getByRole('heading', { name: 'This link does not work' }).waitFor();
      const paths: string[] = [];
      const secret = url.split('#')[1] ?? '';
      visitor.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (!pathname.startsWith('/assets/')) paths.push(pathname);
        expect(request.url()).not.toContain(secret);
        expect(request.headers().referer ?? '').not.toContain(secret);
      });
      const response = await visitor.goto('about:blank').then(() => visitor.goto(inRange(url)));
      expect(response?.headers()['referrer-policy']).toBe('no-referrer');
      await visitor.getByRole('heading', { name: 'Board', level: 1 }).waitFor();
      await visitor.getByText('Read-only. The link expires').waitFor();
      await visitor.locator('[data-tile="lines"] canvas').waitFor();
      await visitor.locator('[data-tile="sum"]').getByTestId('number').waitFor();
      await visitor.locator('[data-tile="text"]').scrollIntoViewIfNeeded();
      await visitor.getByText('On call').waitFor();
      await visitor.locator('[data-tile="search"]').getByRole('cell', { name: 'request 0 of api' }).first().waitFor();
      await expectAccessible(visitor);
      await checkWidths(visitor, 'shared-dashboard');
      expect(await visitor.getByRole('button', { name: /Rows of|Edit|More actions|full screen/ }).count()).toBe(0);
      expect([...new Set(paths.map((path) => path.split('/tiles/')[0]))].sort()).toEqual([
        '/console/config',
        '/console/session',
        '/console/shared-dashboard',
        '/shared',
      ]);
    });

    it('a visitor changes the range; the link stays in the address and works after a reload', async () => {
      const url = await createLink(await openLinks(), 'ranges');
      const visitor = await browser.open(inRange(url));
      await visitor.locator('[data-tile="lines"] canvas').waitFor();
      await visitor.getByRole('button', { name: /Time range/ }).click();
      await visitor.getByRole('dialog', { name: 'Time range' }).getByRole('button', { name: '6 hours' }).click();
      await visitor.waitForURL((address) => address.searchParams.get('last') === '6h');
      expect(visitor.url().split('#')[1]).toBe(url.split('#')[1]);
      await visitor.reload();
      await visitor.getByRole('heading', { name: 'Board', level: 1 }).waitFor();
      await visitor.emulateMedia({ colorScheme: 'dark' });
      await expectReadable(visitor);
    });

    it('a revoked link does not work from then on', async () => {
      const page = await openLinks();
      const url = await createLink(page, 'revoked');
      const visitor = await browser.open(url);
      await visitor.getByRole('heading', { name: 'Board', level: 1 }).waitFor();
      await dialog(page)
        .getByRole('button', { name: /^Revoke revoked/ })
        .click();
      await dialog(page)
        .getByRole('row', { name: /revoked/ })
        .waitFor({ state: 'detached' });
      await visitor.reload();
      await visitor.getByRole('heading', { name: 'This link does not work' }).waitFor();
      await checkWidths(visitor, 'shared-revoked');
      await page.keyboard.press('Escape');
      await page.goto(`${browser.server.url}/activity?kind=dashboard_link`);
      await page.getByText('revoked the link to a dashboard').first().waitFor();
    });

    it('people who cannot change dashboards cannot share them', async () => {
      const page = await browser.signIn(acme.developer, `/dashboards/board?${RANGE}`);
      await page.getByRole('button', { name: 'More actions', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Version history' }).waitFor();
      expect(await page.getByRole('menuitem', { name: 'Read-only links' }).count()).toBe(0);
    });
  },
  { fleet: { organizations: [{ ...organization, dashboards: [board] }, ...others] } },
);
