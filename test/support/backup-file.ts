import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** The rows of every table of a backup as text, sorted; written independently of the program's reader. */
export function decodeBackup(path: string): Map<string, string[]> {
  const bytes = readFileSync(path);
  const tables = new Map<string, string[]>();
  let rows: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\n', at);
    const line = JSON.parse(bytes.toString('utf8', at, end));
    at = end + 1;
    if (line.type === 'table') {
      rows = [];
      tables.set(`${line.part} ${line.name}`, rows);
    }
    if (line.type !== 'rows') continue;
    const content = gunzipSync(bytes.subarray(at, at + line.bytes)).toString('latin1');
    rows.push(...content.slice(0, -1).split('\n'));
    at += line.bytes;
  }
  for (const list of tables.values()) list.sort();
  return tables;
}
