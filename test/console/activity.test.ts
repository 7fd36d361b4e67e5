import { expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, inBrowser } from '../support/browser.ts';
import { acme } from '../support/fleet.ts';
import { createKey } from '../support/keys.ts';
import { join } from '../support/members.ts';

inBrowser('activity page', (browser) => {
  const scale = (body: object) =>
    browser.server.call({
      method: 'PATCH',
      path: `/v1/organizations/${acme.id}/services/${acme.primary}/scaling`,
      key: acme.admin,
      body,
    });

  it('shows the actor and both values of each changed field', async () => {
    await scale({ numReplicas: 4, idleTimeoutMinutes: 20 });
    const page = await browser.signIn(acme.admin, '/activity');
    const entry = page.getByRole('listitem').filter({ hasText: 'admin changed the' }).first();
    await entry.getByText('admin changed the').click();
    const cells = await entry.getByRole('row').allTextContents();
    expect(cells).toEqual(expect.arrayContaining(['Replicas34', 'Idle timeout (min)1520']));
    expect(await entry.textContent()).toContain('from 127.0.0.1');
    // The complete date: weekday, year and time zone.
    expect(await entry.locator('time').last().textContent()).toMatch(
      /^\w+day, \w+ \d+, \d{4} at .+ (UTC|GMT.*|[A-Z]{3,4})$/,
    );
    expect(await entry.locator('time').first().getAttribute('title')).toMatch(/\d{4} at .+ · \d{4}-\d\d-\d\d .+ UTC$/);
  });

  it('names deleted resources, also where an activity records only the ID', async () => {
    const { id } = await createKey(browser.server, { name: 'long gone' });
    const path = `/v1/organizations/${acme.id}/keys/${id}`;
    await browser.server.call({ method: 'PATCH', path, key: acme.admin, body: { state: 'disabled' } });
    await browser.server.call({ method: 'DELETE', path, key: acme.admin });
    const page = await browser.signIn(acme.admin, '/activity?kind=key');
    await page.getByText('admin disabled the key long gone').waitFor();
    await page.getByText('admin deleted the key long gone').waitFor();
  });

  it('filters by resource type, actor and text, and stores the filters in the URL', async () => {
    await createKey(browser.server, { name: 'needle' });
    const page = await browser.signIn(acme.admin, '/activity');
    await page.getByRole('combobox', { name: 'Resource type' }).click();
    await page.getByRole('option', { name: 'Keys', exact: true }).click();
    await page.getByLabel('Search activity').fill('needle');
    await page.getByRole('status').getByText('1 entry', { exact: true }).waitFor();
    expect(await page.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('created the key needle'),
    ]);
    await page.reload();
    await page.getByRole('status').getByText('1 entry', { exact: true }).waitFor();
    expect(await page.getByLabel('Search activity').inputValue()).toBe('needle');

    await page.getByLabel('Search activity').fill('no such activity');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('listitem').nth(3).waitFor();
  });

  it('names the custom roles of members, also deleted ones', async () => {
    const createRole = async (name: string): Promise<string> => {
      const path = `/v1/organizations/${acme.id}/roles`;
      return (await browser.server.call({ method: 'POST', path, key: acme.admin, body: { name } })).json.result.id;
    };
    const [kept, deleted] = [await createRole('night shift'), await createRole('day shift')];
    const { userId } = await join(browser.server, acme, 'shift@acme.example', { assignedRoleIds: [deleted] });
    const path = `/v1/organizations/${acme.id}/members/${userId}`;
    await browser.server.call({ method: 'PATCH', path, key: acme.admin, body: { assignedRoleIds: [kept] } });
    const role = `/v1/organizations/${acme.id}/roles/${deleted}`;
    expect((await browser.server.call({ method: 'DELETE', path: role, key: acme.admin })).status).toBe(200);
    const page = await browser.signIn(acme.admin, '/activity');
    const entry = page.getByRole('listitem').filter({ hasText: '(from day shift to night shift)' });
    await entry.locator('summary').click();
    expect(await entry.getByRole('row').allTextContents()).toContainEqual('Rolesday shiftnight shift');
  });

  it('filters by day on the server', async () => {
    const page = await browser.signIn(acme.admin, '/activity');
    await page.getByRole('listitem').filter({ hasText: 'created' }).first().waitFor();
    await page.getByLabel('End date').fill('2020-01-01');
    await page.getByText('No matching activity').waitFor();
  });

  it('loads more pages up to the oldest activity', async () => {
    for (let count = 0; count < 210; count += 1) await scale({ idleTimeoutMinutes: 30 + count });
    const page = await browser.signIn(acme.admin, '/activity');
    await page.getByRole('status').getByText('200 entries loaded').waitFor();
    expect(await page.getByText('created the organization').count()).toBe(0);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByText('created the organization').waitFor();
  });

  it('filters the whole audit log, not just the loaded pages', async () => {
    const page = await browser.signIn(acme.admin, '/activity');
    const status = page.getByRole('status');
    await status.getByText('200 entries loaded').waitFor();
    await page.getByRole('combobox', { name: 'Resource type' }).click();
    await page.getByRole('option', { name: 'Organization', exact: true }).click();
    await page.getByText('created the organization').waitFor();
    await status.getByText('1 entry', { exact: true }).waitFor();
    await page.goto(`${browser.server.url}/activity?actor=admin&kind=key`);
    await page.getByText('created the key needle').waitFor();
    // The audit log records the ID of a service; users search by name.
    await page.goto(`${browser.server.url}/activity?text=analytics`);
    await status.getByText('200 entries loaded').waitFor();
  });

  it('changes whether statements keep their literals, for admins only', async () => {
    const page = await browser.signIn(acme.admin, '/activity');
    const literals = page.getByLabel('Keep literals of SQL statements');
    await literals.check();
    await page.getByText('admin turned on keeping literals of statements in the audit log').waitFor();
    expect(await literals.isChecked()).toBe(true);
    const reader = await browser.signIn(acme.developer, '/activity');
    await reader.getByRole('listitem').first().waitFor();
    expect(await reader.getByLabel('Keep literals of SQL statements').count()).toBe(0);
  });

  it('is accessible and fits three widths with a filter', async () => {
    const page = await browser.signIn(acme.admin, '/activity?kind=key');
    await page.getByText('created the key needle').waitFor();
    await expectAccessible(page);
    await checkWidths(page, 'activity-filtered');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
  });
});
