import { describe, expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, fillSignIn, inBrowser, type Page } from '../support/browser.ts';
import type { Json } from '../support/client.ts';
import { acme, fleet, globex } from '../support/fleet.ts';
import { useProvider } from '../support/oidc.ts';
import { runSql } from '../support/store-sql.ts';

const RULES: Record<string, object[]> = {
  [acme.id]: [{ claim: 'groups', value: 'platform-admins', roles: ['admin'] }],
  [globex.id]: [{ claim: 'groups', value: 'globex', roles: ['developer'] }],
};
const withRules = {
  organizations: fleet.organizations.map((organization: Json) => ({
    ...organization,
    ...(RULES[organization.id] && { memberRules: RULES[organization.id] }),
  })),
};
const menu = async (page: Page, item: string) => {
  await page.getByRole('button', { name: 'Account and appearance' }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

const createAdminKey = async (page: Page, name: string) => {
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('form', { name: 'Create API key' });
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('admin').check();
  await form.getByRole('button', { name: 'Create key' }).click();
};

describe('identity provider', () => {
  const provider = useProvider();
  const options = {
    fleet: withRules,
    get args() {
      return [...provider.args, '--oidc-refresh', '60m'];
    },
  };
  inBrowser(
    'sign-in with it',
    (browser) => {
      const providerButton = (page: Page) =>
        page.getByRole('link', { name: `Sign in with ${new URL(provider.issuer).host}` });

      async function open(path: string): Promise<Page> {
        browser.allowHost(/http:\/\/127\.0\.0\.1:\d+\//);
        // The pages of the provider use a font of another host.
        browser.allowHost(/https:\/\/fonts\.googleapis\.com\//);
        const page = await browser.open('/sign-in');
        await page.context().route('https://fonts.googleapis.com/**', (route) => route.abort());
        if (path !== '/sign-in') await page.goto(browser.server.url + path);
        return page;
      }

      /** Signs in at the provider, and consents if it asks. */
      async function signInThere(page: Page, login: string, consents = true): Promise<void> {
        await page.getByPlaceholder('Enter any login').fill(login);
        await page.getByPlaceholder('and password').fill('any');
        await page.getByRole('button', { name: 'Sign-in' }).click();
        if (consents) await page.getByRole('button', { name: 'Continue' }).click();
      }

      const addAccount = (login: string, claims: object) =>
        provider.accounts.set(login, { email: `${login}@example.com`, email_verified: true, name: login, ...claims });

      it('opens the requested page after consent, and signs out at the provider too', async () => {
        addAccount('ada', { name: 'Ada Lovelace', groups: ['platform-admins'] });
        const page = await open(`/services/${acme.primary}?x=1`);
        // Keys are an alternative.
        expect(await page.getByRole('form', { name: 'Sign in' }).count()).toBe(0);
        await expectAccessible(page);
        await checkWidths(page, 'sign-in-provider');
        await page.emulateMedia({ colorScheme: 'dark' });
        await expectReadable(page);
        await providerButton(page).click();
        await signInThere(page, 'ada');
        await page.getByRole('heading', { name: 'analytics', level: 1 }).waitFor();
        expect(new URL(page.url()).pathname).toBe(`/services/${acme.primary}`);
        await page.reload();
        await page.getByRole('button', { name: 'Account and appearance' }).click();
        await page.getByText('Signed in as').waitFor();
        await page.getByText('Ada Lovelace <ada@example.com>').waitFor();
        await page.getByRole('menuitem', { name: 'Sign out' }).click();
        await page.getByRole('button', { name: 'Yes, sign me out' }).click();
        await providerButton(page).waitFor();
        expect(new URL(page.url()).pathname).toBe('/sign-in');
        // The provider asks again.
        await providerButton(page).click();
        await page.getByPlaceholder('Enter any login').waitFor();
      });

      it('names the account that is not a member, and explains other problems', async () => {
        addAccount('mallory', { name: 'Mallory <b>x</b>', email: '' });
        const page = await open('/sign-in');
        await providerButton(page).click();
        await signInThere(page, 'mallory');
        await page
          .getByRole('alert')
          .getByText('Mallory <b>x</b> is not a member of an organization here. Ask an administrator for an invitation')
          .waitFor();
        await expectAccessible(page);
        const sentences: [code: string, sentence: string][] = [
          ['no-provider', 'This server has no identity provider'],
          ['provider-unavailable', 'The identity provider cannot be reached'],
          ['denied', 'The identity provider did not allow this sign-in'],
          ['expired', 'This sign-in took too long or was already used'],
          ['invalid-response', 'The response of the identity provider was not accepted'],
          ['too-many-attempts', 'There were too many attempts from your address'],
          ['something-new', 'The sign-in failed. Try again.'],
          ['not-a-member&account=123', '123 is not a member'],
        ];
        for (const [code, sentence] of sentences) {
          await page.goto(`${browser.server.url}/sign-in?problem=${code}`);
          await page.getByRole('alert').getByText(sentence).waitFor();
        }
        // A key still works.
        await page.getByRole('button', { name: 'Use an API key' }).click();
        await fillSignIn(page, acme.admin);
        await page.getByRole('heading', { name: 'Overview' }).waitFor();
      });

      it('an invited person joins by signing in', async () => {
        addAccount('invited', {});
        const { json } = await browser.server.call({
          method: 'POST',
          path: `/v1/organizations/${acme.id}/invitations`,
          key: acme.admin,
          body: { email: 'invited@example.com' },
        });
        const page = await open(json.result.path);
        await page.getByText('Sign in with an account that has the verified address invited@example.com.').waitFor();
        await expectAccessible(page);
        await providerButton(page).click();
        await signInThere(page, 'invited');
        await page.getByRole('link', { name: 'Members' }).click();
        await page.getByRole('row').filter({ hasText: 'invited@example.com' }).getByText('developer').waitFor();
      });

      it('switches between organizations, and asks for a fresh sign-in', async () => {
        addAccount('both', { groups: ['platform-admins', 'globex'] });
        const page = await open('/sign-in');
        await providerButton(page).click();
        await signInThere(page, 'both');
        await page.getByRole('heading', { level: 1 }).waitFor();
        const banner = page.getByRole('banner');
        const names = new Map(fleet.organizations.map(({ id, name }: Json) => [id, name]));
        await menu(page, names.get(globex.id) ?? '');
        await banner.getByText(names.get(globex.id) ?? '', { exact: true }).waitFor();
        await menu(page, names.get(acme.id) ?? '');
        await banner.getByText(names.get(acme.id) ?? '', { exact: true }).waitFor();

        // Roles from the member rules cannot be removed.
        await page.goto(`${browser.server.url}/members`);
        await page.getByRole('row').filter({ hasText: 'both@example.com' }).getByText('admin (from a rule)').waitFor();
        await page.getByRole('button', { name: 'Actions for both' }).click();
        await page.getByRole('menuitem', { name: 'Change roles' }).click();
        expect(await page.getByRole('form').getByLabel('admin').isDisabled()).toBe(true);
        await page.getByRole('button', { name: 'Cancel' }).click();

        // As if the person had signed in long ago.
        await runSql(browser.server, 'UPDATE console_sessions SET authenticated_at = 1');
        await page.getByRole('link', { name: 'Keys', exact: true }).click();
        await createAdminKey(page, 'by both');
        const dialog = page.getByRole('dialog', { name: 'Sign in again to continue' });
        await dialog.waitFor();
        await expectAccessible(page);
        await dialog.getByRole('link', { name: /^Sign in with/ }).click();
        // The provider asks although the person is signed in there.
        await signInThere(page, 'both', false);
        await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
        await createAdminKey(page, 'by both');
        await page.getByTestId('key-secret').waitFor();
      });

      it('continues in an open page after a sign-in in another tab', async () => {
        addAccount('grace', { groups: ['platform-admins'] });
        const page = await open('/keys');
        await providerButton(page).click();
        await signInThere(page, 'grace');
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('form').getByLabel('Name').fill('not lost');
        await page.context().clearCookies({ name: /^pilothouse_session/ });
        await page.getByRole('form').getByRole('button', { name: 'Create key' }).click();
        const dialog = page.getByRole('dialog', { name: 'Sign in again' });
        const [tab] = await Promise.all([
          page.context().waitForEvent('page'),
          dialog.getByRole('link', { name: /^Sign in with/ }).click(),
        ]);
        // Grace is still signed in at the provider.
        await tab.getByRole('button', { name: 'Account and appearance' }).waitFor();
        await page.evaluate('window.dispatchEvent(new Event("focus"))');
        await dialog.waitFor({ state: 'detached' });
        expect(await page.getByRole('form').getByLabel('Name').inputValue()).toBe('not lost');
      });
    },
    options,
  );
});

inBrowser(
  'sign-in without keys and an identity provider',
  (browser) => {
    it('says how to sign in', async () => {
      const page = await browser.open('/keys');
      await page.getByText('This server does not accept keys in the console. Open an invitation link').waitFor();
      expect(await page.getByRole('form').count()).toBe(0);
      expect(await page.getByRole('button').count()).toBe(0);
    });
  },
  { args: ['--console-key-sign-in', 'off'] },
);
