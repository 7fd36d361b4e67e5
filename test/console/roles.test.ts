import { expect, it } from 'vitest';
import { expectAccessible, inBrowser, type Page } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { createPolicy, createRoleClient, ORGANIZATION, ROLES } from '../support/roles.ts';

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const chooseAction = async (page: Page, name: string, item: string) => {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

inBrowser('roles page', (browser) => {
  const client = () => createRoleClient(browser.server);
  const findRole = async (name: string) =>
    (await client().read(ROLES)).json.result.find((role: { name: string }) => role.name === name);

  it('creates, assigns, edits and deletes a custom role', async () => {
    const { credentials } = await createKey(browser.server, { name: 'pipeline', roles: ['query_endpoints'] });
    const page = await browser.signIn(acme.admin, '/roles');
    await row(page, 'query_endpoints').getByText('system', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create role' }).click();
    const form = page.getByRole('form', { name: 'Create role' });
    await form.getByLabel('Name').fill('scale analytics');
    // Errors of the server are shown at the fields.
    await form.getByRole('button', { name: 'Create role' }).click();
    await form.getByText('The list must have at least 1 element').waitFor();
    await form.getByRole('combobox', { name: 'Permissions' }).fill('instanceScalingUpdate');
    await page.keyboard.press('Enter');
    await form.getByRole('combobox', { name: 'Services' }).click();
    await page.getByRole('option', { name: 'analytics' }).click();
    await form.getByRole('combobox', { name: 'Keys' }).click();
    await page.getByRole('option', { name: /pipeline/ }).click();
    await form.getByLabel('Name').click();
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Create role' }).click();
    await row(page, 'scale analytics').getByText('pipeline').waitFor();
    expect(await findRole('scale analytics')).toMatchObject({
      policies: [createPolicy(['instanceScalingUpdate'], [`instance/${acme.primary}`])],
    });
    const scaling = `${ORGANIZATION}/services/${acme.primary}/scaling`;
    expect((await client().send('PATCH', scaling, {}, credentials)).status).toBe(200);

    await chooseAction(page, 'scale analytics', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('alert')
      .getByText(/The role is assigned to the keys pipeline/)
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();

    await chooseAction(page, 'scale analytics', 'Edit');
    const edit = page.getByRole('form', { name: 'Edit role scale analytics' });
    await edit.getByLabel('Name').fill('scale');
    await edit.getByText('Deny', { exact: true }).click();
    await edit.getByRole('combobox', { name: 'Keys' }).focus();
    await page.keyboard.press('Backspace');
    await edit.getByRole('button', { name: 'Save changes' }).click();
    await row(page, 'Deny instanceScalingUpdate').getByText('None').waitFor();
    expect((await client().send('PATCH', scaling, {}, credentials)).status).toBe(403);
    await chooseAction(page, 'scale', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row(page, 'Deny instanceScalingUpdate').waitFor({ state: 'detached' });
  });

  it('a key gets custom roles in its dialog, and its session shows what they allow', async () => {
    const { createRole } = client();
    const role = await createRole([
      createPolicy(['control-plane:service:view'], [`instance/${acme.secondary}`]),
      createPolicy(['control-plane:organization:view-api-keys', 'control-plane:organization:view']),
    ]);
    const { credentials } = await createKey(browser.server, { name: 'limited' });
    const admin = await browser.signIn(acme.admin, '/keys');
    await admin.getByRole('button', { name: /Actions for limited/ }).click();
    await admin.getByRole('menuitem', { name: 'Edit' }).click();
    const form = admin.getByRole('form', { name: 'Edit key limited' });
    await form.getByLabel('developer').uncheck();
    await form.getByRole('combobox', { name: 'Custom roles' }).click();
    await admin.getByRole('option', { name: role.name }).click();
    await form.getByLabel('Name').click();
    await form.getByRole('button', { name: 'Save changes' }).click();
    await row(admin, 'limited').getByText(role.name).locator('visible=true').first().waitFor();

    const page = await browser.signIn(credentials, '/');
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    await page.getByRole('link', { name: 'reader' }).waitFor();
    expect(await page.getByRole('link', { name: 'analytics' }).count()).toBe(0);
    const main = page.getByRole('navigation', { name: 'Main' });
    expect(await main.getByRole('link').allTextContents()).toEqual(['Services', 'Keys', 'Roles', 'Tokens']);
    await main.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('table', { name: 'Keys' }).getByRole('row').nth(1).waitFor();
    expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0);
  });
});
