import { describe, expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import type { Json } from '../support/client.ts';
import { acme, fleet } from '../support/fleet.ts';
import { useMailServer } from '../support/mail-server.ts';

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const chooseAction = async (page: Page, name: string, item: string) => {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

inBrowser('members page', (browser) => {
  const path = `/v1/organizations/${acme.id}`;
  const name = fleet.organizations.find(({ id }: Json) => id === acme.id)?.name;
  const call = (part: string, method = 'GET', body?: object) =>
    browser.server.call({ method, path: `${path}/${part}`, key: acme.admin, ...(body && { body }) });
  const invite = async (email: string, role: string): Promise<string> =>
    (await call('invitations', 'POST', { email, role })).json.result.path;
  /** Opens the link of an invitation and accepts it. */
  const join = async (link: string): Promise<Page> => {
    const page = await browser.open(link);
    await page.getByRole('button', { name: `Join ${name}` }).click();
    await page.getByRole('button', { name: 'Account and appearance' }).waitFor();
    return page;
  };
  const findMember = async (email: string): Promise<Json | undefined> =>
    (await call('members')).json.result.find((member: Json) => member.email === email);

  it('invites a person, who joins with a link that works once', async () => {
    const admin = await browser.signIn(acme.admin, '/members');
    await admin.getByRole('button', { name: 'Invite member' }).first().click();
    const form = admin.getByRole('form', { name: 'Invite member' });
    await form.getByLabel('E-mail').fill('not an address');
    await form.getByRole('button', { name: 'Invite' }).click();
    await form.getByText('The value must be an e-mail address').waitFor();
    await form.getByLabel('E-mail').fill('ada@example.com');
    await expectAccessible(admin);
    await form.getByRole('button', { name: 'Invite' }).click();
    const link = (await admin.getByTestId('invitation-link').textContent()) ?? '';
    expect(link.startsWith(`${browser.server.url}/invitation#`)).toBe(true);
    await admin.getByText('Send it to the person yourself: this server sends no mail.').waitFor();
    await expectAccessible(admin);
    await admin.keyboard.press('Escape');
    await admin.getByRole('button', { name: 'Done' }).click();
    await row(admin, 'ada@example.com').getByText('developer').waitFor();
    expect(await admin.content()).not.toContain(link.split('#')[1]);

    const page = await browser.open(link);
    await page.getByText('ada@example.com').waitFor();
    await page.getByRole('heading', { name: `Join ${name}` }).waitFor();
    expect(page.url()).toBe(`${browser.server.url}/invitation`);
    await expectAccessible(page);
    await checkWidths(page, 'invitation');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await page.getByRole('button', { name: `Join ${name}` }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: 'Members' }).click();
    await row(page, 'ada@example.com').getByText('you').waitFor();
    // A developer can only look.
    expect(await page.getByRole('button', { name: 'Invite member' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Actions for/ }).count()).toBe(0);

    const again = await browser.open(link);
    await again.getByRole('alert').getByText('This invitation is not valid').waitFor();
    await expectAccessible(again);
  });

  it('deletes an invitation, also while its page is open', async () => {
    const link = await invite('grace@example.com', 'developer');
    const page = await browser.open(link);
    await page.getByRole('heading', { name: `Join ${name}` }).waitFor();
    const admin = await browser.signIn(acme.admin, '/members');
    await chooseAction(admin, 'grace@example.com', 'Delete');
    await admin.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row(admin, 'grace@example.com').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: `Join ${name}` }).click();
    await page.getByRole('alert').getByText('This invitation is not valid').waitFor();
  });

  it('changes roles, ends sessions and removes a member', async () => {
    const member = await join(await invite('linus@example.com', 'developer'));
    const admin = await browser.signIn(acme.admin, '/members');
    await chooseAction(admin, 'linus@example.com', 'Change roles');
    const form = admin.getByRole('form', { name: 'Roles of linus@example.com' });
    await form.getByLabel('admin').check();
    await form.getByLabel('developer').uncheck();
    await expectAccessible(admin);
    await form.getByRole('button', { name: 'Save changes' }).click();
    await row(admin, 'linus@example.com').getByText('admin', { exact: true }).waitFor();
    await member.goto(`${browser.server.url}/members`);
    await member.getByRole('button', { name: 'Invite member' }).first().waitFor();
    // The last admin cannot be demoted.
    await chooseAction(member, 'linus@example.com', 'Change roles');
    await member.getByRole('form').getByLabel('admin').uncheck();
    await member.getByRole('form').getByLabel('developer').check();
    await member.getByRole('form').getByRole('button', { name: 'Save changes' }).click();
    await member
      .getByRole('alert')
      .getByText(/last admin/)
      .waitFor();
    await member.getByRole('button', { name: 'Cancel' }).click();

    await chooseAction(admin, 'linus@example.com', 'Sessions');
    const dialog = admin.getByRole('dialog', { name: 'Sessions of linus@example.com' });
    await row(admin, 'Chrome on').getByText('127.0.0.1').waitFor();
    await expectAccessible(admin);
    await checkWidths(admin, 'member-sessions');
    await admin.setViewportSize({ width: 1280, height: 900 });
    await dialog.getByRole('button', { name: /^End the session in Chrome/ }).click();
    await dialog.getByText('linus@example.com is not signed in.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await member.getByRole('link', { name: 'Keys' }).click();
    await member.getByRole('dialog', { name: 'Sign in again' }).waitFor();

    const other = await invite('second@example.com', 'admin');
    await join(other);
    await admin.reload();
    await chooseAction(admin, 'linus@example.com', 'Remove');
    await admin.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await row(admin, 'linus@example.com').waitFor({ state: 'detached' });
    expect(await findMember('linus@example.com')).toBeUndefined();
    await admin.goto(`${browser.server.url}/activity`);
    await admin.getByText(/removed the member linus@example\.com/).waitFor();
    await admin.getByText(/linus@example\.com accepted an invitation \(developer\)/).waitFor();
    await admin.getByText(/ended 1 session of linus@example\.com/).waitFor();
  });

  it('a member leaves, after an administrator ended all sessions of another', async () => {
    const keeper = await join(await invite('keeper@example.com', 'admin'));
    const page = await join(await invite('leaver@example.com', 'admin'));
    await page.getByRole('link', { name: 'Members' }).click();
    await chooseAction(page, 'keeper@example.com', 'Sessions');
    await page.getByRole('button', { name: 'End all sessions' }).click();
    await page.getByText('keeper@example.com is not signed in.').waitFor();
    await keeper.goto(`${browser.server.url}/members`);
    await keeper.getByRole('form', { name: 'Sign in' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await chooseAction(page, 'leaver@example.com', 'Leave');
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
    expect(await findMember('leaver@example.com')).toBeUndefined();
  });

  it('shows the own sessions and signs out everywhere', async () => {
    const page = await join(await invite('own@example.com', 'developer'));
    const openSessions = async (one: Page) => {
      await one.getByRole('button', { name: 'Account and appearance' }).click();
      await one.getByRole('menu').getByText('own@example.com').waitFor();
      await one.getByRole('menuitem', { name: 'Your sessions' }).click();
      return one.getByRole('dialog', { name: 'Your sessions' });
    };
    const second = await join(await invite('own@example.com', 'developer'));
    const dialog = await openSessions(page);
    await row(page, 'Chrome on').filter({ hasText: 'current' }).waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
    await dialog.getByRole('button', { name: /^End the session in Chrome/ }).click();
    await dialog.getByRole('button', { name: /^End the session/ }).waitFor({ state: 'detached' });
    await second.goto(`${browser.server.url}/keys`);
    await second.getByRole('form', { name: 'Sign in' }).waitFor();
    await dialog.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
    await page.goto(`${browser.server.url}/keys`);
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
  });

  it('is accessible and fits three widths', async () => {
    await invite('pending@example.com', 'admin');
    await join(await invite('a.rather.long.address@a-rather-long-domain.example.com', 'developer'));
    const page = await browser.signIn(acme.admin, '/members');
    await row(page, 'pending@example.com').waitFor();
    await expectAccessible(page);
    await checkWidths(page, 'members');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectReadable(page);
  });
});

describe('members page with a mail server', () => {
  const mail = useMailServer();
  const options = {
    get args() {
      const smtp = ['--smtp-url', `smtp://user:p%40ss@127.0.0.1:${mail.port}`, '--smtp-from', 'ops@example.com'];
      return [...smtp, '--public-url', 'http://pilothouse.example'];
    },
  };
  inBrowser(
    'invitations',
    (browser) => {
      it.each([
        ['mailed@example.com', 'It was sent to this address.', 1],
        ['rejected@example.com', 'It could not be sent by mail. Send it to the person yourself.', 0],
      ])('of %s say: %s', async (email, text, count) => {
        const page = await browser.signIn(acme.admin, '/members');
        await page.getByRole('button', { name: 'Invite member' }).first().click();
        const form = page.getByRole('form', { name: 'Invite member' });
        await form.getByLabel('E-mail').fill(email);
        await form.getByRole('button', { name: 'Invite' }).click();
        await page.getByText(text).waitFor();
        const [, secret = ''] = ((await page.getByTestId('invitation-link').textContent()) ?? '').split('#');
        const received = mail.received.filter(({ to }) => to.includes(email));
        expect(received).toHaveLength(count);
        // Long lines are folded.
        for (const { source } of received)
          expect(source.replaceAll('=\r\n', '')).toContain(`http://pilothouse.example/invitation#${secret}`);
      });
    },
    options,
  );
});
