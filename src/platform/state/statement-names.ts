import { createHash } from 'node:crypto';

/** The texts of the statements that are built once (`prepared`), so there are only so many. */
const texts = new Map<string, string>();

/** PostgreSQL parses and plans a statement with a name once per connection. */
export function nameStatement(text: string): void {
  if (!texts.has(text)) texts.set(text, createHash('sha256').update(text).digest('hex').slice(0, 32));
}

/** A migration changed a table that `SELECT *` reads. */
const CHANGED_RESULT = '0A000';
/** A connection pooler gave us another connection of the server: one without the statement, or one that has it already. */
const UNKNOWN_STATEMENT = '26000';
const DUPLICATE_STATEMENT = '42P05';

const readCode = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** Names the statements of one store. */
export function createStatementNames(isEnabled: boolean) {
  let isUsed = isEnabled;
  let generation = 0;
  return {
    /** Undefined for a statement without a name. */
    find(text: string): string | undefined {
      const name = isUsed ? texts.get(text) : undefined;
      return name === undefined ? undefined : `${name}_${generation}`;
    },
    /** Whether the names caused the error. If so, the statement can be sent again: it gets another name, or none. */
    recover(error: unknown): boolean {
      const code = readCode(error);
      if (code === CHANGED_RESULT) generation++;
      else if (code === UNKNOWN_STATEMENT || code === DUPLICATE_STATEMENT) isUsed = false;
      else return false;
      return true;
    },
  };
}

export type StatementNames = ReturnType<typeof createStatementNames>;
