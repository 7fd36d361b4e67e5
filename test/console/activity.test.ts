import { expect, it } from 'vitest';
import { expectAccessible, inBrowser, shoot } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { madeKey } from '../support/keys.ts';

inBrowser('the activity', (browser) => {
  const scale = (body: object) =>
    browser.server.call({
      method: 'PATCH',
      path: `/v1/organizations/${acme.id}/services/${acme.primary}/scaling`,
      key: acme.admin,
      body,
    });

  it('shows who changed what, with both sides', async () => {
    await scale({ numReplicas: 4, idleTimeoutMinutes: 20 });
    const page = await browser.signIn(acme.admin, '/activity');
    const entry = page.getByRole('listitem').first();
    await entry.getByText('admin changed the').click();
    const cells = await entry.getByRole('row').allTextContents();
    expect(cells).toEqual(expect.arrayContaining(['Replicas34', 'Idles after1520']));
    expect(await entry.textContent()).toContain('from 127.0.0.1');
  });

  it('is narrowed by kind, actor and text, which the address keeps', async () => {
    await madeKey(browser.server, { name: 'needle' });
    const page = await browser.signIn(acme.admin, '/activity');
    await page.getByRole('combobox', { name: 'About' }).click();
    await page.getByRole('option', { name: 'Keys', exact: true }).click();
    await page.getByLabel('Find in the activity').fill('needle');
    await page.getByRole('status').getByText('1 change', { exact: true }).waitFor();
    expect(await page.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('created the key needle'),
    ]);
    await page.reload();
    await page.getByRole('status').getByText('1 change', { exact: true }).waitFor();
    expect(await page.getByLabel('Find in the activity').inputValue()).toBe('needle');

    await page.getByLabel('Find in the activity').fill('nobody did this');
    await page.getByRole('button', { name: 'Show everything' }).click();
    await page.getByRole('listitem').nth(3).waitFor();
  });

  it('is asked of the server by day', async () => {
    const page = await browser.signIn(acme.admin, '/activity');
    await page.getByRole('listitem').first().getByText('created').waitFor();
    await page.getByLabel('To day').fill('2020-01-01');
    await page.getByText('Nothing fits').waitFor();
  });

  it('goes on as far back as there is', async () => {
    for (let count = 0; count < 210; count += 1) await scale({ idleTimeoutMinutes: 30 + count });
    const page = await browser.signIn(acme.admin, '/activity');
    await page.getByRole('status').getByText('200 changes so far').waitFor();
    expect(await page.getByText('created the organization').count()).toBe(0);
    await page.getByRole('button', { name: 'Load older ones' }).click();
    await page.getByText('created the organization').waitFor();
  });

  it('is filtered as a whole, not only as far as it is loaded', async () => {
    const page = await browser.signIn(acme.admin, '/activity');
    const status = page.getByRole('status');
    await status.getByText('200 changes so far').waitFor();
    await page.getByRole('combobox', { name: 'About' }).click();
    await page.getByRole('option', { name: 'Organization', exact: true }).click();
    await page.getByText('created the organization').waitFor();
    await status.getByText('1 change', { exact: true }).waitFor();
    await page.goto(`${browser.server.url}/activity?actor=admin&kind=key`);
    await page.getByText('created the key needle').waitFor();
    // The trail holds the id of a service; people know its name.
    await page.goto(`${browser.server.url}/activity?text=analytics`);
    await status.getByText('200 changes so far').waitFor();
    await expectAccessible(page);
    await shoot(page, 'activity-filtered');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectAccessible(page);
  });
});
