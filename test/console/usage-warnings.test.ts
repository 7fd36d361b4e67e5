import { expect, it } from 'vitest';
import { expectAccessible, inBrowser } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { runSql } from '../support/sql.ts';

inBrowser('usage warnings', (browser) => {
  it('are on every page for admins, with the remedy, and not for developers', async () => {
    await runSql(
      browser.server,
      `INSERT INTO usage_days (organization_id, date, revision, rated_revision, rated_at, locked, events, mismatch)
        VALUES ('${acme.id}', '2026-11-10', 2, 1, 1, 0, 5, 'older')`,
    );
    const page = await browser.signIn(acme.admin, '/');
    for (const path of ['/', '/costs', '/keys', '/activity']) {
      await page.goto(browser.server.url + path);
      const note = page.getByRole('note').filter({ hasText: '1 day (2026-11-10) is not rated' });
      await note.getByText('pilothouse usage adopt-engine').waitFor();
    }
    await expectAccessible(page);
    const other = await browser.signIn(acme.developer, '/costs');
    await other.getByRole('heading', { name: 'Costs' }).first().waitFor();
    expect(await other.getByText('is not rated').count()).toBe(0);
  });
});
