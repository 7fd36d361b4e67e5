import { expect, it } from 'vitest';
import { fillSignIn, inBrowser, type Page } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { madeKey } from '../support/keys.ts';

const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();

inBrowser('signing in', (browser) => {
  it('leads to the page that was asked for', async () => {
    const page = await browser.open(`/services/${acme.primary}?x=1`);
    await page.getByRole('heading', { name: 'Pilothouse' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await fillSignIn(page, acme.admin);
    await page.getByRole('heading', { name: 'analytics', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/services/${acme.primary}`);
  });

  it('never leads to another host', async () => {
    const page = await browser.open('/sign-in?to=//example.com/x');
    await fillSignIn(page, acme.admin);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${browser.server.url}/`);
  });

  it('says when the secret is wrong and keeps what was typed', async () => {
    const page = await browser.open('/');
    await fillSignIn(page, { ...acme.admin, keySecret: 'not it' });
    await page.getByRole('alert').getByText('No key has this id and this secret').waitFor();
    expect(await page.getByLabel('Key id').inputValue()).toBe(acme.admin.keyId);
  });

  it('says when the key is disabled', async () => {
    const page = await browser.open('/');
    await fillSignIn(page, acme.disabled);
    await page.getByRole('alert').getByText('This key is disabled or has expired').waitFor();
  });

  it('leaves nothing a script could read', async () => {
    const page = await browser.signIn(acme.admin);
    const readable = await page.evaluate(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href])',
    );
    expect(readable).not.toContain(acme.admin.keySecret);
    expect(readable).not.toContain(acme.admin.keyId);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'pilothouse_session', httpOnly: true, sameSite: 'Strict', path: '/' });
    expect(readable).not.toContain(cookie?.value);
  });

  it('lasts over a reload and in a second tab, until somebody signs out', async () => {
    const page = await browser.signIn(acme.admin);
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const second = await page.context().newPage();
    await second.goto(`${browser.server.url}/keys`);
    await second.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.getByRole('link', { name: 'Services' }).first().click();
    await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();

    await page.getByRole('button', { name: 'Account and appearance' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
    await page.goto(`${browser.server.url}/keys`);
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
  });

  it('can be tried again after the server was away', async () => {
    const page = await browser.open('/sign-in');
    browser.expectComplaint(/net::ERR|The server cannot be reached/);
    await page.route('**/console/session', (route) => route.abort());
    await page.goto(`${browser.server.url}/keys`);
    await page.getByRole('alert').getByText('The server cannot be reached').waitFor();
    await page.unroute('**/console/session');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
  });

  it('with the role admin offers everything', async () => {
    const page = await browser.signIn(acme.admin, '/keys');
    expect(await navigation(page)).toEqual(['Overview', 'Services', 'Costs', 'Dashboards', 'Keys', 'Activity']);
    await page.getByRole('button', { name: 'Create key' }).waitFor();
  });

  it('with the role developer offers looking, and no changing', async () => {
    const page = await browser.signIn(acme.developer, '/keys');
    await page.getByRole('table', { name: 'Keys' }).getByText('disabled').first().waitFor();
    expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /What to do with/ }).count()).toBe(0);
    await page.goto(`${browser.server.url}/services/${acme.primary}`);
    await page.getByText('A key with the role admin may change it').waitFor();
    expect(await page.getByLabel('Smallest, GB').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Save changes' }).count()).toBe(0);
  });

  it('with the role query_endpoints says that there is nothing to see', async () => {
    const page = await browser.signIn(acme.query);
    await page.getByText('The key query may not read here').waitFor();
    expect(await navigation(page)).toEqual([]);
  });

  it('with a token opens the dashboards alone', async () => {
    const page = await browser.signIn({ token: acme.token });
    await page.getByRole('heading', { name: 'Dashboards', level: 1 }).waitFor();
    expect(await navigation(page)).toEqual(['Dashboards']);
  });

  it('is asked for again over the page when the session ends, and nothing typed is lost', async () => {
    const { credentials } = await madeKey(browser.server, { name: 'short', roles: ['admin'] });
    const page = await browser.signIn(credentials, `/services/${acme.primary}`);
    await page.getByLabel('Smallest, GB').fill('96');
    const [cookie] = await page.context().cookies();
    await fetch(`${browser.server.url}/console/session`, {
      method: 'DELETE',
      headers: { cookie: `pilothouse_session=${cookie?.value}` },
    });
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    await fillSignIn(page, credentials);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Smallest, GB').inputValue()).toBe('96');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('analytics is now 32–120 GB × 3').waitFor();
  });
});
