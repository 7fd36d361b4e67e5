import { afterAll, expect, it } from 'vitest';
import { fillSignIn, inBrowser } from '../support/browser.ts';
import { createCertificateFiles } from '../support/certificates.ts';
import { acme } from '../support/fleet.ts';

const files = createCertificateFiles();
afterAll(files.remove);

inBrowser(
  'the console over HTTPS',
  (browser) => {
    it('signs in with a cookie that is sent over HTTPS only, and out again', async () => {
      expect(browser.server.url).toMatch(/^https:/);
      const page = await browser.open('/');
      await fillSignIn(page, acme.admin);
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      expect(await page.context().cookies()).toEqual([
        expect.objectContaining({ name: expect.stringMatching(/^__Host-pilothouse_session_/), secure: true }),
      ]);
      await page.reload();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.getByRole('button', { name: 'Account and appearance' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('form', { name: 'Sign in' }).waitFor();
      expect(await page.context().cookies()).toEqual([]);
    });
  },
  { args: ['--tls-cert', files.certFile, '--tls-key', files.keyFile] },
);
