import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { position, RANGE, T0 } from '../support/board.ts';
import { inBrowser, waitUntilSettled } from '../support/browser.ts';
import { fillEngine } from '../support/engine.ts';
import { acme, fleet } from '../support/fleet.ts';

/** Each sets `window.pwned` if it is interpreted as markup, script or URL. */
const HOSTILE = [
  '<img src=x onerror="window.pwned=1">',
  '<script>window.pwned=1</script>',
  '"><svg onload=window.pwned=1>',
  '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
];

const MARKDOWN = [
  '<script>window.pwned=1</script>',
  '<img src=x onerror="window.pwned=1">',
  '<svg><animate onbegin=window.pwned=1 attributeName=x></svg>',
  '<iframe src="javascript:parent.pwned=1"></iframe>',
  '<math><mtext></p><style><img src onerror=window.pwned=1></style></mtext></math>',
  '<a href="javascript:window.pwned=1">raw</a>',
  '[markdown](javascript:window.pwned=1)',
  '[data](data:text/html,<script>window.pwned=1</script>)',
  '[coded](&#106;avascript:window.pwned=1)',
  '![picture](https://elsewhere.example/pixel.png)',
  '<form action="https://elsewhere.example"><input name=x><button>Sign in</button></form>',
  '<div id="root" class="mantine-Modal-root" style="position:fixed;inset:0">over everything</div>',
  '<link rel=stylesheet href=https://elsewhere.example/x.css><meta http-equiv=refresh content=0;url=/x>',
  '<object data="/x"></object><embed src="/x"><base href="https://elsewhere.example/">',
  '**good**',
].join('\n\n');

/** Each is nested deeply, or takes quadratic time where its length is not limited. */
const DEEP: Readonly<Record<string, string>> = {
  quotes: '>'.repeat(3000),
  'spaced quotes': `${'> '.repeat(3000)}a`,
  lists: `${'- '.repeat(3000)}a`,
  'indented lists': Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth * 2)}- a`).join('\n'),
  'quotes and lists': `${'> - '.repeat(2000)}a`,
  emphasis: `${'*'.repeat(3000)}a${'*'.repeat(3000)}`,
  images: `${'!['.repeat(1000)}a${'](b)'.repeat(1000)}`,
  links: `${'['.repeat(5000)}a${'](b)'.repeat(2000)}`,
  'open emphasis': '**a '.repeat(12_000),
  'closed emphasis': 'a*'.repeat(25_000),
  code: '`a'.repeat(25_000),
  tables: `${'|a'.repeat(5000)}\n${'|-'.repeat(5000)}`,
  mails: 'a@b.'.repeat(12_000),
  tags: '<a '.repeat(15_000),
};

const [organization, ...others] = fleet.organizations;
const hostile = (index: number): string => HOSTILE[index % HOSTILE.length] ?? '';
const tiles = [
  {
    id: 'time',
    name: hostile(0),
    ...position(0, 0, 12, 6),
    series: [{ type: 'time', aggFn: 'count', sourceId: 'logs', groupBy: ['ServiceName'], alias: hostile(1) }],
  },
  {
    id: 'table',
    name: hostile(1),
    ...position(12, 0, 12, 6),
    series: [{ type: 'table', aggFn: 'count', sourceId: 'logs', groupBy: ['ServiceName'], alias: hostile(2) }],
  },
  {
    id: 'search',
    name: hostile(2),
    ...position(0, 6, 24, 6),
    series: [{ type: 'search', sourceId: 'logs', fields: ['ServiceName', 'Body'] }],
  },
  {
    id: 'number',
    name: hostile(3),
    ...position(0, 12, 6, 4),
    series: [
      {
        type: 'number',
        aggFn: 'count',
        sourceId: 'logs',
        numberFormat: { unit: hostile(0), output: hostile(1), mantissa: '9e9', factor: null },
      },
    ],
  },
  { id: 'text', name: 'text', ...position(6, 12, 18, 8), series: [{ type: 'markdown', content: MARKDOWN }] },
];

const toId = (name: string): string => name.replaceAll(' ', '-');
const DEEP_TILES = [...Object.entries(DEEP), ['beside', '**good**'] as const].map(([name, content], index) => ({
  id: toId(name),
  name,
  ...position((index % 4) * 6, Math.floor(index / 4) * 4, 6, 4),
  series: [{ type: 'markdown', content }],
}));

