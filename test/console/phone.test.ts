import { expect, it } from 'vitest';
import { expectAccessible, inBrowser, type Page, waitUntilSettled } from '../support/browser.ts';
import { acme, fleet } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { until } from '../support/until.ts';

const WIDTH = 390;
const today = new Date().toISOString().slice(0, 10);
const [organization, ...others] = fleet.organizations;
const usageCosts = [{ date: today, entityType: 'service', entityId: acme.primary, metrics: { computeCHC: 8 } }];

/** Fails if an enabled control of the page or dialog is outside the screen, covered, or smaller than 20 × 20 px. */
async function expectReachable(page: Page, scope = 'body'): Promise<void> {
  await waitUntilSettled(page);
  const unreachable = await page.evaluate(`(() => {
    const controls = [...document.querySelectorAll('${scope} :is(a[href], button, input, select, summary, [role=menuitem], [role=slider])')];
    const found = [];
    for (const control of controls) {
      if (control.disabled || !control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (control.closest('.ph-skip, [aria-hidden=true], [data-wide]')) continue;
      control.scrollIntoView({ block: 'center', inline: 'center' });
      const box = control.getBoundingClientRect();
      const name = control.getAttribute('aria-label') || control.textContent.trim() || control.outerHTML.slice(0, 80);
      if (box.left < -1 || box.right > innerWidth + 1) found.push(name + ': outside the screen');
      if (control.matches('button, [role=menuitem], summary') && (box.height < 20 || box.width < 20)) found.push(name + ': too small');
      const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      const label = control.closest('label') || control.parentElement;
      if (top && !control.contains(top) && !top.contains(control) && !label.contains(top)) found.push(name + ': covered by ' + top.outerHTML.slice(0, 80));
    }
    window.scrollTo(0, 0);
    return found;
  })()`);
  expect(unreachable).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(WIDTH);
}

const closeDialog = async (page: Page) => {
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};

inBrowser(
  'on a phone',
  (browser) => {
    const open = (path: string) => browser.signIn(acme.admin, path, { width: WIDTH });

    it('every page is reachable from the menu', async () => {
      const page = await open('/');
      for (const name of [
        'Services',
        'Costs',
        'Dashboards',
        'Telemetry',
        'Members',
        'Keys',
        'Roles',
        'Tokens',
        'Activity',
        'Overview',
      ]) {
        await page.getByRole('button', { name: 'Navigation' }).click();
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();
        await page.getByRole('heading', { level: 1, name: name === 'Tokens' ? 'Dashboard tokens' : name }).waitFor();
      }
      await page.getByRole('button', { name: 'Account and appearance' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
      await expectReachable(page, '[role=menu]');
    });

    it.each([
      ['overview', '/'],
      ['services', '/services'],
      ['service', `/services/${acme.primary}`],
      ['scaling', `/services/${acme.primary}/scaling`],
      ['access', `/services/${acme.primary}/access`],
      ['backups', `/services/${acme.primary}/backups`],
      ['costs', '/costs'],
      ['costs with filters', `/costs?day=${today}&entity=${acme.primary}&metric=compute&by=service`],
      ['keys', '/keys'],
      ['tokens', '/tokens'],
      ['search', '/search'],
      ['telemetry', '/telemetry'],
      ['activity', '/activity'],
    ])('every action of the %s page is on the screen', async (_, path) => {
      const page = await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectReachable(page, 'main');
      // The others have no data that they lack in pages.test.ts, which checks them at this width too.
      if (path.startsWith('/costs')) await expectAccessible(page);
    });

    it('both ways to sign in are on the screen', async () => {
      const page = await browser.open('/sign-in', { width: WIDTH });
      const form = page.getByRole('form', { name: 'Sign in' });
      await form.waitFor();
      await expectReachable(page);
      await form.getByText('Dashboard token').click();
      await form.getByRole('textbox', { name: 'Token' }).waitFor();
      await expectReachable(page);
    });

    it('a service can be created, and its passwords are on the screen', async () => {
      const page = await open('/services');
      await page.getByRole('button', { name: 'Create service' }).click();
      await page.getByTestId('new-service-cost').waitFor();
      await expectReachable(page, '[role=dialog]');
      await page.getByRole('form').getByLabel('Name').fill('from a phone');
      await page.getByRole('form').getByRole('button', { name: 'Create service' }).click();
      await page.getByTestId('service-password').waitFor();
      await expectReachable(page, '[role=dialog]');
      await page.getByLabel('I have saved the secret').check();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('link', { name: 'Access', exact: true }).click();
      await page.getByRole('button', { name: 'Reset password' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Reset password' }).click();
      await page.getByTestId('service-password').waitFor();
      await expectReachable(page, '[role=dialog]');
    });

    it('keys can be created, edited, rotated, disabled and deleted', async () => {
      await createKey(browser.server, { name: 'phone key', ipAccessList: [{ source: '127.0.0.1' }] });
      const page = await open('/keys');
      const choose = async (item: string) => {
        await page.getByRole('button', { name: /Actions for phone key/ }).click();
        await page.getByRole('menuitem', { name: item }).click();
        await page.getByRole('dialog').waitFor();
        await expectReachable(page, '[role=dialog]');
      };
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Add address' }).click();
      await expectReachable(page, '[role=dialog]');
      await closeDialog(page);
      for (const item of ['Edit', 'Rotate', 'Disable', 'Delete']) {
        await choose(item);
        await closeDialog(page);
      }
      await choose('Rotate');
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      await page.getByTestId('key-secret').waitFor();
      await expectReachable(page, '[role=dialog]');
    });

    it('budgets can be created, edited and deleted', async () => {
      const page = await open('/costs');
      await page.getByRole('button', { name: 'New budget' }).click();
      await expectReachable(page, '[role=dialog]');
      await page.getByRole('form').getByLabel('Name').fill('Phone budget');
      await page.getByRole('form').getByLabel('Monthly budget').fill('10');
      await page.getByRole('form').getByRole('button', { name: 'Create budget' }).click();
      await page.getByText('Saved budget Phone budget').waitFor();
      await page.getByRole('alert').getByRole('button').click();
      await page.getByText('Saved budget Phone budget').waitFor({ state: 'detached' });
      for (const item of ['Edit', 'Delete']) {
        await page.getByRole('button', { name: 'Actions for budget Phone budget' }).click();
        await page.getByRole('menuitem', { name: item }).click();
        await page.getByRole('dialog').waitFor();
        await expectReachable(page, '[role=dialog]');
        await closeDialog(page);
      }
      // The alerts are visible without the column of wide screens.
      await until(
        async () =>
          (await browser.server.call({ path: `/v1/organizations/${acme.id}/budgets`, key: acme.admin })).json.result,
        ([budget]) => budget.notices.length > 0,
        'no alert is raised',
      );
      await page.reload();
      await page
        .getByText(/50%.*: in the audit log/)
        .locator('visible=true')
        .waitFor();
      await page.getByRole('button', { name: 'Download' }).click();
      await expectReachable(page, '[role=menu]');
    });

    it('an activity can be opened and the audit log filtered', async () => {
      const page = await open('/activity');
      await page.getByRole('listitem').first().click();
      await page
        .getByRole('listitem')
        .first()
        .getByText(/console_sign_in|key_create|service_|budget_|create_organization/)
        .waitFor();
      await page.getByRole('combobox', { name: 'Resource type' }).click();
      await page.getByRole('option', { name: 'Keys', exact: true }).click();
      await page.waitForURL(/kind=key/);
      await expectReachable(page, 'main');
    });
  },
  { fleet: { organizations: [{ ...organization, usageCosts }, ...others] } },
);
