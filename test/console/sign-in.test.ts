import { expect, it } from 'vitest';
import { fillSignIn, inBrowser, type Page } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';

const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();

inBrowser('sign-in', (browser) => {
  it('opens the requested page', async () => {
    const page = await browser.open(`/services/${acme.primary}?x=1`);
    await page.getByRole('heading', { name: 'Pilothouse' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await fillSignIn(page, acme.admin);
    await page.getByRole('heading', { name: 'analytics', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/services/${acme.primary}`);
  });

  it('never redirects to another host', async () => {
    const page = await browser.open('/sign-in?to=//example.com/x');
    await fillSignIn(page, acme.admin);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${browser.server.url}/`);
  });

  it('reports a wrong secret and keeps the input', async () => {
    const page = await browser.open('/');
    expect(await page.getByRole('textbox', { name: 'Key secret' }).getAttribute('type')).toBe('password');
    await fillSignIn(page, { ...acme.admin, keySecret: 'not it' });
    await page.getByRole('alert').getByText('The key ID or secret is incorrect').waitFor();
    expect(await page.getByLabel('Key ID').inputValue()).toBe(acme.admin.keyId);
  });

  it('reports a disabled key', async () => {
    const page = await browser.open('/');
    await fillSignIn(page, acme.disabled);
    await page.getByRole('alert').getByText('This key is disabled or has expired').waitFor();
  });

  it('stores no credentials that scripts can read', async () => {
    const page = await browser.signIn(acme.admin);
    const readable = await page.evaluate(
      'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href])',
    );
    expect(readable).not.toContain(acme.admin.keySecret);
    expect(readable).not.toContain(acme.admin.keyId);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({
      name: expect.stringMatching(/^pilothouse_session_[0-9a-f]{32}$/),
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
    });
    expect(readable).not.toContain(cookie?.value);
  });

  it('survives a reload and a second tab until sign-out', async () => {
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

  it('can be retried after the server was unreachable', async () => {
    const page = await browser.open('/sign-in');
    browser.allowConsoleError(/net::ERR|Cannot reach the server/);
    await page.route('**/console/session', (route) => route.abort());
    await page.goto(`${browser.server.url}/keys`);
    await page.getByRole('alert').getByText('Cannot reach the server').waitFor();
    await page.unroute('**/console/session');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
  });

  it('with the admin role shows all pages and actions', async () => {
    const page = await browser.signIn(acme.admin, '/keys');
    expect(await navigation(page)).toEqual([
      'Overview',
      'Services',
      'Costs',
      'Dashboards',
      'Search',
      'Traces',
      'Service map',
      'Alerts',
      'Channels',
      'Sources',
      'Telemetry',
      'Members',
      'Keys',
      'Roles',
      'Tokens',
      'Activity',
    ]);
    await page.getByRole('button', { name: 'Create key' }).waitFor();
  });

  it('with the developer role is read-only', async () => {
    const page = await browser.signIn(acme.developer, '/keys');
    await page.getByRole('table', { name: 'Keys' }).getByText('disabled').first().waitFor();
    expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Actions for/ }).count()).toBe(0);
    await page.goto(`${browser.server.url}/services/${acme.primary}/scaling`);
    await page.getByText('Your roles do not allow changing them').waitFor();
    expect(await page.getByLabel('Minimum per replica (GB)').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Save changes' }).count()).toBe(0);
  });

  it('with the query_endpoints role shows no pages', async () => {
    const page = await browser.signIn(acme.query);
    await page.getByText('The key query cannot access the console').waitFor();
    expect(await navigation(page)).toEqual([]);
  });

  it('with a token shows only dashboards and telemetry', async () => {
    const page = await browser.signIn({ token: acme.token });
    await page.getByRole('heading', { name: 'Dashboards', level: 1 }).waitFor();
    expect(await navigation(page)).toEqual([
      'Dashboards',
      'Search',
      'Traces',
      'Service map',
      'Alerts',
      'Channels',
      'Sources',
    ]);
  });

  it('is shown over the page when the session ends, without losing input', async () => {
    const { credentials } = await createKey(browser.server, { name: 'short', roles: ['admin'] });
    const page = await browser.signIn(credentials, `/services/${acme.primary}/scaling`);
    // Wait for the cost estimate: after the session ends, it would show the dialog before the click.
    await Promise.all([
      page.waitForResponse((response) => response.request().postData()?.includes('32') === true),
      page.getByLabel('Minimum per replica (GB)').fill('32'),
    ]);
    const [cookie] = await page.context().cookies();
    await fetch(`${browser.server.url}/console/session`, {
      method: 'DELETE',
      headers: { cookie: `${cookie?.name}=${cookie?.value}` },
    });
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    await fillSignIn(page, credentials);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Minimum per replica (GB)').inputValue()).toBe('32');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('analytics is now 32–120 GB × 3').waitFor();
  });
});
