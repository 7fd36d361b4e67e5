import { expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import type { Json } from '../support/client.ts';
import { acme } from '../support/fleet.ts';
import { until } from '../support/until.ts';

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const chooseAction = async (page: Page, name: string, item: string) => {
  await row(page, name)
    .getByRole('button', { name: /Actions for/ })
    .click();
  await page.getByRole('menuitem', { name: item }).click();
};

inBrowser('tokens page', (browser) => {
  const path = `/v1/organizations/${acme.id}/dashboardTokens`;
  const list = async (): Promise<Json[]> => (await browser.server.call({ path, key: acme.admin })).json.result;
  const find = async (name: string) => (await list()).find((token) => token.name === name);
  const status = async (token: string) => (await browser.server.call({ path: '/api/v2/dashboards', token })).status;

  it.each([1280, 390])('creates, edits and deletes a token (%i px)', async (width) => {
    const name = `wallboard ${width}`;
    const page = await browser.signIn(acme.admin, '/tokens', { width });
    await page.getByRole('button', { name: 'Create token' }).click();
    const form = page.getByRole('form', { name: 'Create dashboard token' });
    await form.getByLabel('Name').fill(name);
    await form.getByRole('button', { name: 'Create token' }).click();
    const secret = (await page.getByTestId('token-secret').textContent()) ?? '';
    expect(secret).toMatch(/^pht_/);
    expect(await status(secret)).toBe(200);
    await expectAccessible(page);
    // The dialog with the secret closes only after a confirmation.
    await page.keyboard.press('Escape');
    expect(await page.getByTestId('token-secret').isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
    await page.getByLabel('I have saved the secret').check();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row(page, name).getByText('Read', { exact: true }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const days = (Date.parse((await find(name))?.expireAt) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(90);

    await chooseAction(page, name, 'Edit');
    const edit = page.getByRole('form', { name: `Edit token ${name}` });
    await edit.getByLabel('Name').fill(`${name} edited`);
    await edit.getByText('Read and write').click();
    await edit.getByRole('combobox', { name: 'Expires' }).click();
    await page.getByRole('option', { name: 'Never' }).click();
    await edit.getByRole('button', { name: 'Save changes' }).click();
    await row(page, `${name} edited`).getByText('Read and write').waitFor();
    expect(await find(`${name} edited`)).toMatchObject({ access: 'write', expireAt: null });
    expect(await status(secret)).toBe(200);

    await chooseAction(page, `${name} edited`, 'Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete this token?' });
    await dialog.getByText(`${name} edited`).waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row(page, `${name} edited`).waitFor({ state: 'detached' });
    expect(await status(secret)).toBe(401);
  });

  it('shows the last use, and errors at the fields', async () => {
    const { json } = await browser.server.call({ method: 'POST', path, key: acme.admin, body: { name: 'in use' } });
    await status(json.result.token);
    await until(
      async () => (await find('in use'))?.usedAt,
      (usedAt) => usedAt !== undefined,
      'the use of the token is not recorded',
    );
    const page = await browser.signIn(acme.admin, '/tokens');
    await row(page, 'in use')
      .getByText(/just now|ago/)
      .locator('visible=true')
      .waitFor();
    await chooseAction(page, 'in use', 'Edit');
    const form = page.getByRole('form', { name: 'Edit token in use' });
    await form.getByLabel('Name').fill('');
    await form.getByRole('combobox', { name: 'Expires' }).click();
    await page.getByRole('option', { name: 'At a specific time' }).click();
    await form.getByRole('button', { name: 'Save changes' }).click();
    await form.getByText('Select a time in the future').waitFor();
    await form.getByLabel('Expires at').fill('2099-01-01T12:00');
    await form.getByRole('button', { name: 'Save changes' }).click();
    await form.getByText('The value must not be empty').waitFor();
    expect(await find('in use')).toMatchObject({ expireAt: null });
  });

  it('is read-only without the admin role', async () => {
    const page = await browser.signIn(acme.developer, '/');
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByRole('heading', { name: 'Dashboard tokens' }).waitFor();
    await page.getByRole('table', { name: 'Dashboard tokens' }).getByRole('row').nth(1).waitFor();
    expect(await page.getByRole('button', { name: 'Create token' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Actions for/ }).count()).toBe(0);
  });

  it('is accessible and fits three widths, also with an open dialog', async () => {
    const page = await browser.signIn(acme.admin, '/tokens');
    await expectAccessible(page);
    await checkWidths(page, 'tokens');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByRole('form').getByText('Send telemetry').click();
    await page.getByText('Can send logs, traces and metrics with OpenTelemetry. Cannot read anything.').waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await checkWidths(page, 'create-token-dark');
  });
});
