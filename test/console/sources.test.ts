import { expect, it } from 'vitest';
import { expectAccessible, inBrowser, type Page } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';

const row = (page: Page, name: string) => page.getByRole('table', { name: 'Sources' }).getByRole('row', { name });

inBrowser('sources page', (browser) => {
  const list = async () =>
    (await browser.server.call({ path: '/api/v2/sources', token: acme.token })).json.data as {
      id: string;
      name: string;
    }[];

  it('creates, edits and deletes a source, and shows the errors of the server at the fields', async () => {
    const page = await browser.signIn(acme.admin, '/sources');
    await page.getByRole('button', { name: 'Create source' }).click();
    const form = page.getByRole('form', { name: 'Create source' });
    await form.getByLabel('Name').fill('Nginx');
    await form.getByLabel('Table').fill('not a table');
    await form.getByRole('button', { name: 'Create source' }).click();
    await form.getByText(/must consist of letters, digits and _/).waitFor();
    await expectAccessible(page);
    await form.getByLabel('Table').fill('nginx_logs');
    await form.getByLabel('Text column').fill('Line');
    await form.getByRole('button', { name: 'Create source' }).click();
    await page.getByText('Created source Nginx').waitFor();
    const created = (await list()).find(({ name }) => name === 'Nginx');
    expect(created).toMatchObject({
      kind: 'log',
      from: { tableName: 'nginx_logs' },
      bodyExpression: 'Line',
      timestampValueExpression: 'Timestamp',
    });

    await row(page, 'Nginx').getByRole('button', { name: 'Actions for Nginx' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const edited = page.getByRole('form', { name: 'Edit source Nginx' });
    expect(await edited.getByLabel('Table').inputValue()).toBe('nginx_logs');
    await edited.getByLabel('Name').fill('Web server');
    await edited.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Saved source Web server').waitFor();
    expect((await list()).find(({ id }) => id === created?.id)).toEqual({ ...created, name: 'Web server' });

    await row(page, 'Web server').getByRole('button', { name: 'Actions for Web server' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row(page, 'Web server').waitFor({ state: 'detached' });
    expect((await list()).some(({ id }) => id === created?.id)).toBe(false);
  });

  it('offers no change of a source that the server does not change', async () => {
    const page = await browser.signIn(acme.admin, '/sources');
    await row(page, 'Pilothouse metrics').waitFor();
    for (const source of await list()) {
      const path = `/api/v2/sources/${source.id}`;
      const { status } = await browser.server.call({ method: 'PUT', path, token: acme.writer, body: source });
      const count = await page.getByRole('button', { name: `Actions for ${source.name}`, exact: true }).count();
      expect([source.name, count]).toEqual([source.name, status === 409 ? 0 : 1]);
    }
  });

  it('shows the columns of a source, also without write access', async () => {
    const page = await browser.signIn({ token: acme.token }, '/sources');
    expect(await page.getByRole('button', { name: 'Create source' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Columns of Logs', exact: true }).click();
    const columns = page.getByRole('dialog').getByRole('table', { name: 'Columns' });
    // The engine starts with this request.
    await columns.getByText('LogAttributes').waitFor({ timeout: 100_000 });
    await expectAccessible(page);
  });
});
