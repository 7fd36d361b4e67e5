import { expect, it } from 'vitest';
import { position, RANGE } from '../support/board.ts';
import { checkWidths, expectAccessible, expectReadable, inBrowser } from '../support/browser.ts';
import { draft, useDraft } from '../support/draft.ts';
import { acme } from '../support/fleet.ts';

inBrowser('version history of a dashboard', (browser) => {
  const { id, put, stored } = useDraft(browser);

  it('previews a version with its differences and restores it', async () => {
    const count = { id: 'count', name: 'Rows', ...position(0, 4, 12, 4), series: [{ type: 'number', aggFn: 'count' }] };
    const [one, two] = draft.tiles;
    const body = { ...draft, name: 'Later', tiles: [{ ...one, x: 2, w: 10 }, count] };
    await put(body);
    await put({ ...draft, tiles: [one, two] });
    const page = await browser.signIn(acme.admin, `/dashboards/${id()}?${RANGE}`);
    await page.getByRole('button', { name: 'More actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Version history' }).click();
    expect(await page.getByRole('button', { name: 'View version 3' }).count()).toBe(0);
    await page.getByRole('button', { name: 'View version 2' }).click();
    const version = page.getByRole('dialog', { name: 'Version 2 · Later' });
    await version.locator('[data-tile="count"]').getByText('60', { exact: true }).waitFor();
    expect(await version.getByRole('list').getByRole('listitem').allTextContents()).toEqual([
      'Name changed to “Later”',
      '“Rows” added',
      '“Two” removed',
      '“One” moved, resized',
    ]);
    await expectAccessible(page);
    await checkWidths(page, 'version');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await checkWidths(page, 'version-dark');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.keyboard.press('Escape');
    await version.waitFor({ state: 'detached' });
    expect((await stored()).name).toBe('Draft');
    await page.getByRole('button', { name: 'View version 2' }).click();
    await version.getByRole('button', { name: 'Restore this version' }).click();
    const confirm = page.getByRole('dialog', { name: 'Restore version 2?' });
    await confirm.getByText('“Two” removed').waitFor();
    await confirm.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('heading', { name: 'Later', level: 1 }).waitFor();
    expect((await stored()).tiles.map((tile: { id: string }) => tile.id)).toEqual(['one', 'count']);
  });

  it('tells a moved tile from a changed one, and reports no other tile', async () => {
    const series = {
      type: 'time',
      aggFn: 'count',
      sourceId: 'logs',
      where: 'Body:"x"',
      numberFormat: { output: 'byte', mantissa: 1 },
    };
    const chart = (name: string, x: number, y: number, more: object = {}) => ({
      id: name,
      name,
      ...position(x, y, 6, 4),
      series: [{ ...series, ...more }],
    });
    const before = [chart('a', 0, 0), chart('b', 6, 0), chart('c', 12, 0), chart('d', 18, 0)];
    await put({ ...draft, tiles: before });
    // The same members in another order, and with defaults written out.
    const reordered = {
      groupBy: [],
      ...series,
      whereLanguage: 'lucene',
      displayType: 'line',
      numberFormat: { mantissa: 1, output: 'byte' },
    };
    const after = [
      { ...chart('a', 0, 4), series: [reordered] },
      { ...chart('b', 6, 0), series: [reordered] },
      chart('c', 12, 0, { aggFn: 'max', field: 'SeverityNumber' }),
      chart('d', 18, 0),
    ];
    await put({ ...draft, tags: draft.tags.toReversed(), tiles: after });
    const page = await browser.signIn(acme.admin, `/dashboards/${id()}?${RANGE}`);
    await page.getByRole('button', { name: 'More actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Version history' }).click();
    await page.getByRole('button', { name: 'View version 2' }).click();
    const version = page.getByRole('dialog', { name: 'Version 2 · Draft' });
    await version.locator('[data-tile="a"]').waitFor();
    expect(await version.getByRole('listitem').filter({ hasText: '“' }).allTextContents()).toEqual([
      '“a” moved',
      '“c” query changed',
    ]);
  });
});
