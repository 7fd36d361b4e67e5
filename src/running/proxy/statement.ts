import { MAX_STATEMENT_CHARACTERS } from './request-url.ts';

/** The first word of a statement. A closed set: other text of a client is never shown or stored. */
const KINDS = [
  'ALTER',
  'ATTACH',
  'BACKUP',
  'CHECK',
  'CREATE',
  'DELETE',
  'DESC',
  'DESCRIBE',
  'DETACH',
  'DROP',
  'EXCHANGE',
  'EXISTS',
  'EXPLAIN',
  'GRANT',
  'INSERT',
  'KILL',
  'OPTIMIZE',
  'RENAME',
  'RESTORE',
  'REVOKE',
  'SELECT',
  'SET',
  'SHOW',
  'SYSTEM',
  'TRUNCATE',
  'UNDROP',
  'UPDATE',
  'USE',
  'WITH',
] as const;

/** `OTHER`: another word. `UNKNOWN`: the statement could not be read, such as from a compressed body. */
export type StatementKind = (typeof KINDS)[number] | 'OTHER' | 'UNKNOWN';

/** `WITH` is missing: it can introduce an INSERT. */
const READS: readonly StatementKind[] = ['DESC', 'DESCRIBE', 'EXISTS', 'EXPLAIN', 'SELECT', 'SHOW'];

/** Whether a statement of this kind changes nothing, so that it may be sent twice. */
export const isRead = (kind: StatementKind): boolean => READS.includes(kind);

const BEFORE_FIRST_WORD = /^(?:[\s(]|--[^\n]*\n|#[^\n]*\n|\/\*[\s\S]*?\*\/)*/;

export function findKind(statement: string | undefined): StatementKind {
  if (statement === undefined) return 'UNKNOWN';
  const start = BEFORE_FIRST_WORD.exec(statement)?.[0].length ?? 0;
  const word = /^[a-z]+/i.exec(statement.slice(start, start + 32))?.[0].toUpperCase();
  if (word === undefined) return 'UNKNOWN';
  return KINDS.find((kind) => kind === word) ?? 'OTHER';
}

/** Equal for statements that differ only in white space, case or the semicolons at their end. */
export function normalizeStatement(statement: string): string {
  let end = statement.length;
  while (end > 0 && /[\s;]/.test(statement.charAt(end - 1))) end--;
  return statement.slice(0, end).trimStart().replace(/\s+/g, ' ').toLowerCase();
}

export interface UseRules {
  /** Whether a query does not count as use of its service. `statement` is undefined unless it is known completely. */
  isIgnored(userAgent: string, statement: string | undefined): boolean;
}

/** Probes of monitoring tools must not keep a service from idling. */
export function createUseRules(options: {
  /** Prefixes of the user agents whose queries are ignored. */
  ignoredAgents: readonly string[];
  ignoredStatements: readonly string[];
}): UseRules {
  const agents = options.ignoredAgents.filter((agent) => agent !== '');
  const statements = new Set(options.ignoredStatements.map(normalizeStatement));
  return {
    isIgnored(userAgent, statement) {
      if (agents.some((agent) => userAgent.startsWith(agent))) return true;
      // The text of a longer statement was cut.
      if (statement === undefined || statement.length >= MAX_STATEMENT_CHARACTERS) return false;
      return statements.size > 0 && statements.has(normalizeStatement(statement));
    },
  };
}
