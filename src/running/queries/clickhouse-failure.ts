/** An error of ClickHouse, as clients see it. */
export interface Failure {
  code: number | null;
  /** Such as `SYNTAX_ERROR`. */
  name: string | null;
  message: string;
  /** Where in the statement, in UTF-16 units, from 1. */
  position: number | null;
}

const MAX_MESSAGE_CHARACTERS = 16_384;
const PREFIX = /^Code: (\d+)\. DB::[A-Za-z:]*Exception: /;
const VERSION = /^\(version [^)]*\)$/;
const NAME = /\(([A-Z][A-Z0-9_]+)\)$/;
const POSITION = /failed at position (\d+)/;

export class StatementFailure extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Parses the text of an error; `sql` is the statement that it is about. */
export function parseFailure(text: string, sql: string): Failure {
  const trimmed = cutVersion(text.trim());
  const [prefix = '', code] = PREFIX.exec(trimmed) ?? [];
  const name = NAME.exec(trimmed)?.[1];
  const position = POSITION.exec(trimmed)?.[1];
  return {
    code: code === undefined ? null : Number(code),
    name: name ?? null,
    message: trimmed.slice(prefix.length, prefix.length + MAX_MESSAGE_CHARACTERS),
    position: position === undefined ? null : toCharacterPosition(sql, Number(position)),
  };
}

/** A pattern that is searched for in the whole text would take quadratic time: the text repeats that of users. */
function cutVersion(text: string): string {
  const start = text.lastIndexOf('(version ');
  return start >= 0 && VERSION.test(text.slice(start)) ? text.slice(0, start).trimEnd() : text;
}

/** ClickHouse counts bytes. */
const toCharacterPosition = (sql: string, byte: number): number =>
  Buffer.from(sql)
    .subarray(0, Math.max(0, byte - 1))
    .toString().length + 1;
