import { expect, it } from 'vitest';
import { inBrowser } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';

inBrowser('the API reference', (browser) => {
  it('works under its content security policy, and can send a request', async () => {
    const page = await browser.open('/docs');
    const operation = page.locator('#operations-Organizations-organizationGetList');
    await operation.waitFor();
    expect(await page.getByText('The control plane of a ClickHouse-style database fleet').count()).toBe(1);
    // Styles come from files, not from attributes that the policy would block.
    const selector = '#operations-Organizations-organizationGetList';
    const color = await page.evaluate(`getComputedStyle(document.querySelector('${selector}')).borderTopColor`);
    expect(color).toBe('rgb(97, 175, 254)');
    const dashboards = page.locator('#operations-Dashboards-listDashboards');
    await dashboards.locator('.opblock-summary-control').click();
    await page.getByRole('button', { name: 'Authorize' }).click();
    const token = page.locator('.auth-container').filter({ hasText: 'Dashboard token' });
    await token.getByRole('textbox').fill(acme.token);
    await token.getByRole('button', { name: 'Apply credentials' }).click();
    await page.getByRole('button', { name: 'Close' }).first().click();
    await dashboards.getByRole('button', { name: 'Execute' }).click();
    await dashboards.locator('.live-responses-table').getByText('Acme board').first().waitFor();
  });
});
