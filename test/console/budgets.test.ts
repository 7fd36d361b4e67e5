import { expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';

const HOSTILE = '<img src=x onerror="window.pwned=1">';

inBrowser('budgets', (browser) => {
  const path = `/v1/organizations/${acme.id}/budgets`;
  const stored = async () => (await browser.server.call({ path, key: acme.admin })).json.result;
  const createBudget = async (body: object) =>
    (await browser.server.call({ method: 'POST', path, key: acme.admin, body })).json.result;
  const row = (page: Page, name: string) => page.getByRole('table', { name: 'Budgets' }).getByRole('row', { name });
  const chooseAction = async (page: Page, name: string, item: 'Edit' | 'Delete') => {
    await page.getByRole('button', { name: `Actions for budget ${name}`, exact: true }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };

  it('can be created, with errors at the fields and a secret that is shown once', async () => {
    const page = await browser.signIn(acme.admin, '/costs');
    await page.getByText('No budgets yet').waitFor();
    await page.getByRole('button', { name: 'New budget' }).click();
    const form = page.getByRole('form', { name: 'New budget' });
    const create = form.getByRole('button', { name: 'Create' });
    await create.click();
    await form.getByText('Enter a monthly amount.').waitFor();
    await form.getByLabel('Monthly budget').fill('-5');
    await form.getByLabel('Name').fill('Whole fleet');
    await form.getByRole('combobox', { name: 'Alert at' }).fill('12.5');
    await page.keyboard.press('Enter');
    await create.click();
    await form.getByText('The value must be an integer percentage').waitFor();
    await page.keyboard.press('Escape');
    expect(await stored()).toEqual([]);

    await page.getByRole('button', { name: 'New budget' }).click();
    await form.getByLabel('Name').fill('Whole fleet');
    await form.getByLabel('Monthly budget').fill('-5');
    await create.click();
    await form.getByText('The value must be greater than 0').waitFor();
    await form.getByLabel('Monthly budget').fill('123456.5');
    await form.getByLabel('Webhook URL').fill('http://127.0.0.1/hook');
    await create.click();
    await form.getByText('The address is private').waitFor();
    await expectAccessible(page);
    await form.getByLabel('Webhook URL').fill('https://hooks.example.com/path/token');
    await create.click();
    const secret = await page.getByTestId('signing-secret').textContent();
    expect(secret?.length).toBeGreaterThan(15);
    await page.keyboard.press('Escape');
    await expectAccessible(page);
    await page.getByLabel('I have saved the secret').click();
    await page.getByRole('button', { name: 'Done' }).click();
    await row(page, 'Whole fleet').getByText('123,456.50 CHC').waitFor();
    await row(page, 'Whole fleet').getByText('Webhook: https://hooks.example.com').waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(await stored()).toMatchObject([
      { name: 'Whole fleet', monthlyCHC: 123_456.5, thresholds: [50, 75, 90, 100, 'forecast'] },
    ]);
  });

  it('can be edited without overwriting concurrent changes to other fields', async () => {
    const { id } = await createBudget({ name: 'Mine', monthlyCHC: 50_000, thresholds: [80] });
    const page = await browser.signIn(acme.admin, '/costs');
    await chooseAction(page, 'Mine', 'Edit');
    const form = page.getByRole('form', { name: 'Edit budget Mine' });
    await form.getByLabel('Monthly budget').fill('60000');
    await form.getByLabel('Alert when the forecast').check();
    await browser.server.call({ method: 'PATCH', path: `${path}/${id}`, key: acme.admin, body: { name: 'Theirs' } });
    await form.getByRole('button', { name: 'Save' }).click();
    await row(page, 'Theirs').getByText('60,000.00 CHC').waitFor();
    expect((await stored()).find((one: { id: string }) => one.id === id)).toMatchObject({
      name: 'Theirs',
      monthlyCHC: 60_000,
      thresholds: [80, 'forecast'],
    });
    await chooseAction(page, 'Theirs', 'Edit');
    await page.getByRole('form').getByLabel('Name').fill('');
    await page.getByRole('form').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('form').getByText('The value must not be empty').waitFor();
  });

  it('can be deleted after a confirmation with the name', async () => {
    await createBudget({ name: HOSTILE, monthlyCHC: 70_000 });
    const page = await browser.signIn(acme.admin, '/costs');
    await chooseAction(page, HOSTILE, 'Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete this budget?' });
    await dialog.getByText(HOSTILE).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await chooseAction(page, HOSTILE, 'Delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Deleted budget').waitFor();
    await row(page, HOSTILE).waitFor({ state: 'detached' });
    expect((await stored()).map(({ name }: { name: string }) => name)).not.toContain(HOSTILE);
    expect(await page.evaluate('window.pwned')).toBeUndefined();
  });

  it('are read-only without the admin role', async () => {
    await createBudget({ name: 'Read-only', monthlyCHC: 80_000 });
    const page = await browser.signIn(acme.developer, '/costs');
    await row(page, 'Read-only').waitFor();
    expect(await page.getByRole('button', { name: 'New budget' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Actions for budget/ }).count()).toBe(0);
  });

  it('are accessible and fit three widths', async () => {
    await createBudget({
      name: 'A budget',
      monthlyCHC: 90_000.000001,
      webhook: { url: 'https://hooks.example.com/x' },
    });
    const page = await browser.signIn(acme.admin, '/costs');
    await row(page, 'A budget').waitFor();
    await expectAccessible(page);
    await checkWidths(page, 'budgets');
    await page.setViewportSize({ width: 1280, height: 900 });
    await chooseAction(page, 'A budget', 'Edit');
    await page.getByRole('form').waitFor();
    await checkWidths(page, 'budget-form');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await checkWidths(page, 'budget-form-dark');
  });
});