inBrowser(
  'dashboards with hostile content',
  (browser) => {
    beforeAll(() =>
      fillEngine(join(browser.server.directory, 'data'), {
        otel_logs: HOSTILE.map((text, index) => ({
          OrganizationId: acme.id,
          Timestamp: new Date(T0 + index * 60_000).toISOString(),
          ServiceName: text,
          Body: text,
        })),
      }),
    );

    it('shows names, tags, groups and rows as plain text', async () => {
      const page = await browser.signIn(acme.admin, `/dashboards/hostile?${RANGE}`);
      await page.locator('[data-tile="time"] canvas').waitFor();
      await page.getByRole('heading', { name: hostile(0), level: 1 }).waitFor();
      for (const text of HOSTILE)
        await page.locator('[data-tile="table"]').getByRole('cell', { name: text, exact: true }).waitFor();
      await page.locator('[data-tile="time"] .u-over').hover();
      await page.getByTestId('chart-tooltip').waitFor();
      await page.locator('[data-tile="search"] tbody button').first().click();
      await page.goto(`${browser.server.url}/dashboards`);
      await page.getByRole('link', { name: hostile(0) }).waitFor();
      await page.goto(`${browser.server.url}/dashboards/hostile?${RANGE}&edit=true`);
      await page.getByRole('button', { name: `Edit ${hostile(0)}` }).click();
      await page.getByRole('dialog').locator('canvas').waitFor();
      await waitUntilSettled(page);
      expect(await page.evaluate('window.pwned')).toBeUndefined();
    });

    it('removes active content from Markdown', async () => {
      const page = await browser.signIn({ token: acme.token }, `/dashboards/hostile?${RANGE}`);
      const text = page.locator('[data-tile="text"]');
      await text.locator('strong').getByText('good').waitFor();
      expect(await page.evaluate('window.pwned')).toBeUndefined();
      for (const tag of ['script', 'img', 'iframe', 'svg', 'form', 'input', 'style', 'object', 'embed', 'link', 'base'])
        expect(await text.locator(`section ${tag}`).count(), tag).toBe(0);
      for (const link of await text.getByText(/^(raw|markdown|data|coded)$/).all())
        expect(await link.getAttribute('href')).toBeNull();
      expect(
        await text.locator('section').locator('[style], [id], [class]:not([class*=markdown]), [onerror]').count(),
      ).toBe(0);
      expect(await text.getByText('picture').count()).toBe(1);
      expect(await text.locator('section').textContent()).toContain('<script>window.pwned=1</script>');
    });

    it('shows deep Markdown, and what is beside it', async () => {
      const page = await browser.signIn({ token: acme.token }, `/dashboards/deep?${RANGE}`);
      for (const [name, content] of Object.entries(DEEP)) {
        const tile = page.locator(`[data-tile="${toId(name)}"]`);
        await tile.scrollIntoViewIfNeeded();
        const mark = content.includes('a') ? 'a' : '>';
        await tile.locator('section').filter({ hasText: mark }).waitFor();
        expect(await tile.getByTestId('part-error').count(), name).toBe(0);
        const depth: unknown = await page.evaluate(`(() => {
          const measure = (node) => 1 + Math.max(0, ...[...node.children].map(measure));
          return measure(document.querySelector('[data-tile="${toId(name)}"] section'));
        })()`);
        expect(depth, name).toBeLessThan(100);
      }
      await page.locator('[data-tile="beside"] strong').getByText('good').waitFor();
      expect(await page.getByTestId('part-error').count()).toBe(0);
    });

    it('shows the other tiles beside one that cannot be drawn, and draws it again', async () => {
      const page = await browser.signIn({ token: acme.token });
      // As a server of another version could answer.
      await page.route('**/tiles/number/data*', (route) =>
        route.fulfill({ json: { data: { type: 'number', series: null } } }),
      );
      // React reports the error that the boundary shows.
      await page.addInitScript('console.error = console.info');
      await page.goto(`${browser.server.url}/dashboards/hostile?${RANGE}`);
      const tile = page.locator('[data-tile="number"]');
      await tile.getByTestId('part-error').getByText('This cannot be shown').waitFor();
      await page
        .locator('[data-tile="table"]')
        .getByRole('cell', { name: HOSTILE[0] ?? '', exact: true })
        .waitFor();
      expect(await page.getByTestId('part-error').count()).toBe(1);
      await page.unroute('**/tiles/number/data*');
      await page.reload();
      await tile.getByText('4', { exact: false }).first().waitFor();
      expect(await page.getByTestId('part-error').count()).toBe(0);
    });

    it('validates its URL parameters', async () => {
      const page = await browser.signIn(
        acme.admin,
        `/dashboards/hostile?from=abc&to=-1&last=%3Cb%3E&refresh=1ms&tile=${encodeURIComponent(hostile(0))}`,
      );
      await page.getByRole('button', { name: 'Time range: Last hour' }).waitFor();
      expect(await page.evaluate('window.pwned')).toBeUndefined();
    });
  },
  {
    fleet: {
      organizations: [
        {
          ...organization,
          dashboards: [
            { id: 'deep', name: 'Deep', tiles: DEEP_TILES },
            { id: 'hostile', name: hostile(0), tags: ['<b>x</b>', '"><i onclick=1>'], tiles },
          ],
        },
        ...others,
      ],
    },
  },
);
