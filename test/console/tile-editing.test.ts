import { expect, it } from 'vitest';
import { expectAccessible, inBrowser, type Page, shoot } from '../support/browser.ts';
import { useDraft } from '../support/draft.ts';

inBrowser('editing a tile', (browser) => {
  const { edit, stored } = useDraft(browser);

  it('previews every kind of tile as it will be', async () => {
    const page = await edit();
    await page.getByRole('button', { name: 'Add a tile' }).click();
    await page.getByRole('menuitem', { name: 'Number' }).click();
    const dialog = page.getByRole('dialog');
    const preview = dialog.getByTestId('preview');
    await preview.getByText('60', { exact: true }).waitFor();
    await shoot(page, 'tile-preview-number');
    await page.setViewportSize({ width: 1280, height: 900 });
    await dialog.getByRole('button', { name: 'Add a series' }).click();
    await dialog.getByRole('group', { name: 'Series 1' }).getByLabel('Where').fill('SeverityText:"ERROR"');
    await dialog.getByLabel('Ratio: the first divided by the second').click();
    await preview.getByText('0.0833').waitFor();
    await dialog.getByLabel('Ratio: the first divided by the second').click();
    await dialog.getByRole('button', { name: 'Take series 1 away' }).click();
    await choose(page, 'Type', 'Table');
    await dialog.getByLabel('Grouped by').fill('ServiceName');
    await page.keyboard.press('Enter');
    await preview.getByRole('row', { name: 'api 30' }).waitFor();
    await choose(page, 'Type', 'Search');
    await dialog.getByLabel('Where').fill('SeverityText:"ERROR"');
    await preview.getByText('request 24 of api').waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await shoot(page, 'tile-preview-search');
    await dialog.getByRole('button', { name: 'Done' }).click();
    // On the grid as well, before anything is saved.
    await page.getByRole('main').getByText('request 24 of api').waitFor();
    expect((await stored()).tiles).toHaveLength(2);
  });

  const choose = async (page: Page, label: string, choice: string) => {
    await page.getByRole('dialog').getByRole('combobox', { name: label, exact: true }).click();
    await page.getByRole('option', { name: choice, exact: true }).click();
  };

  it('offers the columns that the engine has, and the keys that the range holds', async () => {
    const page = await edit();
    await page.getByRole('button', { name: 'Add a tile' }).click();
    await page.getByRole('menuitem', { name: 'Table' }).click();
    const dialog = page.getByRole('dialog');
    const offers = page.getByRole('listbox', { name: 'Offers' });
    const grouped = dialog.getByLabel('Grouped by');
    await grouped.fill('Attributes');
    await page.getByRole('option', { name: "LogAttributes['ms']" }).click();
    await dialog.getByTestId('preview').getByRole('row', { name: '10 1', exact: true }).waitFor();
    await dialog.getByLabel('Where').pressSequentially('EventN');
    await offers.getByRole('option', { name: 'EventName' }).waitFor();
    await dialog.getByLabel('Where').fill('LogAttributes.');
    await offers.getByRole('option', { name: 'LogAttributes.ms' }).click();
    expect(await dialog.getByLabel('Where').inputValue()).toBe('LogAttributes.ms:');
    await dialog.getByLabel('Where').fill('ServiceName:"api"');
    await offers.waitFor({ state: 'hidden' });
    await choose(page, 'Source', 'Metrics');
    await dialog.getByLabel('Where').fill('Met');
    await offers.getByRole('option', { name: 'MetricUnit' }).waitFor();
    await shoot(page, 'column-offers');
    await page.setViewportSize({ width: 1280, height: 900 });
    await dialog.getByLabel('Where').fill('');
    await dialog.getByRole('combobox', { name: 'Metric', exact: true }).click();
    await page.getByRole('option', { name: 'memory' }).click();
    expect(await dialog.getByRole('combobox', { name: 'Metric', exact: true }).inputValue()).toBe('memory');
  });

  it('goes on without offers where the engine cannot tell its columns', async () => {
    const page = await edit();
    await page.route('**/sources/*/columns*', (route) => route.fulfill({ status: 503, json: { message: 'Not now' } }));
    await page.getByRole('button', { name: 'Add a tile' }).click();
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
