import { expect, it } from 'vitest';
import { inBrowser, type Page } from '../support/browser.ts';
import { acme, globex, initech } from '../support/fleet.ts';

const smallest = (page: Page) => page.getByLabel('Smallest, GB');
const largest = (page: Page) => page.getByLabel('Largest, GB');
const replicas = (page: Page) => page.getByRole('textbox', { name: 'Number of replicas' });
const save = (page: Page) => page.getByRole('button', { name: 'Save changes' });

inBrowser('the scaling editor', (browser) => {
  const path = `/v1/organizations/${acme.id}/services/${acme.primary}`;
  const stored = async () => (await browser.server.call({ path, key: acme.admin })).json.result;

  it('shows what will change, saves it and tells so', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.primary}`);
    expect(await save(page).isDisabled()).toBe(true);
    await smallest(page).fill('72');
    await replicas(page).fill('5');
    const outcome = page.getByRole('region', { name: 'What will change' });
    expect(await outcome.locator('dl').textContent()).toBe('Replicas3 → 5Smallest total48 → 72 GB');
    await save(page).click();
    await page.getByText('analytics is now 24–120 GB × 5').waitFor();
    expect(await stored()).toMatchObject({ numReplicas: 5, minTotalMemoryGb: 72, maxTotalMemoryGb: 360 });
    await outcome.getByText('Nothing yet').waitFor();
    await page.getByRole('region', { name: 'History' }).getByText('Replicas 3 → 5').waitFor();
  });

  it('says what a month of compute would cost, as the server works it out', async () => {
    const { json } = await browser.server.call({
      method: 'POST',
      path: `/v1/organizations/${acme.id}/services/${acme.secondary}/scaling/preview`,
      key: acme.admin,
      body: { numReplicas: 9, idleScaling: false },
    });
    const { min, max } = json.result.monthlyCost.after;
    const figure = (chc: number) => chc.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    const page = await browser.signIn(acme.admin, `/services/${acme.secondary}`);
    await replicas(page).fill('9');
    await page.getByRole('switch').click();
    await page.getByText(`${figure(min)} – ${figure(max)}`).waitFor();
    expect(
      (await browser.server.call({ path: `/v1/organizations/${acme.id}/services/${acme.secondary}`, key: acme.admin }))
        .json.result.numReplicas,
    ).toBe(2);
  });

  it('moves by keyboard in the steps the rules allow', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.secondary}`);
    const before = Number(await largest(page).inputValue());
    await page.getByRole('slider', { name: 'Largest total memory in GB' }).press('ArrowRight');
    expect(Number(await largest(page).inputValue())).toBe(before + 12);
  });

  it('knows the rules before the server is asked', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.primary}`);
    await smallest(page).fill('71');
    await page.getByText('In steps of 12: 60 or 72 GB').waitFor();
    await smallest(page).fill('12');
    await page.getByText('From 24 to 1068 GB').waitFor();
    await smallest(page).fill('720');
    await page.getByText('The smallest size (720 GB) is above the largest (360 GB)').waitFor();
    await replicas(page).fill('1');
    await page.getByText('From 2 to 20 replicas').waitFor();
    expect(await save(page).isDisabled()).toBe(true);
  });

  it('shows what the server refuses at the field it names, and keeps what was typed', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.secondary}`);
    await smallest(page).fill('240');
    // Meanwhile somebody else makes it smaller.
    const { status } = await browser.server.call({
      method: 'PATCH',
      path: `/v1/organizations/${acme.id}/services/${acme.secondary}/scaling`,
      key: acme.admin,
      body: { maxTotalMemoryGb: 120 },
    });
    expect(status).toBe(200);
    await save(page).click();
    const message = page.getByText('The minimum of 240 GB must not exceed the maximum of 120 GB.');
    await message.waitFor();
    expect(await smallest(page).getAttribute('aria-invalid')).toBe('true');
    expect(await smallest(page).getAttribute('aria-describedby')).toContain(await message.getAttribute('id'));
    expect(await smallest(page).inputValue()).toBe('240');
  });

  it('keeps what was typed while the server cannot be reached', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.primary}`);
    await page.getByRole('region', { name: 'History' }).getByRole('listitem').first().waitFor();
    browser.expectComplaint(/net::ERR/);
    await replicas(page).fill('7');
    await page.context().setOffline(true);
    await save(page).click();
    await page.getByRole('alert').getByText('The server cannot be reached').waitFor();
    await page.context().setOffline(false);
    await save(page).click();
    await page.getByText(/analytics is now .* × 7/).waitFor();
  });

  it('asks before unsaved changes are left', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.primary}`);
    await replicas(page).fill('9');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click();
    expect(await replicas(page).inputValue()).toBe('9');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
  });

  it('copies the change as a command that does the same', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.primary}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await smallest(page).fill('60');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(command).toContain('{"minTotalMemoryGb":60}');
    expect(command).toContain(`${browser.server.url}${path}/scaling`);
    expect(command).not.toContain(acme.admin.keySecret);
  });

  it('says why a development service has one size', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.development}`);
    const reasons = page.getByText('A development service has a fixed size');
    await reasons.first().waitFor();
    expect(await reasons.count()).toBe(2);
    expect(await smallest(page).isDisabled()).toBe(true);
    expect(await page.getByRole('switch').isEnabled()).toBe(true);
  });

  it('ends at 360 GB where the organization does not pay', async () => {
    const page = await browser.signIn(globex.admin, `/services/${globex.primary}`);
    await largest(page).fill('372');
    await page.getByText('From 24 to 360 GB').waitFor();
  });

  it('leaves a basic organization its one size', async () => {
    const page = await browser.signIn(initech.admin, `/services/${initech.primary}`);
    await page.getByText('A service of a basic organization has one replica').waitFor();
    expect(await replicas(page).isDisabled()).toBe(true);
  });

  it('says so where there is no such service, also when it is somebody else’s', async () => {
    const page = await browser.signIn(acme.admin, `/services/${globex.primary}`);
    await page.getByText('There is no such service').waitFor();
  });
});
