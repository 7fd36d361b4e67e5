import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'docs/security.md'), 'utf8');

/** The requirements of levels 1 and 2 of ASVS 5.0.0 by section: `1.1` has 1.1.1 and 1.1.2. V17 does not apply as a whole. */
const REQUIREMENTS: Record<string, number[]> = Object.fromEntries(
  `1.1:1-2 1.2:1-9 1.3:1-11 1.4:1-3 1.5:1-2 2.1:1-3 2.2:1-3 2.3:1-4 2.4:1-1 3.2:1-2 3.3:1-4 3.4:1-6 3.5:1-5 3.7:1-2
   4.1:1-3 4.2:1-1 4.3:1-2 4.4:1-4 5.1:1-1 5.2:1-3 5.3:1-2 5.4:1-3 6.1:1-3 6.2:1-11 6.3:1-4 6.4:1-4 6.5:1-5 6.6:1-3
   6.8:1-4 7.1:1-3 7.2:1-4 7.3:1-2 7.4:1-5 7.5:1-2 7.6:1-2 8.1:1-2 8.2:1-3 8.3:1-1 8.4:1-1 9.1:1-3 9.2:1-4 10.1:1-2
   10.2:1-2 10.3:1-4 10.4:1-11 10.5:1-5 10.6:1-2 10.7:1-3 11.1:1-2 11.2:1-3 11.3:1-3 11.4:1-4 11.5:1-1 11.6:1-1 12.1:1-3 12.2:1-2 12.3:1-4 13.1:1-1 13.2:1-5 13.3:1-2 13.4:1-5
   14.1:1-2 14.2:1-4 14.3:1-3 15.1:1-3 15.2:1-3 15.3:1-7 16.1:1-1 16.2:1-5 16.3:1-4 16.4:1-3 16.5:1-3`
    .split(/\s+/)
    .map((entry) => {
      const [section = '', first = 0, last = 0] = entry.split(/[:-]/);
      return [section, Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i)];
    }),
);

/** The cells of every table row. */
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
  .map((line) => line.slice(2, -2).split(' | '));

const findTests = (cell: string): string[] =>
  [...cell.matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, path = '']) => path);

describe('docs/security.md', () => {
  it('names only tests that exist', () => {
    const named = findTests(text);
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('has a row with a test for each of the ten API risks', () => {
    for (let risk = 1; risk <= 10; risk++) {
      const found = rows.filter(([name = '']) => name.startsWith(`API${risk} `));
      expect(found, `API${risk}`).toHaveLength(1);
      expect(findTests(found[0]?.[2] ?? ''), `API${risk}`).not.toEqual([]);
    }
  });

  it('covers every requirement of ASVS levels 1 and 2 exactly once, in a row with a test or a reason', () => {
    const [, chapters = ''] = /\n## OWASP ASVS 5\.0, level 2\n([\s\S]*?)\n## Known gaps\n/.exec(text) ?? [];
    const listed = chapters.split('\n').flatMap((line) => {
      const [, ids = ''] = /^(?:\| )?((?:\d+\.\d+\.\d+(?:, )?)+)/.exec(line) ?? [];
      return ids === '' ? [] : ids.split(', ');
    });
    const expected = Object.entries(REQUIREMENTS).flatMap(([section, items]) => items.map((n) => `${section}.${n}`));
    expect(expected).toHaveLength(245);
    expect(listed.sort()).toEqual(expected.sort());
    const asvs = rows.filter(([id = '']) => /^\d+\.\d+\.\d+/.test(id));
    for (const [id = '', how = '', test = ''] of asvs) {
      expect(how, id).not.toBe('');
      expect(test === '—' || findTests(test).length > 0, `${id}: a test, or — with the reason`).toBe(true);
    }
  });

  it('lists each gap that a row mentions', () => {
    const [, gaps = ''] = text.split('\n## Known gaps\n');
    const mentioned = rows.filter(
      ([id = '', how = '']) => /^\d/.test(id) && /\b(see gaps|are a gap|known gaps)\b/.test(how),
    );
    expect(mentioned.length).toBeGreaterThan(0);
    const ids = mentioned.flatMap(([id = '']) => (/^[\d., ]+/.exec(id)?.[0] ?? '').trim().split(', '));
    for (const id of ids) expect(gaps, id).toContain(id);
  });

  it('links only to files that exist', () => {
    const files = new Set(readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }));
    for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g))
      expect(target.startsWith('../') ? existsSync(join(root, 'docs', target)) : files.has(target), target).toBe(true);
  });
});
