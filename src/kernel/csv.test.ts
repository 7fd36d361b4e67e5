import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCsv } from '../../test/support/csv.ts';
import { formatLine, textCell } from './csv.ts';

describe('a text cell', () => {
  it.each([
    ['plain', 'plain'],
    ['a, b', '"a, b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['', ''],
    ['a=b', 'a=b'],
    ['Ärger ☃ 😀', 'Ärger ☃ 😀'],
  ])('%j is written as %j', (text, cell) => {
    expect(textCell(text)).toBe(cell);
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '  =1+1', '＝1', '=cmd|" /C calc"!A0'])(
    '%j is written so that spreadsheets do not evaluate it',
    (text) => {
      expect(parseCsv(`${textCell(text)}\r\n`)).toEqual([[`'${text}`]]);
    },
  );

  it('survives a round trip, except for the apostrophe', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }), (texts) => {
        const [cells = []] = parseCsv(formatLine(texts.map(textCell)));
        const isSame = (cell: string, index: number) => [texts[index], `'${texts[index]}`].includes(cell);
        expect(cells.map(isSame)).toEqual(texts.map(() => true));
        for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
      }),
      { numRuns: 50 },
    );
  });
});
