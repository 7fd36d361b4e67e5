import type { RunError } from '../result/result-stream.ts';
import type { Command } from '../statements.ts';

/** Names that ClickHouse puts in quotes in the messages about them. */
const UNKNOWN_NAME = /(?:identifier|function|table|database|column)\w*(?: with name)? [`'"]?([\w.]+)[`'"]?/i;

/** Where to mark an error in the editor: its position, or else the name that the message is about. */
export function findErrorOffset(
  { sql, offset, statement }: Command,
  { message, position }: RunError,
): number | undefined {
  const prefix = sql.length - statement.length;
  if (position !== undefined) return offset + Math.min(Math.max(position, prefix), sql.length);
  const [, name] = UNKNOWN_NAME.exec(message) ?? [];
  const parts = name === undefined ? [] : [name, name.split('.').at(-1) ?? ''];
  const at = parts.map((part) => sql.indexOf(part, prefix)).find((index) => index >= 0);
  return at === undefined ? undefined : offset + at;
}
