import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { inBrowser, type Page } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { createKey, readWithKey } from '../support/keys.ts';
import { until } from '../support/until.ts';

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const chooseAction = async (page: Page, name: string, item: string) => {
  await row(page, name)
    .getByRole('button', { name: /Actions for/ })
    .click();
  await page.getByRole('menuitem', { name: item }).click();
};
const readCredentials = async (page: Page) => ({
  keyId: (await page.getByTestId('key-id').textContent()) ?? '',
  keySecret: (await page.getByTestId('key-secret').textContent()) ?? '',
});

inBrowser('keys page', (browser) => {
  const status = async (key: { keyId: string; keySecret: string }) => (await readWithKey(browser.server, key)).status;
  const create = async (page: Page, name: string) => {
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    return dialog;
  };
  const confirmSaved = async (page: Page) => {
    await page.getByLabel('I have saved the secret').check();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };

  it('creates, disables, enables, rotates and deletes a key', async () => {
    const page = await browser.signIn(acme.admin, '/keys');
    const dialog = await create(page, 'whole life');
    await dialog.getByRole('button', { name: /Add my address \(127.0.0.1\)/ }).click();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByTestId('key-secret').waitFor();
    const key = await readCredentials(page);
    expect(await status(key)).toBe(200);

    const done = page.getByRole('button', { name: 'Done' });
    expect(await done.isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.getByTestId('key-secret').isVisible()).toBe(true);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`pilothouse-key-${key.keyId.slice(-4)}.env`);
    const file = readFileSync(await download.path(), 'utf8');
    expect(file).toContain(`KEY_ID=${key.keyId}\nKEY_SECRET=${key.keySecret}\n`);
    await confirmSaved(page);

    await row(page, 'whole life').getByText('127.0.0.1').waitFor();
    expect(await row(page, 'whole life').textContent()).toContain(`…${key.keyId.slice(-4)}`);
    expect(await page.content()).not.toContain(key.keySecret);

    await chooseAction(page, 'whole life', 'Disable');
    const confirmation = page.getByRole('dialog');
    expect(await confirmation.textContent()).toContain('whole life');
    await confirmation.getByRole('button', { name: 'Disable' }).click();
    await row(page, 'whole life').getByText('disabled').waitFor();
    expect(await status(key)).toBe(401);

    await chooseAction(page, 'whole life', 'Enable');
    await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
    await row(page, 'whole life').getByText('enabled').waitFor();
    expect(await status(key)).toBe(200);

    await chooseAction(page, 'whole life', 'Rotate');
    const rotation = page.getByRole('dialog', { name: 'Rotate this key?' });
    expect(await rotation.getByRole('combobox', { name: 'Grace period' }).inputValue()).toBe('24 hours');
    await rotation.getByRole('button', { name: 'Rotate' }).click();
    await page.getByTestId('key-secret').waitFor();
    const successor = await readCredentials(page);
    await confirmSaved(page);
    await page.getByText(/Rotated whole life. The old key \(….{4}\) works until/).waitFor();
    expect(await status(key)).toBe(200);
    expect(await status(successor)).toBe(200);
    await row(page, `…${key.keyId.slice(-4)}`)
      .getByText(/in \d+ hours|tomorrow/)
      .locator('visible=true')
      .waitFor();

    await chooseAction(page, `…${successor.keyId.slice(-4)}`, 'Rotate');
    await rotation.getByRole('combobox', { name: 'Grace period' }).click();
    await page.getByRole('option', { name: 'None: the old key stops working now' }).click();
    await rotation.getByLabel('Generate the secret in this browser').check();
    await rotation.getByRole('button', { name: 'Rotate' }).click();
    await page.getByTestId('key-secret').waitFor();
    const last = await readCredentials(page);
    await confirmSaved(page);
    await page.getByText(/no longer works/).waitFor();
    expect(await status(successor)).toBe(401);
    expect(await status(last)).toBe(200);
    // An expired key cannot be rotated.
    await row(page, `…${successor.keyId.slice(-4)}`)
      .getByRole('button', { name: /Actions for/ })
      .click();
    expect(await page.getByRole('menuitem', { name: 'Rotate' }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');

    await chooseAction(page, `…${key.keyId.slice(-4)}`, 'Delete');
    expect(await page.getByRole('dialog').textContent()).toContain(key.keyId.slice(-4));
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row(page, `…${key.keyId.slice(-4)}`).waitFor({ state: 'detached' });
  });

  it('generates a secret in the browser and sends only hashes', async () => {
    const page = await browser.signIn(acme.admin, '/keys');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.postData() ?? ''));
    const dialog = await create(page, 'hashed');
    await dialog.getByLabel('Generate the secret in this browser').check();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByTestId('key-secret').waitFor();
    const key = await readCredentials(page);
    expect(key.keyId).toMatch(/^[A-Za-z0-9]{20}$/);
    expect(sent.join()).not.toContain(key.keySecret);
    expect(sent.join()).not.toContain(key.keyId);
    expect(await status(key)).toBe(200);
    await confirmSaved(page);
  });

  it('shows errors at the fields', async () => {
    const page = await browser.signIn(acme.admin, '/keys');
    const dialog = await create(page, 'wrong');
    await dialog.getByRole('button', { name: 'Add address' }).click();
    await dialog.getByLabel('Address 1', { exact: true }).fill('127.1');
    await dialog.getByLabel('developer').uncheck();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('Select at least one role').waitFor();
    await dialog.getByLabel('developer').check();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('The value must be an IPv4 or IPv6 address or a CIDR.').waitFor();
    expect(await dialog.getByLabel('Address 1', { exact: true }).inputValue()).toBe('127.1');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('wrong');
  });

  it('sets the expiration of a key', async () => {
    const page = await browser.signIn(acme.admin, '/keys');
    const dialog = await create(page, 'brief');
    await dialog.getByRole('combobox', { name: 'Expires' }).click();
    await page.getByRole('option', { name: 'In 30 days' }).click();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await confirmSaved(page);
    const { json } = await browser.server.call({ path: `/v1/organizations/${acme.id}/keys`, key: acme.admin });
    const { expireAt } = json.result.find(({ name }: { name: string }) => name === 'brief');
    const days = (Date.parse(expireAt) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
    await row(page, 'expired').first().getByText('expired').first().waitFor();
  });

  it('edits the name, roles, expiry and IP access list, without overwriting concurrent changes', async () => {
    const { id } = await createKey(browser.server, { name: 'to edit', ipAccessList: [{ source: '10.0.0.0/8' }] });
    const path = `/v1/organizations/${acme.id}/keys/${id}`;
    const stored = async () => (await browser.server.call({ path, key: acme.admin })).json.result;
    const page = await browser.signIn(acme.admin, '/keys');
    await chooseAction(page, 'to edit', 'Edit');
    const form = page.getByRole('form', { name: 'Edit key to edit' });
    expect(await form.getByLabel('Address 1', { exact: true }).inputValue()).toBe('10.0.0.0/8');
    await form.getByLabel('Name').fill('edited');
    await form.getByLabel('admin').check();
    await form.getByLabel('Address 1', { exact: true }).fill('10.1');
    await form.getByRole('button', { name: 'Save changes' }).click();
    await form.getByText('The value must be an IPv4 or IPv6 address or a CIDR.').waitFor();
    await form.getByLabel('Address 1', { exact: true }).fill('10.1.0.0/16');
    await form.getByRole('combobox', { name: 'Expires' }).click();
    await page.getByRole('option', { name: 'In 90 days' }).click();
    await browser.server.call({ method: 'PATCH', path, key: acme.admin, body: { state: 'disabled' } });
    await form.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Saved key edited').waitFor();
    await row(page, 'edited').getByText('disabled').waitFor();
    expect(await stored()).toMatchObject({
      name: 'edited',
      state: 'disabled',
      roles: expect.arrayContaining(['developer', 'admin']),
      ipAccessList: [{ source: '10.1.0.0/16' }],
    });
    expect(Math.round((Date.parse((await stored()).expireAt) - Date.now()) / 86_400_000)).toBe(90);
    await chooseAction(page, 'edited', 'Edit');
    const second = page.getByRole('form', { name: 'Edit key edited' });
    await second.getByRole('combobox', { name: 'Expires' }).click();
    await page.getByRole('option', { name: 'Never' }).click();
    await second.getByRole('button', { name: 'Remove address 1' }).click();
    await second.getByRole('button', { name: 'Save changes' }).click();
    await second.waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject({ expireAt: null, ipAccessList: [] });
  });

  it('keeps a key when the server rejects its deletion', async () => {
    const { credentials } = await createKey(browser.server, { name: 'self', roles: ['admin'] });
    const page = await browser.signIn(credentials, '/keys');
    await chooseAction(page, 'self', 'Delete');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('you will be signed out').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByText('A key cannot delete itself').waitFor();
  });

  it('shows when and by which key or program a key was created, and its history', async () => {
    const { id } = await createKey(browser.server, { name: 'with history' });
    await browser.server.call({
      method: 'PATCH',
      path: `/v1/organizations/${acme.id}/keys/${id}`,
      key: acme.admin,
      body: { name: 'with a history' },
    });
    const page = await browser.signIn(acme.developer, '/keys');
    const created = row(page, 'with a history');
    await created.getByText('by admin').waitFor();
    await row(page, 'query')
      .first()
      .getByText(/by pilothouse fleet, /)
      .waitFor();
    await created.getByRole('link', { name: /^History of with a history/ }).click();
    await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get('resource')).toBe(id);
    const entries = page.getByRole('list', { name: 'Activity' }).getByRole('listitem');
    await page.getByText('2 entries').waitFor();
    expect(await entries.count()).toBe(2);
    await page.getByRole('button', { name: 'Show the changes of all resources' }).click();
    await page.waitForURL(`${browser.server.url}/activity`);
  });

  const findAction = async (page: Page, text: string) => {
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search pages, services, dashboards and actions…').fill(text);
  };

  it('the command palette asks before it stops a service', async () => {
    const page = await browser.signIn(acme.admin);
    const path = `/v1/organizations/${acme.id}/services/${acme.secondary}`;
    const readState = async () => (await browser.server.call({ path, key: acme.admin })).json.result.state;
    const dialog = page.getByRole('dialog', { name: 'Stop service' });
    await findAction(page, 'stop reader');
    await page.getByRole('button', { name: /^Stop reader/ }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await readState()).toBe('running');
    await findAction(page, 'reader stop');
    await page.getByRole('button', { name: /^Stop reader/ }).click();
    await dialog.getByRole('button', { name: 'Stop service' }).click();
    await until(readState, (state) => state === 'stopped', 'the service does not stop');
  });

  it('the command palette opens the dialog that creates a key', async () => {
    const page = await browser.signIn(acme.admin);
    await findAction(page, 'create key');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('form', { name: 'Create API key' }).waitFor();
    expect(page.url()).toBe(`${browser.server.url}/keys`);
  });

  it('the command palette offers a developer nothing that changes a service', async () => {
    const page = await browser.signIn(acme.developer);
    await findAction(page, 'analytics');
    await page.getByRole('button', { name: /^Open analytics/ }).waitFor();
    for (const verb of ['Stop', 'Start', 'Wake', 'Scale'])
      expect(await page.getByRole('button', { name: new RegExp(`^${verb} analytics`) }).count()).toBe(0);
  });
});
