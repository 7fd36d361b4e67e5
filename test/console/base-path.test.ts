import { expect, it } from 'vitest';
import { fillSignIn, inBrowser } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';

inBrowser(
  'console with a base path',
  (browser) => {
    it('works from deep links to sign-out', async () => {
      const page = await browser.open(`/services/${acme.primary}`);
      await fillSignIn(page, acme.admin);
      await page.getByRole('heading', { name: 'analytics', level: 1 }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/tools/pilothouse/services/${acme.primary}`);
      await page.reload();
      await page.getByRole('link', { name: 'Keys' }).click();
      await page.getByRole('table', { name: 'Keys' }).getByText('developer').first().waitFor();
      expect(new URL(page.url()).pathname).toBe('/tools/pilothouse/keys');
      const [cookie] = await page.context().cookies();
      expect(cookie?.path).toBe('/tools/pilothouse/');
      await page.getByRole('button', { name: 'Account and appearance' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('form', { name: 'Sign in' }).waitFor();
    });

    it('accepts an invitation', async () => {
      const page = await browser.open('/members#create');
      await fillSignIn(page, acme.admin);
      await page.getByLabel('E-mail').fill('ada@example.com');
      await page.getByRole('form').getByRole('button', { name: 'Invite' }).click();
      const link = (await page.getByTestId('invitation-link').textContent()) ?? '';
      const invited = await browser.open(link);
      await invited.getByRole('button', { name: 'Join Acme' }).click();
      await invited.getByRole('heading', { name: 'Overview' }).waitFor();
      expect(new URL(invited.url()).pathname).toBe('/tools/pilothouse/');
    });
  },
  { args: ['--base-path', '/tools/pilothouse'] },
);
