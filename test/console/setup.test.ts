import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import { getServerStore } from '../support/cli.ts';
import { EMPTY_FLEET, readSetupCode } from '../support/setup.ts';

const form = (page: Page) => page.getByRole('form', { name: 'Set up Pilothouse' });

inBrowser(
  'the first run',
  (browser) => {
    it('says where the code is, and rejects a wrong one without losing the input', async () => {
      const page = await browser.open('/services');
      await form(page).waitFor();
      expect(new URL(page.url()).pathname).toBe('/setup');
      await page.getByText('journalctl -u pilothouse').waitFor();
      await page.getByText('pilothouse init --name NAME').waitFor();
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectReadable(page);
      await checkWidths(page, 'setup');
      await form(page).getByLabel('Organization name').fill('Acme');
      await form(page).getByLabel('Setup code').fill('not-the-code');
      await form(page).getByRole('button', { name: 'Create organization' }).click();
      await form(page).getByText('This code is not valid').waitFor();
      expect(await form(page).getByLabel('Organization name').inputValue()).toBe('Acme');
    });

    it('creates the organization, shows the key once, offers a fleet file that changes nothing, and signs in', async () => {
      const code = await readSetupCode(browser.server);
      const page = await browser.open(`/setup#code=${code}`);
      expect(await form(page).getByLabel('Setup code').inputValue()).toBe(code);
      // Not kept in the history of the browser.
      await page.waitForURL(`${browser.server.url}/setup`);
      await form(page).getByLabel('Organization name').fill('Acme & Söhne');
      await form(page).getByRole('combobox', { name: 'Tier' }).click();
      await page.getByRole('option', { name: /Enterprise/ }).click();
      await form(page).getByRole('button', { name: 'Create organization' }).click();

      await page.getByRole('heading', { name: 'Acme & Söhne is ready' }).waitFor();
      const keySecret = (await page.getByTestId('key-secret').textContent()) ?? '';
      expect(keySecret).toMatch(/^phs_/);
      await expectAccessible(page);
      await checkWidths(page, 'setup-key');
      await page.getByLabel('I have saved the secret').check();
      await page.getByRole('button', { name: 'Done' }).click();

      await page.getByRole('heading', { name: 'Fleet file' }).waitFor();
      await expectAccessible(page);
      await checkWidths(page, 'setup-fleet-file');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('fleet.yaml');
      const fleet = readFileSync(await download.path(), 'utf8');
      expect(fleet).not.toContain(keySecret);
      expect(await getServerStore(browser.server).plan(fleet)).toEqual([]);

      await page.getByRole('button', { name: 'Open the console' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.getByText('Acme & Söhne · Enterprise tier').waitFor();
      expect(await page.content()).not.toContain(keySecret);

      // The page is of no use afterwards.
      await page.goto(`${browser.server.url}/setup#code=${code}`);
      await page.getByRole('form', { name: 'Sign in' }).waitFor();
    });
  },
  { fleet: EMPTY_FLEET, inProcess: false },
);
