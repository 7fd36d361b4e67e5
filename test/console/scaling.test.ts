import { expect, it } from 'vitest';
import { inBrowser, type Page, waitUntilSettled } from '../support/browser.ts';
import { acme, globex, initech } from '../support/fleet.ts';

const minimum = (page: Page) => page.getByLabel('Minimum per replica (GB)');
const maximum = (page: Page) => page.getByLabel('Maximum per replica (GB)');
const replicas = (page: Page) => page.getByRole('textbox', { name: 'Number of replicas' });
const save = (page: Page) => page.getByRole('button', { name: 'Save changes' });

inBrowser('scaling editor', (browser) => {
  const path = `/v1/organizations/${acme.id}/services/${acme.primary}`;
  const stored = async () => (await browser.server.call({ path, key: acme.admin })).json.result;

  it('lists pending changes, saves them and confirms', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.primary}/scaling`);
    expect(await save(page).isDisabled()).toBe(true);
    await minimum(page).fill('24');
    await replicas(page).fill('5');
    const pending = page.getByRole('region', { name: 'Pending changes' });
    expect(await pending.locator('dl').textContent()).toBe('Replicas3 → 5Minimum memory per replica16 → 24 GB');
    await save(page).click();
    await page.getByText('analytics is now 24–120 GB × 5').waitFor();
    expect(await stored()).toMatchObject({ numReplicas: 5, minTotalMemoryGb: 72, maxTotalMemoryGb: 360 });
    await pending.getByText('No changes yet').waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('region', { name: 'History' }).getByText('replicas from 3 to 5').waitFor();
  });

  it('shows the monthly compute cost estimated by the server', async () => {
    const { json } = await browser.server.call({
      method: 'POST',
      path: `/v1/organizations/${acme.id}/services/${acme.secondary}/scaling/preview`,
      key: acme.admin,
      body: { numReplicas: 9, idleScaling: false },
    });
    const { min, max } = json.result.monthlyCost.after;
    const figure = (chc: number) => chc.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    const page = await browser.signIn(acme.admin, `/services/${acme.secondary}/scaling`);
    await replicas(page).fill('9');
    await page.getByRole('switch').click();
    await page.getByText(`${figure(min)} – ${figure(max)}`).waitFor();
    expect(
      (await browser.server.call({ path: `/v1/organizations/${acme.id}/services/${acme.secondary}`, key: acme.admin }))
        .json.result.numReplicas,
    ).toBe(2);
  });

  it('S4: shows memory per replica, and the total of the actual number of replicas', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.secondary}/scaling`);
    expect(await minimum(page).inputValue()).toBe('16');
    await page.getByText('32 GB in total with 2 replicas').waitFor();
    await replicas(page).fill('5');
    await page.getByText('80 GB in total with 5 replicas').waitFor();
    await page.getByText('600 GB in total with 5 replicas').waitFor();
    await minimum(page).fill('20');
    await page.getByText('100 GB in total with 5 replicas').waitFor();
  });

  it('shows no price for invalid input', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.secondary}/scaling`);
    const pending = page.getByRole('region', { name: 'Pending changes' });
    const newPrice = pending.getByText('New', { exact: true });
    await replicas(page).fill('4');
    await newPrice.waitFor();
    for (const [field, value] of [
      [replicas(page), '21'],
      [replicas(page), ''],
      [minimum(page), '23'],
    ] as const) {
      const before = await field.inputValue();
      await field.fill(value);
      await newPrice.waitFor({ state: 'detached' });
      if (value !== '') await pending.getByText('These settings are not valid, so they have no price.').waitFor();
      await field.fill(before);
      await newPrice.waitFor();
    }
  });

  it('moves the slider in valid steps by keyboard', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.secondary}/scaling`);
    const before = Number(await maximum(page).inputValue());
    await page.getByRole('slider', { name: 'Maximum memory per replica in GB' }).press('ArrowRight');
    expect(Number(await maximum(page).inputValue())).toBe(before + 4);
  });

  it('validates limits before sending a request', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.primary}/scaling`);
    await minimum(page).fill('23');
    await page.getByText('Must be a multiple of 4, such as 20 or 24 GB').waitFor();
    await minimum(page).fill('4');
    await page.getByText('Must be between 8 and 356 GB').waitFor();
    await minimum(page).fill('240');
    await page.getByText('The minimum (240 GB) must not exceed the maximum (120 GB)').waitFor();
    await replicas(page).fill('1');
    await page.getByText('Must be between 2 and 20 replicas').waitFor();
    expect(await save(page).isDisabled()).toBe(true);
  });

  it('shows server errors at the field and keeps the input', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.secondary}/scaling`);
    await minimum(page).fill('80');
    // A concurrent change lowers the maximum.
    const { status } = await browser.server.call({
      method: 'PATCH',
      path: `/v1/organizations/${acme.id}/services/${acme.secondary}/scaling`,
      key: acme.admin,
      body: { maxTotalMemoryGb: 120 },
    });
    expect(status).toBe(200);
    await save(page).click();
    const message = page.getByText('The minimum of 80 GB must not exceed the maximum of 40 GB.');
    await message.waitFor();
    expect(await minimum(page).getAttribute('aria-invalid')).toBe('true');
    expect(await minimum(page).getAttribute('aria-describedby')).toContain(await message.getAttribute('id'));
    expect(await minimum(page).inputValue()).toBe('80');
  });

  it('keeps the input while the server cannot be reached', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.primary}/scaling`);
    await page.getByText('Monthly compute cost').waitFor();
    await waitUntilSettled(page);
    browser.allowConsoleError(/net::ERR/);
    await replicas(page).fill('7');
    await page.context().setOffline(true);
    await save(page).click();
    await page.getByRole('alert').getByText('Cannot reach the server').waitFor();
    await page.context().setOffline(false);
    await save(page).click();
    await page.getByText(/analytics is now .* × 7/).waitFor();
  });

  it('asks for confirmation before leaving with unsaved changes', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.primary}/scaling`);
    await replicas(page).fill('9');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click();
    expect(await replicas(page).inputValue()).toBe('9');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
  });

  it('copies the change as a curl command', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.primary}/scaling`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await minimum(page).fill('20');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(command).toContain('{"minReplicaMemoryGb":20}');
    expect(command).toContain(`${browser.server.url}${path}/replicaScaling`);
    expect(command).not.toContain(acme.admin.keySecret);
  });

  it('explains the fixed size of a development service', async () => {
    const page = await browser.signIn(acme.admin, `/services/${acme.development}/scaling`);
    const reasons = page.getByText('The size of a development service cannot be changed');
    await reasons.first().waitFor();
    expect(await reasons.count()).toBe(2);
    expect(await minimum(page).isDisabled()).toBe(true);
    expect(await page.getByRole('switch').isEnabled()).toBe(true);
  });

  it('limits a non-paid organization to 120 GB per replica', async () => {
    const page = await browser.signIn(globex.admin, `/services/${globex.primary}/scaling`);
    await maximum(page).fill('124');
    await page.getByText('Must be between 8 and 120 GB').waitFor();
  });

  it('explains the fixed size in a basic organization', async () => {
    const page = await browser.signIn(initech.admin, `/services/${initech.primary}/scaling`);
    await page.getByText('A service of a BASIC organization has exactly 1 replica').waitFor();
    expect(await replicas(page).isDisabled()).toBe(true);
  });

  it('shows an error for services of other organizations', async () => {
    const page = await browser.signIn(acme.admin, `/services/${globex.primary}/scaling`);
    await page.getByText('This service does not exist').waitFor();
  });
});
