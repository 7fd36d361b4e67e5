import { expect, it } from 'vitest';
import { checkWidths, expectAccessible, inBrowser, type Page } from '../support/browser.ts';
import { useDraft } from '../support/draft.ts';

inBrowser('tile editor', (browser) => {
  const { edit, stored } = useDraft(browser);

  it('previews every tile type', async () => {
    const page = await edit();
    await page.getByRole('button', { name: 'Add tile' }).click();
    await page.getByRole('menuitem', { name: 'Number' }).click();
    const dialog = page.getByRole('dialog');
    const preview = dialog.getByTestId('preview');
    await preview.getByText('60', { exact: true }).waitFor();
    await checkWidths(page, 'tile-preview-number');
    await page.setViewportSize({ width: 1280, height: 900 });
    await dialog.getByRole('button', { name: 'Add series' }).click();
    await dialog.getByRole('group', { name: 'Series 1' }).getByLabel('Where').fill('SeverityText:"ERROR"');
    await dialog.getByLabel('Show as ratio (series 1 ÷ series 2)').click();
    await preview.getByText('0.0833').waitFor();
    await dialog.getByLabel('Show as ratio (series 1 ÷ series 2)').click();
    await dialog.getByRole('button', { name: 'Remove series 1' }).click();
    await choose(page, 'Type', 'Table');
    await dialog.getByLabel('Group by').fill('ServiceName');
    await page.keyboard.press('Enter');
    await preview.getByRole('row', { name: 'api 30' }).waitFor();
    await choose(page, 'Type', 'Search');
    await dialog.getByLabel('Where').fill('SeverityText:"ERROR"');
    await preview.getByText('request 24 of api').waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await checkWidths(page, 'tile-preview-search');
    await dialog.getByRole('button', { name: 'Done' }).click();
    // The grid shows it too, before anything is saved.
    await page.getByRole('main').getByText('request 24 of api').waitFor();
    expect((await stored()).tiles).toHaveLength(2);
  });

  const choose = async (page: Page, label: string, choice: string) => {
    await page.getByRole('dialog').getByRole('combobox', { name: label, exact: true }).click();
    await page.getByRole('option', { name: choice, exact: true }).click();
  };

  it('suggests columns of the engine and map keys in the time range', async () => {
    const page = await edit();
    await page.getByRole('button', { name: 'Add tile' }).click();
    await page.getByRole('menuitem', { name: 'Table' }).click();
    const dialog = page.getByRole('dialog');
    const suggestions = page.getByRole('listbox', { name: 'Suggestions' });
    const grouped = dialog.getByLabel('Group by');
    await grouped.fill('Attributes');
    await page.getByRole('option', { name: "LogAttributes['ms']" }).click();
    await dialog.getByTestId('preview').getByRole('row', { name: '10 1', exact: true }).waitFor();
    await dialog.getByLabel('Where').pressSequentially('EventN');
    await suggestions.getByRole('option', { name: 'EventName' }).waitFor();
    await dialog.getByLabel('Where').fill('LogAttributes.');
    await suggestions.getByRole('option', { name: 'LogAttributes.ms' }).click();
    expect(await dialog.getByLabel('Where').inputValue()).toBe('LogAttributes.ms:');
    await dialog.getByLabel('Where').fill('ServiceName:"api"');
    await suggestions.waitFor({ state: 'hidden' });
    await choose(page, 'Source', 'Metrics');
    await dialog.getByLabel('Where').fill('Met');
    await suggestions.getByRole('option', { name: 'MetricUnit' }).waitFor();
    await checkWidths(page, 'column-suggestions');
    await page.setViewportSize({ width: 1280, height: 900 });
    await dialog.getByLabel('Where').fill('');
    await dialog.getByRole('combobox', { name: 'Metric', exact: true }).click();
    await page.getByRole('option', { name: 'memory' }).click();
    expect(await dialog.getByRole('combobox', { name: 'Metric', exact: true }).inputValue()).toBe('memory');
  });

  it('works without suggestions if columns cannot be loaded', async () => {
    const page = await edit();
    await page.route('**/sources/*/columns*', (route) => route.fulfill({ status: 503, json: { message: 'Not now' } }));
    await page.getByRole('button', { name: 'Add tile' }).click();
    await Promise.all([page.waitForResponse(/columns/), page.getByRole('menuitem', { name: 'Number' }).click()]);
    const dialog = page.getByRole('dialog');
    await dialog.getByTestId('preview').getByText('60', { exact: true }).waitFor();
    await dialog.getByLabel('Where').fill('Sev');
    expect(await page.getByRole('option').count()).toBe(0);
    await dialog.getByLabel('Where').fill('SeverityText:"ERROR"');
    await dialog.getByTestId('preview').getByText('5', { exact: true }).waitFor();
    expect(await page.getByText('Not now').count()).toBe(0);
  });
});
