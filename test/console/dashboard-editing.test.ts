import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { board, RANGE } from '../support/board.ts';
import { expectAccessible, inBrowser, type Page, settled, shoot } from '../support/browser.ts';
import { draft, useDraft } from '../support/draft.ts';
import { acme, fleet } from '../support/fleet.ts';

const [organization, ...others] = fleet.organizations;

inBrowser(
  'editing dashboards',
  (browser) => {
    const { id, edit, nameField, stored, put } = useDraft(browser);
    const saveElsewhere = (name: string) => put({ ...draft, name });
    const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();
    const isSaved = (page: Page) => page.getByRole('button', { name: 'Edit', exact: true }).waitFor();

    it('makes a new one, adds a tile with a preview, and saves it', async () => {
      const page = await browser.signIn(acme.admin, '/dashboards');
      await page.getByRole('button', { name: 'New dashboard' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Fresh');
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
      await page.waitForURL(/edit=true/);
      await page.goto(`${page.url()}&${RANGE}`);
      await page.getByRole('button', { name: 'Add a tile' }).click();
      await page.getByRole('menuitem', { name: 'Chart over time' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Rows');
      await dialog.getByLabel('Grouped by').fill('ServiceName');
      await page.keyboard.press('Enter');
      await dialog.getByRole('button', { name: 'api' }).waitFor();
      await dialog.getByLabel('Where').fill('NoSuch:x');
      await dialog.getByTestId('preview-error').waitFor();
      await dialog.getByLabel('Where').fill('ServiceName:');
      await page.getByRole('option', { name: 'web' }).click();
      expect(await dialog.getByLabel('Where').inputValue()).toBe('ServiceName:"web" ');
      await dialog.getByRole('button', { name: 'api' }).waitFor({ state: 'detached' });
      await dialog.getByRole('button', { name: 'Done' }).click();
      await save(page);
      await isSaved(page);
      const made = await stored(new URL(page.url()).pathname.split('/').pop());
      expect(made).toMatchObject({ name: 'Fresh', tiles: [{ name: 'Rows', x: 0, y: 0, w: 12, h: 6 }] });
      expect(made.tiles[0].series).toEqual([
        expect.objectContaining({
          type: 'time',
          aggFn: 'count',
          groupBy: ['ServiceName'],
          where: 'ServiceName:"web" ',
        }),
      ]);
      await page.locator('canvas').waitFor();
    });

    it('moves and resizes by dragging, duplicates and deletes', async () => {
      const page = await edit();
      await dragBy(page, page.locator('[data-tile="two"] header'), -900, 170);
      await dragBy(page, page.locator('[data-tile="one"] .react-resizable-handle'), 0, 90);
      await page.getByRole('button', { name: 'More for Two' }).click();
      await page.getByRole('menuitem', { name: 'Duplicate' }).click();
      await page.getByRole('button', { name: 'More for One' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.locator('[data-tile="one"]').waitFor({ state: 'detached' });
      await save(page);
      await isSaved(page);
      const { tiles } = await stored();
      expect(tiles.map(({ name }: { name: string }) => name)).toEqual(['Two', 'Two (copy)']);
      expect(tiles[0]).toMatchObject({ x: 0, y: 0, w: 12, h: 4 });
      expect(tiles[1]).toMatchObject({ x: 12, y: 0, w: 12, h: 4 });
    });

    it('places a tile by numbers too', async () => {
      const page = await edit();
      await page.getByRole('button', { name: 'Edit One' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Width').fill('8');
      await dialog.getByLabel('Height').fill('7');
      await dialog.getByRole('button', { name: 'Done' }).click();
      await save(page);
      await isSaved(page);
      expect((await stored()).tiles[0]).toMatchObject({ x: 0, y: 0, w: 8, h: 7 });
    });

    it('asks before unsaved changes are left behind', async () => {
      const page = await edit();
      await nameField(page).fill('Changed');
      await page.getByRole('link', { name: 'Keys' }).click();
      const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await nameField(page).inputValue()).toBe('Changed');
      await page.getByRole('link', { name: 'Keys' }).click();
      await dialog.getByRole('button', { name: 'Leave' }).click();
      await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
      expect((await stored()).name).toBe('Draft');
    });

    it('asks before Discard, or going back, loses something; nothing is asked where nothing would be lost', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/${id()}?${RANGE}`);
      const button = (name: string) => page.getByRole('button', { name, exact: true });
      const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
      await button('Edit').click();
      await button('Done').click();
      await button('Edit').click();
      await nameField(page).fill('Changed');
      await button('Discard').click();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await nameField(page).inputValue()).toBe('Changed');
      await page.evaluate('history.back()');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await nameField(page).inputValue()).toBe('Changed');
      await button('Discard').click();
      await dialog.getByRole('button', { name: 'Leave' }).click();
      await button('Edit').waitFor();
      await page.getByRole('heading', { name: 'Draft', level: 1 }).waitFor();
      await button('Edit').click();
      expect(await nameField(page).inputValue()).toBe('Draft');
    });

    it('shows what the server refuses and loses nothing', async () => {
      const page = await edit();
      await page.getByRole('combobox', { name: 'Tags' }).fill('x'.repeat(33));
      await page.keyboard.press('Enter');
      await save(page);
      await page.getByRole('alert').getByText('The dashboard is not saved').waitFor();
      await page.getByText('x'.repeat(33)).first().waitFor();
      expect((await stored()).tags).toEqual(['test']);
    });

    it('offers a choice when somebody else saved meanwhile: keep editing, take theirs', async () => {
      const page = await edit();
      await nameField(page).fill('Mine');
      await saveElsewhere('Theirs');
      await save(page);
      const dialog = page.getByRole('dialog', { name: 'Somebody else saved this dashboard' });
      await dialog.getByText('the name is “Theirs”').waitFor();
      await dialog.getByText('editor').waitFor();
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Keep editing mine' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await nameField(page).inputValue()).toBe('Mine');
      await save(page);
      await dialog.getByRole('button', { name: 'Take theirs, drop my changes' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await nameField(page).inputValue()).toBe('Theirs');
      expect((await stored()).name).toBe('Theirs');
    });

    it('overwrites theirs when asked to, and their version can be restored', async () => {
      const page = await edit();
      await nameField(page).fill('Mine');
      await saveElsewhere('Theirs');
      await save(page);
      await page.getByRole('button', { name: 'Overwrite theirs with mine' }).click();
      await isSaved(page);
      expect((await stored()).name).toBe('Mine');
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Versions' }).click();
      await page.getByRole('button', { name: 'Restore version 2' }).click();
      await page.getByRole('dialog', { name: 'Restore version 2?' }).getByRole('button', { name: 'Restore' }).click();
      await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor();
      expect((await stored()).name).toBe('Theirs');
    });

    it('exports a file that imports as another dashboard; a bad file says what is wrong', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/${id()}`);
      await page.getByRole('button', { name: 'More', exact: true }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: 'Export as a file' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('draft.json');
      const file = await download.path();
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(await stored());
      await page.goto(`${browser.server.url}/dashboards`);
      const input = page.locator('input[type=file]');
      const give = (name: string, content: string) =>
        input.setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
      await page.getByRole('button', { name: 'Import' }).waitFor();
      await give('bad.json', '{"name":"Bad","tiles":[{"x":0,"y":0,"w":99,"h":1,"series":[]}]}');
      await page.getByRole('dialog').getByText('tiles.0.w').waitFor();
      await page.keyboard.press('Escape');
      await give(
        'good.yaml',
        'name: From a file\ntiles:\n  - {x: 0, y: 0, w: 24, h: 2, series: [{type: markdown, content: hello}]}\n',
      );
      await page.getByRole('heading', { name: 'From a file', level: 1 }).waitFor();
      await page.getByText('hello').waitFor();
    });

    it('deletes after asking by name', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/${id()}`);
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Draft').waitFor();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('heading', { name: 'Dashboards', level: 1 }).waitFor();
      expect((await browser.server.call({ path: `/api/v2/dashboards/${id()}`, token: acme.token })).status).toBe(404);
    });

    it('offers nothing to those who may only look', async () => {
      for (const credentials of [acme.developer, { token: acme.token }]) {
        const page = await browser.signIn(credentials, `/dashboards/${id()}?edit=true`);
        await page.locator('[data-tile="one"]').waitFor();
        expect(await page.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0);
        await page.getByRole('button', { name: 'More', exact: true }).click();
        await page.getByRole('menuitem', { name: 'Versions' }).waitFor();
        expect(await page.getByRole('menuitem', { name: 'Delete' }).count()).toBe(0);
        await page.goto(`${browser.server.url}/dashboards`);
        await page.getByRole('link', { name: 'Board', exact: true }).waitFor();
        expect(await page.getByRole('button', { name: 'New dashboard' }).count()).toBe(0);
      }
    });

    it('is accessible and fits three widths', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/board?${RANGE}&edit=true`);
      await page.locator('[data-tile="lines"] canvas').waitFor();
      await expectAccessible(page);
      await shoot(page, 'dashboard-editing');
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.getByRole('button', { name: 'Edit Rows by service' }).click();
      await page.getByRole('dialog').locator('canvas').waitFor();
      await settled(page);
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectAccessible(page);
      await shoot(page, 'tile-editing');
    });

    async function dragBy(page: Page, handle: ReturnType<Page['locator']>, x: number, y: number) {
      const box = await handle.boundingBox();
      if (!box) throw new Error('there is nothing to take hold of');
      const [left, top] = [box.x + Math.min(box.width / 2, 60), box.y + box.height / 2];
      await page.mouse.move(left, top);
      await page.mouse.down();
      await page.mouse.move(left + x / 2, top + y / 2, { steps: 5 });
      await page.mouse.move(left + x, top + y, { steps: 5 });
      await page.mouse.up();
    }
  },
  { fleet: { organizations: [{ ...organization, dashboards: [board] }, ...others] } },
);

const folder = mkdtempSync(join(tmpdir(), 'pilothouse-boards-'));
writeFileSync(
  join(folder, 'boards.json'),
  JSON.stringify({ organization: 'Acme', id: 'from-file', name: 'From the folder', tiles: draft.tiles }),
);

inBrowser(
  'a dashboard that comes from a file',
  (browser) => {
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it('is looked at only, and says where it is changed', async () => {
      const page = await browser.signIn(acme.admin, '/dashboards/from-file?edit=true');
      await page.getByText('Comes from the file boards.json').waitFor();
      await page.locator('[data-tile="one"]').waitFor();
      expect(await page.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0);
      expect(await page.getByLabel('Name', { exact: true }).count()).toBe(0);
    });
  },
  { args: ['--dashboards', folder] },
);
