import { expect, it } from 'vitest';
import { expectAccessible, inBrowser, type Page } from '../support/browser.ts';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';

inBrowser(
  'services',
  (browser) => {
    const path = `/v1/organizations/${acme.id}/services`;
    const find = async (name: string): Promise<Json> =>
      (await browser.server.call({ path, key: acme.admin })).json.result.find((service: Json) => service.name === name);
    const read = async (setting: string, service = acme.primary): Promise<Json> =>
      (await browser.server.call({ path: `${path}/${service}/${setting}`, key: acme.admin })).json.result;
    const dialog = (page: Page) => page.getByRole('dialog');

    it('creates, edits, stops and deletes a simulated service', async () => {
      const page = await browser.signIn(acme.admin, '/services');
      const row = (name: string) => page.getByRole('row').filter({ hasText: name });
      await row('analytics').getByText('Simulated · running').locator('visible=true').waitFor();
      await page.getByRole('button', { name: 'Create service' }).click();
      const form = page.getByRole('form', { name: 'Create service' });
      await form.getByRole('button', { name: 'Create service' }).click();
      await form.getByText('The value must not be empty').waitFor();
      await form.getByLabel('Name').fill('created here');

      // The size of a new service has the defaults and limits of the server, and a price.
      const price = page.getByTestId('new-service-cost');
      await price.getByText('0.00 – 9,832.59 CHC').waitFor();
      await form.getByLabel('Maximum memory (GB)').fill('357');
      await form.getByText('Must be between 8 and 356 GB').waitFor();
      await form.getByText('These settings are not valid, so they have no price.').waitFor();
      await form.getByLabel('Maximum memory (GB)').fill('32');
      await form.getByLabel('Replicas').fill('2');
      await price.getByText('0.00 – 1,748.02 CHC').waitFor();
      await form.getByRole('switch').click();
      await price.getByText('874.01 – 1,748.02 CHC').waitFor();
      await form.getByRole('button', { name: 'Create service' }).click();

      // Its page opens and shows the password, once.
      await dialog(page).getByText('Password for user default.').waitFor();
      const password = (await page.getByTestId('service-password').textContent()) ?? '';
      expect(password).toMatch(/^php_/);
      await page.getByRole('heading', { name: 'created here', level: 1, includeHidden: true }).waitFor();
      const { id, ...created } = await find('created here');
      expect(new URL(page.url()).pathname).toBe(`/services/${id}`);
      expect(created).toMatchObject({ maxReplicaMemoryGb: 32, numReplicas: 2, idleScaling: false });
      await dialog(page).getByText('No endpoint: the service is simulated').waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await page.getByLabel('I have saved the secret').check();
      await page.getByRole('button', { name: 'Done' }).click();
      await dialog(page).waitFor({ state: 'detached' });
      await page.reload();
      await page.getByText('Simulated: no process runs').waitFor();
      expect(await dialog(page).count()).toBe(0);
      expect(await page.content()).not.toContain(password);

      await page.getByRole('button', { name: 'Edit' }).click();
      const edit = page.getByRole('form', { name: 'Edit service' });
      await edit.getByLabel('Name').fill('renamed here');
      await edit.getByLabel('IP access list').fill('10.0.0.0/8');
      await edit.getByLabel('IP access list').press('Enter');
      await edit.getByLabel('Tags').fill('team=data');
      await edit.getByLabel('Tags').press('Enter');
      await edit.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'renamed here', level: 1 }).waitFor();
      expect(await find('renamed here')).toMatchObject({
        ipAccessList: [{ source: '10.0.0.0/8' }],
        tags: [{ key: 'team', value: 'data' }],
      });

      await page.getByRole('link', { name: 'Access', exact: true }).click();
      await page.getByRole('region', { name: 'IP access list' }).getByText('10.0.0.0/8').waitFor();
      await page.getByRole('button', { name: 'Reset password' }).click();
      await dialog(page).getByRole('button', { name: 'Reset password' }).click();
      expect(await page.getByTestId('service-password').textContent()).toMatch(/^php_/);
      await page.getByLabel('I have saved the secret').check();
      await page.getByRole('button', { name: 'Done' }).click();

      await page.getByRole('button', { name: 'Stop' }).click();
      await dialog(page).getByRole('button', { name: 'Stop service' }).click();
      await page.getByText('Simulated · stopped').waitFor();
      await page.getByRole('button', { name: 'Start' }).waitFor();
      await page.getByRole('button', { name: 'Delete' }).click();
      const confirm = dialog(page).getByRole('button', { name: 'Delete service' });
      expect(await confirm.isDisabled()).toBe(true);
      await dialog(page).getByLabel('Type renamed here to confirm').fill('renamed');
      expect(await confirm.isDisabled()).toBe(true);
      await dialog(page).getByLabel('Type renamed here to confirm').fill('renamed here');
      await confirm.click();
      await row('analytics').waitFor();
      await row('renamed here').waitFor({ state: 'detached' });
      expect(await find('renamed here')).toBeUndefined();
    });

    it.each([1280, 390])('the buttons that copy a password are inside the dialog (%i px)', async (width) => {
      const page = await browser.signIn(acme.admin, `/services/${acme.primary}/access`, { width });
      await page.getByRole('button', { name: 'Reset password' }).click();
      await dialog(page).getByRole('button', { name: 'Reset password' }).click();
      const copy = await page.getByRole('button', { name: 'Copy password' }).boundingBox();
      const box = await dialog(page).boundingBox();
      if (!copy || !box) throw new Error('nothing is shown');
      expect(copy.x).toBeGreaterThanOrEqual(box.x);
      expect(copy.x + copy.width).toBeLessThanOrEqual(box.x + box.width);
      expect(box.x + box.width).toBeLessThanOrEqual(width);
    });

    it('a simulated service is shown as simulated in the overview, the list, its page and the palette', async () => {
      const page = await browser.signIn(acme.admin, '/');
      const expectSimulated = async () => {
        const states = page.locator('[data-tone]:visible').filter({ hasText: /running/i });
        await states.first().waitFor();
        const tones = await states.evaluateAll((elements) =>
          elements.map((element) => element.getAttribute('data-tone')),
        );
        expect(new Set(tones)).toEqual(new Set(['simulated']));
      };
      await expectSimulated();
      for (const name of ['/services', `/services/${acme.primary}`]) {
        await page.goto(`${browser.server.url}${name}`);
        await expectSimulated();
      }
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('Search pages, services, dashboards and actions…').fill('reader');
      await page
        .getByRole('button', { name: /reader/ })
        .getByText('Simulated service')
        .waitFor();
    });

    it('each tab has an address and loads only its own script', async () => {
      const page = await browser.signIn(acme.admin, `/services/${acme.primary}`);
      const scripts: string[] = [];
      page.on('response', (response) => scripts.push(new URL(response.url()).pathname));
      const tabs = page.getByRole('navigation', { name: 'Service' });
      const names = ['Overview', 'SQL', 'Scaling', 'Autoscaling', 'Schedule', 'Backups', 'Access', 'Logs', 'History'];
      await tabs.getByRole('link', { name: 'History' }).waitFor();
      expect(await tabs.getByRole('link').allTextContents()).toEqual(names);
      for (const name of names.slice(1)) {
        await tabs.getByRole('link', { name, exact: true }).click();
        await page.waitForURL(`**/services/${acme.primary}/${name.toLowerCase()}`);
        // The keyboard stays on the tab.
        await tabs.locator('a[aria-current=page]:focus', { hasText: name }).waitFor();
      }
      expect(scripts.filter((script) => /(backups|logs|schedule)-tab/.test(script)).length).toBeGreaterThanOrEqual(3);
      await page.goto(`${browser.server.url}/services/${acme.primary}/logs`);
      await page.getByText('A simulated service has no process, so it has no log.').waitFor();
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(1000);
    });

    it('the schedule is edited, one window at a time', async () => {
      const page = await browser.signIn(acme.admin, `/services/${acme.primary}/schedule`);
      await page.getByText('No windows').waitFor();
      const add = async (name: string, fill: (form: ReturnType<Page['getByRole']>) => Promise<void>) => {
        await page.getByRole('button', { name: 'Add window' }).click();
        const form = page.getByRole('form', { name: 'Add window' });
        await form.getByLabel('Name').fill(name);
        await fill(form);
        await form.getByRole('button', { name: 'Add window' }).click();
      };
      await add('Working hours', async (form) => {
        await form.getByLabel('Minimum per replica (GB)').fill('24');
        await form.getByRole('button', { name: 'Add window' }).click();
        await form.getByText('must be given together').waitFor();
        await form.getByLabel('Maximum per replica (GB)').fill('64');
      });
      const row = (name: string) => page.getByRole('row').filter({ hasText: name });
      await row('Working hours').getByText('24–64 GB per replica').waitFor();
      await row('Working hours').getByText('Mon–Fri').waitFor();
      await add('Night', async (form) => {
        await form.getByLabel('Minimum replicas').fill('2');
        await form.getByLabel('Maximum replicas').fill('2');
      });
      await row('Night').getByText('2 replicas').waitFor();
      const [first, second] = (await read('scalingSchedule')).entries;
      expect(first).toMatchObject({ name: 'Working hours', minReplicaMemoryGb: 24, weekdays: [1, 2, 3, 4, 5] });
      expect(second).toMatchObject({ name: 'Night', minReplicas: 2 });

      await page.getByRole('button', { name: 'Actions for window Night' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      const edit = page.getByRole('form', { name: 'Edit window' });
      await edit.getByText('Sat', { exact: true }).click();
      await edit.getByRole('button', { name: 'Save' }).click();
      await row('Night').getByText('Mon–Sat').waitFor();
      // The other window is stored unchanged.
      expect((await read('scalingSchedule')).entries[0]).toMatchObject({ id: first.id });

      await page.getByRole('button', { name: 'Actions for window Working hours' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await dialog(page).getByRole('button', { name: 'Delete window' }).click();
      await row('Working hours').waitFor({ state: 'detached' });
      expect((await read('scalingSchedule')).entries).toMatchObject([{ name: 'Night' }]);
    });

    it('the backup configuration is edited, and the page says that a simulated service has no backups', async () => {
      const page = await browser.signIn(acme.admin, `/services/${acme.primary}/backups`);
      await page.getByText('This service is not backed up').waitFor();
      const form = page.getByRole('form', { name: 'Backup configuration' });
      await form.getByText('Once a day').click();
      await form.getByLabel('Start time (UTC)').fill('03:30');
      await form.getByLabel('Keep for (hours)').fill('12');
      await form.getByText('Must be at least the period of 24 hours').waitFor();
      await form.getByLabel('Keep for (hours)').fill('48');
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved the backup configuration of analytics').waitFor();
      expect(await read('backupConfiguration')).toEqual({
        backupPeriodInHours: 24,
        backupRetentionPeriodInHours: 48,
        backupStartTime: '03:30',
      });
      await form.getByText('Every few hours').click();
      await form.getByText('For every 24 hours, choose once a day').waitFor();
      await form.getByLabel('Hours between backups').fill('6');
      await form.getByRole('button', { name: 'Save' }).click();
      await expect
        .poll(() => read('backupConfiguration'))
        .toEqual({ backupPeriodInHours: 6, backupRetentionPeriodInHours: 48 });
    });

    it('the query endpoint is created and removed', async () => {
      const page = await browser.signIn(acme.admin, `/services/${acme.primary}/access`);
      const form = page.getByRole('form', { name: 'Query endpoint' });
      await page.getByText('query endpoints run queries of embedded services').waitFor();
      await form.getByText('This service has no query endpoint.').waitFor();
      await form.getByRole('combobox', { name: 'Keys' }).click();
      await page.getByRole('option', { name: 'query', exact: true }).click();
      await form.getByLabel('Allowed origins').fill('https://example.com');
      await form.getByRole('button', { name: 'Create query endpoint' }).click();
      await form.getByRole('button', { name: 'Save' }).waitFor();
      expect(await read('serviceQueryEndpoint')).toMatchObject({
        roles: ['sql_console_read_only'],
        allowedOrigins: 'https://example.com',
      });
      await form.getByRole('button', { name: 'Remove' }).click();
      await dialog(page).getByRole('button', { name: 'Remove' }).click();
      await form.getByText('This service has no query endpoint.').waitFor();
    });

    it('a reader sees services and cannot change them', async () => {
      const page = await browser.signIn(acme.developer, `/services/${acme.primary}`);
      await page.getByText('Simulated: no process runs').waitFor();
      for (const name of ['Edit', 'Stop']) expect(await page.getByRole('button', { name }).count()).toBe(0);
      await page.getByRole('link', { name: 'Access', exact: true }).click();
      await page.getByRole('region', { name: 'Password' }).waitFor();
      expect(await page.getByRole('button', { name: 'Reset password' }).count()).toBe(0);
      await page.getByRole('link', { name: 'Backups' }).click();
      await page.getByText('Your roles do not allow changing it').waitFor();
      await page.getByRole('link', { name: 'Schedule' }).click();
      await page.getByRole('region', { name: 'Scaling schedule', exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Add window' }).count()).toBe(0);
    });
  },
  { args: ['--simulated-transition', '300ms'] },
);
