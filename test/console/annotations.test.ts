import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { board, RANGE, rows, T0 } from '../support/board.ts';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet } from '../support/fleet.ts';
import { runSql } from '../support/store-sql.ts';

const MINUTE = 60_000;
const HOSTILE = '<img src=x onerror="document.title=1">';
const [organization, ...others] = fleet.organizations;

inBrowser(
  'annotations',
  (browser) => {
    const create = async (body: object) => {
      const call = { method: 'POST', path: '/api/v2/annotations', token: acme.writer, body };
      expect((await browser.server.call(call)).status).toBe(200);
    };

    beforeAll(async () => {
      await fillEngine(join(browser.server.directory, 'data'), rows);
      await create({ title: 'web 1.4.2', text: 'By CI', time: T0 + 10 * MINUTE, link: 'https://ci.example.com/7' });
      await create({ title: HOSTILE, time: T0 + 20 * MINUTE, endTime: T0 + 25 * MINUTE, tags: ['api'] });
      await create({ title: 'yesterday', time: T0 - 20 * 60 * MINUTE });
    });

    const lines = (page: Page) => page.locator('[data-tile="lines"]');
    const marks = (page: Page) => lines(page).getByTestId('annotation');

    async function openBoard(query = RANGE): Promise<Page> {
      const page = await browser.signIn(acme.admin, `/dashboards/board?${query}`);
      await lines(page).locator('canvas').waitFor();
      return page;
    }

    it('marks the events of the range on charts, with a tooltip for the mouse and the keyboard', async () => {
      const page = await openBoard();
      await marks(page).first().waitFor();
      expect(await marks(page).count()).toBe(2);
      expect(await marks(page).first().getAttribute('aria-label')).toMatch(/^Deploy: web 1\.4\.2, Nov .+, by /);
      await marks(page).first().hover();
      const tip = page.getByRole('tooltip').filter({ hasText: 'web 1.4.2' });
      await tip.getByText('By CI').waitFor();
      await page.mouse.move(5, 5);
      await marks(page).nth(1).focus();
      await page.getByRole('tooltip').filter({ hasText: HOSTILE }).waitFor();
      // A third of the range, within a pixel.
      const [plot, mark] = [
        await lines(page).locator('.u-over').boundingBox(),
        await marks(page).first().boundingBox(),
      ];
      if (!plot || !mark) throw new Error('the chart is not visible');
      expect(Math.abs(mark.x + mark.width / 2 - (plot.x + plot.width / 3))).toBeLessThan(1.5);
      await expectAccessible(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expectReadable(page);
      await checkWidths(page, 'annotations');
    });

    it('a table lists them; deploys can be deleted', async () => {
      await create({ title: 'mistake', time: T0 + 5 * MINUTE });
      const page = await openBoard();
      await marks(page).first().waitFor();
      await marks(page).first().focus();
      await page.keyboard.press('Enter');
      const table = page.getByRole('dialog', { name: 'Annotations' }).getByRole('table', { name: 'Annotations' });
      await table.getByRole('link', { name: 'web 1.4.2' }).waitFor();
      await expectAccessible(page);
      await checkWidths(page, 'annotation-table');
      await page.setViewportSize({ width: 1280, height: 900 });
      await table.getByRole('button', { name: /^Delete mistake at / }).click();
      await table.getByText('mistake').waitFor({ state: 'detached' });
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: '2 annotations' }).waitFor();
    });

    it('can be hidden, also after a reload', async () => {
      const page = await openBoard();
      await marks(page).first().waitFor();
      await page.getByRole('switch', { name: 'Annotations' }).focus();
      await page.keyboard.press('Space');
      await marks(page).first().waitFor({ state: 'detached' });
      await page.reload();
      await lines(page).locator('canvas').waitFor();
      await page.getByRole('switch', { name: 'Annotations', checked: false }).waitFor();
      expect(await marks(page).count()).toBe(0);
    });

    it('shows when alerts fired, from the first to the last window', async () => {
      const call = async (path: string, body: object) => {
        const response = await browser.server.call({ method: 'POST', path, token: acme.writer, body });
        expect(response.status, response.text).toBe(200);
        return response.json.data.id;
      };
      const webhookId = await call('/api/v2/webhooks', {
        name: 'hook',
        service: 'generic',
        url: 'https://example.com/hook',
      });
      const id = await call('/api/v2/alerts', {
        name: 'Slow pages',
        source: 'condition',
        condition: 'key_expiry_days',
        interval: '1d',
        threshold: 100,
        thresholdType: 'above',
        channel: { type: 'webhook', webhookId },
      });
      for (const [minute, status, value] of [
        [26, 'firing', 150],
        [28, 'ok', 3],
      ] as const) {
        const at = T0 + minute * MINUTE;
        const document = JSON.stringify({ status, value, isChange: true });
        await runSql(
          browser.server,
          `INSERT INTO alert_evaluations VALUES ('${acme.id}', '${id}', ${at}, ${at}, 1, '${document}')`,
        );
      }
      const page = await openBoard();
      await marks(page).nth(2).waitFor();
      expect(await marks(page).nth(2).getAttribute('aria-label')).toMatch(/^Alert: Slow pages fired, Nov .+ – /);
      await page.getByRole('button', { name: '3 annotations' }).click();
      const row = page.getByRole('dialog').getByRole('row', { name: /Slow pages fired/ });
      await row.getByText('150 ≥ 100').waitFor();
      expect(await row.getByRole('button').count()).toBe(0);
    });

    it('shows scaling changes of services from the audit log', async () => {
      const path = `/v1/organizations/${acme.id}/services/${acme.primary}/replicaScaling`;
      const change = { method: 'PATCH', path, key: acme.admin, body: { numReplicas: 4 } };
      expect((await browser.server.call(change)).status).toBe(200);
      const page = await openBoard(`from=${T0}&to=${Date.now() + MINUTE}`);
      await page.getByRole('button', { name: /annotations$/ }).click();
      const row = page.getByRole('dialog').getByRole('row', { name: /was scaled/ });
      await row.getByText('replicas 3 → 4').waitFor();
      expect(await row.getByRole('button').count()).toBe(0);
    });
  },
  { fleet: { organizations: [{ ...organization, dashboards: [board] }, ...others] } },
);
