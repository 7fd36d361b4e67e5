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
const VERSION = /\s*\(version [^)]*\)\s*$/;
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
  const trimmed = text.trim().replace(VERSION, '');
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

/** ClickHouse counts bytes. */
const toCharacterPosition = (sql: string, byte: number): number =>
  Buffer.from(sql)
    .subarray(0, Math.max(0, byte - 1))
    .toString().length + 1;
