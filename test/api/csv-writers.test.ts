import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatCsv, STARTS_FORMULA } from '../../console/src/parts/format/csv.ts';
import { createCsvGuard } from '../../console/src/parts/format/csv-guard.ts';
import { formatLine, textCell } from '../../src/kernel/csv.ts';
import { parseCsv } from '../support/csv.ts';

const ROOT = join(import.meta.dirname, '../..');
const HOSTILE = ['=HYPERLINK("http://a")', '+1+cmd|x', '-1+1', '@SUM(A1)', '\t=1', '  =1', '＝1', '\ufeff=1', '\r=1'];
const HARMLESS = ['a=b', '', ' a', 'a "quoted" text', 'a, b', "it's", 'Ä😀'];
const GUARDED = [...HOSTILE.map((text) => `'${text}`), ...HARMLESS];
const TEXTS = [...HOSTILE, ...HARMLESS];

/** As ClickHouse writes it: every text in quotes, numbers and NULL without. */
const toClickHouseCsv = (texts: readonly string[]): string =>
  `"name","=n"\n${texts.map((text) => `"${text.replaceAll('"', '""')}",-1.5e3,\\N\n`).join('')}`;

/** Every file that writes CSV, and how: with the guard, or as the exact result of SQL for programs. */
const WRITERS: Readonly<Record<string, 'guarded' | 'exact'>> = {
  'src/observability/search/export.ts': 'guarded',
  'src/management/billing/reports/csv-columns.ts': 'guarded',
  'src/management/billing/reports/focus-columns.ts': 'guarded',
  'src/management/billing/reports/focus-lines.ts': 'guarded',
  'console/src/pages/dashboards/tiles/tile-csv.ts': 'guarded',
  'console/src/pages/sql/result/download-menu.tsx': 'guarded',
  'src/running/queries/schema.ts': 'exact',
};
/** They send, save or describe what one of the writers has written. */
const SENDERS = [
  'src/kernel/csv.ts',
  'console/src/parts/format/csv.ts',
  'src/management/billing/reports/exports.ts',
  'src/management/billing/reports/routes.ts',
  'src/management/billing/reports/schema.ts',
  'src/observability/search/routes.ts',
  'src/observability/search/schema.ts',
  'src/platform/http/openapi/examples.ts',
  'src/running/queries/routes.ts',
  'console/src/pages/dashboards/grid/tile-menu.tsx',
  'console/src/pages/search/export-menu.tsx',
  'console/src/pages/costs/download-menu.tsx',
];

it('cells of the server and of the console are guarded', () => {
  expect(parseCsv(formatLine(TEXTS.map(textCell)))).toEqual([GUARDED]);
  expect(parseCsv(formatCsv([TEXTS]))).toEqual([GUARDED]);
  expect(formatCsv([[-1.5, '-18446744073709551615', null]])).toBe('-1.5,-18446744073709551615,\r\n');
  for (const text of TEXTS) expect(STARTS_FORMULA.test(text)).toBe(HOSTILE.includes(text));
});

it.each([1, 2, 3, 7, 1_000_000])('a CSV result of SQL is guarded in pieces of %s characters', (size) => {
  const guard = createCsvGuard(',');
  const exact = toClickHouseCsv(TEXTS);
  let guarded = '';
  for (let at = 0; at < exact.length; at += size) guarded += guard(exact.slice(at, at + size), false);
  guarded += guard('', true);
  expect(guarded).toBe(toClickHouseCsv(GUARDED).replace('"=n"', `"'=n"`));
});

it.each([1, 3, 1_000_000])(
  'a TSV result of SQL is guarded in pieces of %s characters; numbers stay numbers',
  (size) => {
    const guard = createCsvGuard('\t');
    const exact = 'a\t=n\n=1+1\t-1.5\n-x\t+1e3\n@a\t-inf\n\\N\t';
    let guarded = '';
    for (let at = 0; at < exact.length; at += size) guarded += guard(exact.slice(at, at + size), false);
    guarded += guard('-1+1', true);
    expect(guarded).toBe("a\t'=n\n'=1+1\t-1.5\n'-x\t+1e3\n'@a\t-inf\n\\N\t'-1+1");
  },
);

it('every file that writes CSV is known', () => {
  const found = ['src', 'console/src']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
    )
    .filter((path) => /(?<!\.test)\.tsx?$/.test(path) && !path.endsWith('api/generated.ts'))
    .filter((path) => /text\/csv|CSVWithNames|textCell|formatCsv/.test(readFileSync(join(ROOT, path), 'utf8')));
  expect(found.filter((path) => WRITERS[path] === undefined && !SENDERS.includes(path))).toEqual([]);
  for (const [path, kind] of Object.entries(WRITERS))
    if (kind === 'guarded')
      expect(readFileSync(join(ROOT, path), 'utf8')).toMatch(/textCell|formatCsv|guardFile|formatText/);
});
