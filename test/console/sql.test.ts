import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { checkWidths, expectAccessible, expectReadable, inBrowser, type Page } from '../support/browser.ts';
import { acme, fleet } from '../support/fleet.ts';
import { type RunningService, useServices } from '../support/running-service.ts';
import { runSql } from '../support/store-sql.ts';

/** The first statement starts the process of the service. */
const ENGINE = { timeout: 100_000 };
const HOSTILE = '<img src=x onerror="window.pwned=1">';

const TABLE = `CREATE TABLE events (ts DateTime('UTC'), user LowCardinality(String), amount Nullable(Decimal(10, 2)),
tags Array(String), n UInt64) ENGINE = MergeTree ORDER BY ts SETTINGS min_bytes_for_wide_part = 0, min_rows_for_wide_part = 0`;
const ROWS = `INSERT INTO events SELECT toDateTime('2026-11-18 00:00:00', 'UTC') + number * 60, concat('user ', toString(number % 7)),
if(number % 5 = 0, NULL, number / 4), ['a', repeat('long ', number % 50)], 9007199254740993 + number FROM numbers(1000)`;

inBrowser(
  'SQL page',
  (browser) => {
    const services = useServices({ call: (call) => browser.server.call(call) });
    let service: RunningService;

    beforeAll(async () => {
      service = await services.create({ name: 'real' });
      for (const sql of [TABLE, ROWS]) expect((await service.query(sql)).status).toBe(200);
    }, ENGINE.timeout);

    const editor = (page: Page) => page.getByRole('textbox', { name: 'SQL', exact: true });
    const status = (page: Page) => page.getByTestId('sql-status');
    const table = (page: Page) => page.getByRole('table', { name: 'Result' });
    const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
    const schema = (page: Page) => page.getByRole('region', { name: 'Schema' });
    const column = (page: Page, number: number) => table(page).locator(`tbody td:nth-child(${number + 1})`);

    const open = async (options = {}, credentials = acme.admin): Promise<Page> => {
      const page = await browser.signIn(credentials, `/services/${service.id}/sql`, options);
      await editor(page).waitFor(ENGINE);
      return page;
    };
    const write = async (page: Page, sql: string) => {
      await editor(page).click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText(sql);
    };
    const run = async (page: Page, sql: string) => {
      await write(page, sql);
      await page.keyboard.press('ControlOrMeta+Enter');
    };
    const selectFormat = async (page: Page, format: string): Promise<Buffer> => {
      await button(page, 'Download').click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: format, exact: true }).click(),
      ]);
      return readFileSync(await download.path());
    };

    it('runs a statement, sorts the result and shows whole values', async () => {
      const page = await browser.signIn(acme.admin, `/services/${service.id}`);
      await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'SQL', exact: true }).click();
      await page.getByText('No result yet').waitFor();
      await run(page, `SELECT n, amount, tags, '${HOSTILE}' AS html FROM events ORDER BY ts LIMIT 100`);
      await status(page).getByText('100 rows in').waitFor(ENGINE);
      await table(page).getByText('Nullable(Decimal(10, 2))').waitFor();
      expect(await column(page, 1).first().textContent()).toBe('9007199254740993');
      expect(await column(page, 2).first().textContent()).toBe('NULL');
      expect(await column(page, 2).first().getAttribute('data-null')).toBe('true');
      expect(await table(page).locator('img').count()).toBe(0);

      const header = table(page).getByRole('columnheader').filter({ hasText: 'amount' });
      await header.getByRole('button').click();
      expect(await header.getAttribute('aria-sort')).toBe('ascending');
      expect(await column(page, 2).first().textContent()).toBe('0.25');
      await header.getByRole('button').click();
      expect(await column(page, 2).first().textContent()).toBe('24.75');

      await column(page, 3).first().click();
      const details = page.getByRole('complementary', { name: 'Value details' });
      await details.getByText('"long long').waitFor();
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await details.getByRole('button', { name: 'Copy value' }).click();
      expect(JSON.parse(await page.evaluate('navigator.clipboard.readText()'))[0]).toBe('a');
      await button(page, 'Whole row').click();
      await details.getByText('9007199254741092').waitFor();
      await details.getByRole('button', { name: 'Copy row as JSON' }).click();
      expect(JSON.parse(await page.evaluate('navigator.clipboard.readText()'))).toMatchObject({
        amount: '24.75',
        html: HOSTILE,
      });
      await button(page, 'Close details').click();
      expect(await page.evaluate('window.pwned')).toBeUndefined();

      await page.reload();
      await editor(page).getByText('FROM events').waitFor();
    });

    it('the query endpoint of an embedded service is not called stored only', async () => {
      const page = await browser.signIn(acme.admin, `/services/${service.id}/access`);
      await page.getByText('This service has no query endpoint.').waitFor();
      expect(await page.getByText('stored only').count()).toBe(0);
    });

    it('marks errors in the editor and runs several statements, a selection, or the one at the cursor', async () => {
      const page = await open();
      const marks = page.locator('.cm-lintRange-error');
      await run(page, "SELECT 1;\nSELECT 'ä', 2 FRM events");
      await page.getByRole('alert').getByText('SYNTAX_ERROR').first().waitFor(ENGINE);
      expect(await marks.textContent()).toBe('events');
      await run(page, 'SELECT 1;\n\nSELECT nme FROM events');
      await page.getByRole('alert').getByText('UNKNOWN_IDENTIFIER').first().waitFor();
      expect(await marks.textContent()).toBe('nme');
      await page.getByRole('combobox', { name: 'Statement' }).click();
      await page.getByRole('option', { name: '1: SELECT 1' }).click();
      await status(page).getByText('1 row in').waitFor();

      await run(page, "SELECT 'one';\nSELECT 'two'");
      await column(page, 1).getByText('two').waitFor();
      expect(await marks.count()).toBe(0);
      await editor(page).press('ControlOrMeta+Home');
      await page.keyboard.press('ControlOrMeta+Shift+Enter');
      await column(page, 1).getByText('one').waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Shift+End');
      await page.keyboard.press('ControlOrMeta+Enter');
      await column(page, 1).getByText('two').waitFor();

      await run(page, 'SELECT * FROM events WHERE n = 0');
      await page.getByText('The result has no rows').waitFor();
      await run(page, 'DROP TABLE events');
      await page.getByRole('alert').getByText('It starts with DROP TABLE. A reader may run').first().waitFor();
      await page.getByText('Read and write', { exact: true }).click();
      await run(page, 'CREATE TABLE made (a UInt8) ENGINE = Memory');
      await page.getByText('The statement has run').waitFor();
      await schema(page).getByRole('button', { name: /^made/ }).waitFor();
    });

    it('shows progress, and cancels', async () => {
      const page = await open();
      const endless = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)';
      await run(page, endless);
      await status(page)
        .getByText(/^Read [1-9][\d,]* rows, .+ s$/)
        .waitFor(ENGINE);
      await button(page, 'Cancel').click();
      await status(page).getByText('Canceled after').waitFor();
      await button(page, 'Run').waitFor();
      const other = await open();
      await run(other, endless);
      await status(other)
        .getByText(/^Read [1-9]/)
        .waitFor();
      // A closed tab stops its statement too.
      await other.close();
      const count = "SELECT count() FROM system.processes WHERE query LIKE 'SELECT sum(sipHash64%'";
      await expect.poll(async () => (await service.query(count)).text, ENGINE).toBe('0');
    });

    it('asks for its limit of rows of a large result, and says so', async () => {
      const page = await open();
      await run(page, 'SELECT number, number * 2 AS twice FROM numbers(1000000)');
      await status(page).getByText('Only the first 10,000 rows of the result: the limit is 10,000.').waitFor(ENGINE);
      expect(await table(page).getAttribute('aria-rowcount')).toBe('10001');
      expect(await table(page).getByRole('row').count()).toBeLessThan(80);
      await page.getByRole('region', { name: 'Result, table' }).focus();
      await page.keyboard.press('End');
      await column(page, 1).getByText('9999', { exact: true }).waitFor();
      await button(page, 'Open row 10000').click();
      await page.getByRole('complementary').getByText('19998').waitFor();
      await button(page, 'Close details').click();
      await run(page, "SELECT number, repeat('x', 10000) AS text FROM numbers(10000)");
      await status(page).getByText('more would not fit into the page').waitFor(ENGINE);
    });

    it('downloads, draws and explains', async () => {
      const page = await open();
      await write(page, 'SELECT ts, user, n % 100 AS rest FROM events WHERE user = {name:String} ORDER BY ts');
      const parameter = page.getByRole('form', { name: 'Parameters' }).getByRole('textbox', { name: 'name String' });
      await parameter.fill('user 1');
      await parameter.press('Enter');
      await status(page).getByText('143 rows in').waitFor(ENGINE);
      expect(await page.locator('.cm-tooltip').count()).toBe(0);
      const csv = (await selectFormat(page, 'CSV')).toString();
      expect(csv.split('\n').slice(0, 2)).toEqual(['"ts","user","rest"', '"2026-11-18 00:01:00","user 1",94']);
      expect((await selectFormat(page, 'TSV')).toString()).toContain('2026-11-18 00:01:00\tuser 1\t94\n');
      expect(JSON.parse((await selectFormat(page, 'JSON')).toString())).toHaveLength(143);
      expect((await selectFormat(page, 'Parquet')).subarray(0, 4).toString()).toBe('PAR1');

      await page.getByText('Chart', { exact: true }).click();
      await page.getByRole('img', { name: 'rest over ts' }).locator('canvas').waitFor();
      await page.getByRole('combobox', { name: 'X axis' }).click();
      await page.getByRole('option', { name: 'user' }).click();
      await page
        .getByTestId('bars')
        .getByRole('row', { name: /^user 1 / })
        .waitFor();

      for (const [name, text] of [
        ['Plan', 'ReadFromMergeTree (default.events)'],
        ['Pipeline', 'MergeTree'],
      ] as const) {
        await button(page, 'Explain').click();
        await page.getByRole('menuitem', { name }).click();
        await page
          .getByRole('region', { name: `Explanation: ${name.toLowerCase()}` })
          .getByText(text)
          .waitFor();
      }
      await button(page, 'Explain').click();
      await page.getByRole('menuitem', { name: 'Estimate' }).click();
      await table(page).getByRole('columnheader', { name: 'marks' }).waitFor();
    });

    it('completes names of the service, and shows its tables', async () => {
      const page = await open();
      await schema(page).getByRole('button', { name: 'events 1K', exact: true }).click(ENGINE);
      await schema(page).getByText('LowCardinality(String)').waitFor();
      await button(page, 'Details').click();
      const drawer = page.getByRole('dialog', { name: 'default.events' });
      const tags = drawer.getByRole('row').filter({ hasText: 'tags Array(String)' });
      expect(await tags.getByRole('cell').last().textContent()).toMatch(/^\d[\d.]*×$/);
      await drawer.getByRole('tab', { name: 'Parts' }).click();
      await drawer.getByRole('cell', { name: 'all_1_1_0' }).waitFor();
      await drawer.getByRole('tab', { name: 'Definition' }).click();
      await drawer.getByText('CREATE TABLE default.events').waitFor();
      await expectAccessible(page);
      await drawer.getByRole('button', { name: 'Close' }).click();
      await drawer.waitFor({ state: 'detached' });

      const complete = async (text: string, option: RegExp) => {
        await write(page, '');
        await page.keyboard.type(text);
        await page.getByRole('option', { name: option }).first().waitFor();
        await page.keyboard.press('Escape');
      };
      await complete('SELECT * FROM ev', /^events/);
      await complete('SELECT * FROM system.fun', /^functions/);
      await complete('SELECT toStartOfH', /^toStartOfHour/);
      await complete('SELECT 1 SETTINGS max_thr', /^max_threads/);
      await complete('SELECT e.n, e.ts FROM events AS e WHERE e.am', /^amount/);
      await complete('SELECT n FROM events WHERE ta', /^tags/);
      await write(page, 'SELECT  FROM events');
      await schema(page)
        .getByRole('button', { name: /^amount/ })
        .click();
      expect(await editor(page).textContent()).toContain('amount');
      await button(page, 'Insert events').click();
      expect(await editor(page).textContent()).toContain('amountdefault.events');
    });

    it('keeps a history and saved queries', async () => {
      const page = await open();
      await run(page, 'SELECT 42 AS answer');
      await status(page).getByText('1 row in').waitFor(ENGINE);
      await button(page, 'Save').click();
      const form = page.getByRole('form', { name: 'Save query' });
      await form.getByLabel('Name').fill('The answer');
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved the query The answer').waitFor();
      await write(page, 'SELECT 1');

      await button(page, 'Saved queries').click();
      const saved = page.getByRole('list', { name: 'Saved queries' });
      await saved.getByRole('button', { name: 'Actions for The answer' }).click();
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await page.getByRole('form', { name: 'Rename query' }).getByLabel('Name').fill('Forty-two');
      await button(page, 'Save').last().click();
      await saved.getByText('Forty-two').click();
      await editor(page).getByText('SELECT 42 AS answer').waitFor();

      const other = await open({}, acme.developer);
      await button(other, 'Saved queries').click();
      await other.getByRole('list', { name: 'Saved queries' }).getByText('Forty-two').waitFor();
      await other.keyboard.press('Escape');
      await button(other, 'History').click();
      await other.getByText('You have run no statements.').waitFor();
      expect(await other.getByText('Read and write', { exact: true }).count()).toBe(0);

      await write(page, 'SELECT 2');
      await button(page, 'History').click();
      await page.getByRole('list', { name: 'History' }).getByText('SELECT 42 AS answer').first().click();
      await editor(page).getByText('SELECT 42 AS answer').waitFor();
      await button(page, 'Saved queries').click();
      await saved.getByRole('button', { name: 'Actions for Forty-two' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByRole('dialog', { name: 'Delete saved query' }).getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No queries are saved.').waitFor();
    });

    it('wakes an idle service with the first run, and says so', async () => {
      const update = (minutes: number) =>
        runSql(
          browser.server,
          `UPDATE services SET document = json_set(document, '$.scaling.idleTimeoutMinutes', ${minutes}) WHERE id = '${service.id}'`,
        );
      // A timeout that the API does not accept, and with which the service idles at once.
      await update(0);
      await services.send('PATCH', `/${service.id}`, { tags: { add: [{ key: 'touched' }] } });
      await services.untilState(service.id, 'idle');
      await update(15);
      const page = await open();
      await schema(page).getByText('Its schema is read with the first run, which wakes it.').waitFor();
      expect((await services.read(service.id)).status.state).toBe('idle');
      await run(page, 'SELECT count() FROM events');
      await status(page).getByText('The service is waking up.').waitFor();
      await status(page).getByText('1 row in').waitFor(ENGINE);
      await schema(page)
        .getByRole('button', { name: /^events/ })
        .waitFor();
    });

    it('says which permission is missing, and why a service runs no statements', async () => {
      const page = await browser.signIn(acme.admin, `/services/${acme.primary}/sql`);
      await page.getByText('A simulated service has no process').waitFor();
      await page.keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: 'Command palette' });
      await palette.getByPlaceholder('Search pages').fill('query real');
      await palette.getByText('Query real', { exact: true }).click();
      await editor(page).waitFor();
      await page.route('**/console/session', async (route) => {
        const response = await route.fetch();
        const session = await response.json();
        const operations = session.operations.filter((name: string) => !name.startsWith('sql'));
        await route.fulfill({ response, json: { ...session, operations } });
      });
      await page.goto(`${browser.server.url}/services/${service.id}/sql`);
      await page.getByText('do not have the permission sql:read').waitFor();
      expect(await page.getByRole('link', { name: 'SQL', exact: true }).count()).toBe(0);
    });

    it('fits three widths, in light and dark, and is accessible', async () => {
      const sql = 'SELECT ts, user, amount, tags, n FROM events -- the rows\nORDER BY ts LIMIT 200';
      const page = await open();
      await run(page, sql);
      await status(page).getByText('200 rows in').waitFor(ENGINE);
      await expectAccessible(page);
      await checkWidths(page, 'sql');
      const dark = await open({ colorScheme: 'dark' });
      await run(dark, sql);
      await status(dark).getByText('200 rows in').waitFor(ENGINE);
      await column(dark, 4).nth(5).click();
      await expectReadable(dark);
      await button(dark, 'Close details').click();
      await checkWidths(dark, 'sql-dark');
      await run(dark, 'SELECT 1 FRM x');
      await dark.getByRole('alert').getByText('SYNTAX_ERROR').first().waitFor();
      await expectReadable(dark);
    });
  },
  { fleet, args: ['--endpoint-ports', '0'] },
);
