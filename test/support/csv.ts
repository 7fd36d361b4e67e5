import { expect } from 'vitest';

/** A parser for RFC 4180, independent of the writer: lines end in CRLF, quotes inside quotes are doubled. */
export function parseCsv(text: string): string[][] {
  const lines: string[][] = [];
  let cells: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      const quoted = /"(?:[^"]|"")*"/y;
      quoted.lastIndex = at;
      const [match = expect.fail('unterminated quote')] = quoted.exec(text) ?? [];
      cell = match.slice(1, -1).replaceAll('""', '"');
      at += match.length;
    } else {
      const end = /[,\r\n"]/g;
      end.lastIndex = at;
      const stop = end.exec(text)?.index ?? text.length;
      cell = text.slice(at, stop);
      at = stop;
    }
    cells.push(cell);
    if (text[at] === ',') at++;
    else if (text.startsWith('\r\n', at)) {
      lines.push(cells);
      cells = [];
      at += 2;
    } else expect.fail(`expected a comma or the end of the line at ${at}: ${text.slice(at, at + 20)}`);
  }
  expect(cells).toEqual([]);
  return lines;
}

/** Each line as a record, with the column names of the header. */
export function parseCsvRecords(text: string): Record<string, string>[] {
  const [header = [], ...lines] = parseCsv(text);
  return lines.map((cells) => {
    expect(cells).toHaveLength(header.length);
    return Object.fromEntries(header.map((name, index) => [name, cells[index] ?? '']));
  });
}
