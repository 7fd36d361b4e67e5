import { expect, it } from 'vitest';
import { expectAccessible, inBrowser } from '../support/browser.ts';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';

inBrowser(
  'services',
  (browser) => {
    const path = `/v1/organizations/${acme.id}/services`;
    const find = async (name: string): Promise<Json> =>
      (await browser.server.call({ path, key: acme.admin })).json.result.find((service: Json) => service.name === name);

    it('creates, edits, stops and deletes a simulated service', async () => {
      const page = await browser.signIn(acme.admin, '/services');
      const row = (name: string) => page.getByRole('row').filter({ hasText: name });
      await row('analytics').getByText('simulated').waitFor();
      await page.getByRole('button', { name: 'Create service' }).click();
      const form = page.getByRole('form', { name: 'Create service' });
      await form.getByRole('button', { name: 'Create service' }).click();
      await form.getByText('The value must not be empty').waitFor();
      await form.getByLabel('Name').fill('created here');
      await form.getByRole('button', { name: 'Create service' }).click();
      const password = (await page.getByTestId('service-password').textContent()) ?? '';
      expect(password).toMatch(/^php_/);
      await expectAccessible(page);
      await page.getByLabel('I have saved the secret').check();
      await page.getByRole('button', { name: 'Done' }).click();
      await row('created here').getByRole('link').click();

      await page.getByText('Simulated: no process runs').waitFor();
      await page.getByText('Running', { exact: true }).waitFor();
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

      await page.getByRole('button', { name: 'Reset password' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Reset password' }).click();
      expect(await page.getByTestId('service-password').textContent()).toMatch(/^php_/);
      await page.getByLabel('I have saved the secret').check();
      await page.getByRole('button', { name: 'Done' }).click();

      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Stop service' }).click();
      await page.getByText('Stopped', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Start' }).waitFor();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete service' }).click();
      await row('analytics').waitFor();
      await row('renamed here').waitFor({ state: 'detached' });
      expect(await find('renamed here')).toBeUndefined();
    });

    it('a reader sees services and cannot change them', async () => {
      const page = await browser.signIn(acme.developer, `/services/${acme.primary}`);
      await page.getByText('Simulated: no process runs').waitFor();
      for (const name of ['Edit', 'Stop', 'Reset password'])
        expect(await page.getByRole('button', { name }).count()).toBe(0);
    });
  },
  { args: ['--simulated-transition', '300ms'] },
);
