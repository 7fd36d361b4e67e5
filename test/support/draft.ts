import { join } from 'node:path';
import { beforeAll, beforeEach } from 'vitest';
import { position, RANGE, rows } from './board.ts';
import type { Page, TestBrowser } from './browser.ts';
import type { Json } from './client.ts';
import { fillEngine } from './engine.ts';
import { acme } from './fleet.ts';

const text = (id: string, name: string, x: number, y: number) => ({
  id,
  name,
  ...position(x, y, 12, 4),
  series: [{ type: 'markdown', content: name }],
});

/** Two markdown tiles side by side. */
export const draft = { name: 'Draft', tags: ['test'], tiles: [text('one', 'One', 0, 0), text('two', 'Two', 12, 0)] };

interface Draft {
  id(): string;
  /** Opens the editor. */
  edit(): Promise<Page>;
  nameField(page: Page): ReturnType<Page['locator']>;
  stored(id?: string): Promise<Json>;
  /** Saves the dashboard as another client. */
  put(body: object): Promise<unknown>;
}

/** Creates the dashboard above before each test of the surrounding `describe`, and fills the engine. */
export function useDraft(browser: TestBrowser): Draft {
  let id = '';
  beforeAll(() => fillEngine(join(browser.server.directory, 'data'), rows));
  beforeEach(async () => {
    const created = await browser.server.call({
      method: 'POST',
      path: '/api/v2/dashboards',
      token: acme.writer,
      body: draft,
    });
    id = created.json.data.id;
  });
  const nameField = (page: Page) => page.getByRole('main').getByLabel('Name', { exact: true });
  return {
    id: () => id,
    nameField,
    async edit() {
      const page = await browser.signIn(acme.admin, `/dashboards/${id}?${RANGE}&edit=true`);
      await nameField(page).waitFor();
      await page.locator('[data-tile="two"]').getByText('Two').first().waitFor();
      return page;
    },
    stored: async (which = id) =>
      (await browser.server.call({ path: `/api/v2/dashboards/${which}`, token: acme.token })).json.data,
    put: (body) => browser.server.call({ method: 'PUT', path: `/api/v2/dashboards/${id}`, token: acme.writer, body }),
  };
}
