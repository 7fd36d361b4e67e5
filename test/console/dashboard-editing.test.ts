import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { board, RANGE } from '../support/board.ts';
import {
  checkWidths,
  expectAccessible,
  expectReadable,
  inBrowser,
  type Page,
  waitUntilSettled,
} from '../support/browser.ts';
import { draft, useDraft } from '../support/draft.ts';
import { acme, fleet } from '../support/fleet.ts';

const [organization, ...others] = fleet.organizations;

inBrowser(
  'dashboard editor',
  (browser) => {
    const { id, edit, nameField, stored, put } = useDraft(browser);
    const saveAsOtherClient = (name: string) => put({ ...draft, name });
    const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();
    const waitUntilSaved = (page: Page) => page.getByRole('button', { name: 'Edit', exact: true }).waitFor();

    it('creates a dashboard from a template', async () => {
      const page = await browser.signIn(acme.admin, '/dashboards');
      await page.getByRole('button', { name: 'New dashboard' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('combobox', { name: 'Start from' }).click();
      await page.getByRole('option', { name: 'HTTP services' }).click();
      await dialog.getByText('Requests, errors and durations of services by route').waitFor();
      expect(await dialog.getByLabel('Name').inputValue()).toBe('HTTP services');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('heading', { name: 'HTTP services' }).waitFor();
      await page.getByText('Responses by status code').waitFor();
    });

    it('creates a dashboard, adds a tile with a preview and saves it', async () => {
      const page = await browser.signIn(acme.admin, '/dashboards');
      await page.getByRole('button', { name: 'New dashboard' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Fresh');
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
      await page.waitForURL(/edit=true/);
      await page.goto(`${page.url()}&${RANGE}`);
      await page.getByRole('button', { name: 'Add tile' }).click();
      await page.getByRole('menuitem', { name: 'Time series' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Rows');
      await dialog.getByLabel('Group by').fill('ServiceName');
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
      await waitUntilSaved(page);
      const saved = await stored(new URL(page.url()).pathname.split('/').pop());
      expect(saved).toMatchObject({ name: 'Fresh', tiles: [{ name: 'Rows', x: 0, y: 0, w: 12, h: 6 }] });
      expect(saved.tiles[0].series).toEqual([
        expect.objectContaining({
          type: 'time',
          aggFn: 'count',
          groupBy: ['ServiceName'],
          where: 'ServiceName:"web" ',
        }),
      ]);
      await page.locator('canvas').waitFor();
    });

    it('moves and resizes tiles by dragging, duplicates and deletes them', async () => {
      const page = await edit();
      await dragBy(page, page.locator('[data-tile="two"] header'), -900, 170);
      await dragBy(page, page.locator('[data-tile="one"] .react-resizable-handle'), 0, 90);
      await page.getByRole('button', { name: 'More actions for Two' }).click();
      await page.getByRole('menuitem', { name: 'Duplicate' }).click();
      await page.getByRole('button', { name: 'More actions for One' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.locator('[data-tile="one"]').waitFor({ state: 'detached' });
      await save(page);
      await waitUntilSaved(page);
      const { tiles } = await stored();
      expect(tiles.map(({ name }: { name: string }) => name)).toEqual(['Two', 'Two (copy)']);
      expect(tiles[0]).toMatchObject({ x: 0, y: 0, w: 12, h: 4 });
      expect(tiles[1]).toMatchObject({ x: 12, y: 0, w: 12, h: 4 });
    });

    it('sets the position of a tile in number fields', async () => {
      const page = await edit();
      await page.getByRole('button', { name: 'Edit One' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Width').fill('8');
      await dialog.getByLabel('Height').fill('7');
      await dialog.getByRole('button', { name: 'Done' }).click();
      await save(page);
      await waitUntilSaved(page);
      expect((await stored()).tiles[0]).toMatchObject({ x: 0, y: 0, w: 8, h: 7 });
    });

    it('asks for confirmation before leaving with unsaved changes', async () => {
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

    it('asks for confirmation on Discard and on going back only if there are unsaved changes', async () => {
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

    it('shows server errors and keeps the draft', async () => {
      const page = await edit();
      await page.getByRole('combobox', { name: 'Tags' }).fill('x'.repeat(33));
      await page.keyboard.press('Enter');
      await save(page);
      await page.getByRole('alert').getByText('Could not save the dashboard').waitFor();
      await page.getByText('x'.repeat(33)).first().waitFor();
      expect((await stored()).tags).toEqual(['test']);
    });

    it('resolves an edit conflict by keeping or discarding the draft', async () => {
      const page = await edit();
      await nameField(page).fill('Mine');
      await saveAsOtherClient('Theirs');
      await save(page);
      const dialog = page.getByRole('dialog', { name: 'This dashboard has changed' });
      await dialog.getByText('Name changed to “Theirs”').waitFor();
      await dialog.getByText('editor').waitFor();
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await nameField(page).inputValue()).toBe('Mine');
      await save(page);
      await dialog.getByRole('button', { name: 'Discard my changes' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await nameField(page).inputValue()).toBe('Theirs');
      expect((await stored()).name).toBe('Theirs');
    });

    it('overwrites a conflicting version, which can be restored', async () => {
      const page = await edit();
      await nameField(page).fill('Mine');
      await saveAsOtherClient('Theirs');
      await save(page);
      await page.getByRole('button', { name: 'Overwrite with my changes' }).click();
      await waitUntilSaved(page);
      expect((await stored()).name).toBe('Mine');
      await page.getByRole('button', { name: 'More actions', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Version history' }).click();
      await page.getByRole('button', { name: 'Restore version 2' }).click();
      await page.getByRole('dialog', { name: 'Restore version 2?' }).getByRole('button', { name: 'Restore' }).click();
      await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor();
      expect((await stored()).name).toBe('Theirs');
    });

    it('exports and imports files and reports errors in a file', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/${id()}`);
      await page.getByRole('button', { name: 'More actions', exact: true }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: 'Export as JSON' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('draft.json');
      const file = await download.path();
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(await stored());
      await page.goto(`${browser.server.url}/dashboards`);
      const input = page.locator('input[type=file]');
      const upload = (name: string, content: string) =>
        input.setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
      await page.getByRole('button', { name: 'Import' }).waitFor();
      await upload('bad.json', '{"name":"Bad","tiles":[{"x":0,"y":0,"w":99,"h":1,"series":[]}]}');
      await page.getByRole('dialog').getByText('tiles.0.w').waitFor();
      await page.keyboard.press('Escape');
      await upload(
        'good.yaml',
        'name: From a file\ntiles:\n  - {x: 0, y: 0, w: 24, h: 2, series: [{type: markdown, content: hello}]}\n',
      );
      await page.getByRole('heading', { name: 'From a file', level: 1 }).waitFor();
      await page.getByText('hello').waitFor();
    });

    it('deletes a dashboard after a confirmation with the name', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/${id()}`);
      await page.getByRole('button', { name: 'More actions', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Draft').waitFor();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('heading', { name: 'Dashboards', level: 1 }).waitFor();
      expect((await browser.server.call({ path: `/api/v2/dashboards/${id()}`, token: acme.token })).status).toBe(404);
    });

    it('offers no changes with read-only access', async () => {
      for (const credentials of [acme.developer, { token: acme.token }]) {
        const page = await browser.signIn(credentials, `/dashboards/${id()}?edit=true`);
        await page.locator('[data-tile="one"]').waitFor();
        expect(await page.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0);
        await page.getByRole('button', { name: 'More actions', exact: true }).click();
        await page.getByRole('menuitem', { name: 'Version history' }).waitFor();
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
      await checkWidths(page, 'dashboard-editing');
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.getByRole('button', { name: 'Edit Rows by service' }).click();
      await page.getByRole('dialog').locator('canvas').waitFor();
      await waitUntilSettled(page);
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectReadable(page);
      await checkWidths(page, 'tile-editing');
    });

    async function dragBy(page: Page, handle: ReturnType<Page['locator']>, x: number, y: number) {
      const box = await handle.boundingBox();
      if (!box) throw new Error('the drag handle is not visible');
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
  'provisioned dashboard',
  (browser) => {
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it('is read-only and names its file', async () => {
      const page = await browser.signIn(acme.admin, '/dashboards/from-file?edit=true');
      await page.getByText('Provisioned from boards.json').waitFor();
      await page.locator('[data-tile="one"]').waitFor();
      expect(await page.getByRole('button', { name: 'Edit', exact: true }).count()).toBe(0);
      expect(await page.getByLabel('Name', { exact: true }).count()).toBe(0);
    });
  },
  { args: ['--dashboards', folder] },
);
