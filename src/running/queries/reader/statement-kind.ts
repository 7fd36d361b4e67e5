import { readNames } from './names.ts';
import type { Part } from './parts.ts';

/** How a statement that reads may begin. */
const READS = ['SELECT', 'WITH', 'FROM'];
const EXPLANATIONS = readNames('AST ESTIMATE PIPELINE PLAN QUERY SYNTAX TREE');
const SHOWN = readNames(`
  CHANGED COLUMNS CREATE DATABASES DICTIONARIES ENGINES EXTENDED FIELDS FULL FUNCTIONS GRANTS INDEX INDEXES INDICES KEYS
  MERGES SETTING SETTINGS TABLES TEMPORARY
`);
/** What `SHOW CREATE` must not show. ClickHouse takes these words for the kind, not for the name of a table. */
const ACCOUNTS = readNames(`
  MASKING NAMED POLICIES POLICY PROFILE PROFILES QUOTA QUOTAS RESOURCE ROLE ROLES ROW SETTINGS USER USERS WORKLOAD
`);
/** Two words that never belong to a statement that reads. */
const REFUSED_PAIRS: Readonly<Record<string, string>> = { INTO: 'OUTFILE', INSERT: 'INTO', PARALLEL: 'WITH' };

/** How other statements begin. Anything else is a typing error. */
const OTHERS = readNames(`
  ALTER ATTACH BACKUP BEGIN CHECK COMMIT COPY CREATE DELETE DETACH DROP EXCHANGE EXECUTE EXPLAIN GRANT INSERT KILL MOVE
  OPTIMIZE PARALLEL RENAME REPLACE RESTORE REVOKE ROLLBACK SET SHOW START SYSTEM TRUNCATE UNDROP UPDATE USE WATCH
`);

export const KINDS = 'SELECT, WITH, EXPLAIN, SHOW, DESCRIBE and EXISTS';

const isWord = (part: Part | undefined, words: readonly string[]): boolean =>
  part?.kind === 'word' && words.includes(part.value.toUpperCase());

/** What a reader may not do with the statement, as a part of a message; undefined if its kind is permitted. */
export function findRefusedKind(parts: readonly Part[]): string | undefined {
  let start = 0;
  while (parts[start]?.raw === '(') start++;
  const first = parts[start];
  if (!first) return undefined;
  if (!isWord(first, READS) && (start > 0 || !isKnown(parts))) return describe(parts);
  for (let index = start; index < parts.length - 1; index++) {
    const part = parts[index];
    const next = parts[index + 1];
    if (part?.raw === ';' && next?.raw !== ';') return 'It has more than one statement';
    if (part?.kind !== 'word' || next?.kind !== 'word') continue;
    const second = REFUSED_PAIRS[part.value.toUpperCase()];
    if (second !== undefined && isWord(next, [second])) return `It has ${part.value} ${next.value}`;
  }
  return undefined;
}

function isKnown(parts: readonly Part[]): boolean {
  const [first, second, third] = parts;
  if (isWord(first, ['DESCRIBE', 'DESC', 'EXISTS'])) return true;
  if (isWord(first, ['SHOW'])) return isWord(second, SHOWN) && !(isWord(second, ['CREATE']) && isWord(third, ACCOUNTS));
  return isWord(first, ['EXPLAIN']) && isExplanation(parts);
}

/** `EXPLAIN [kind] [name = value, …]` and a statement that reads. */
function isExplanation(parts: readonly Part[]): boolean {
  let at = 1;
  while (isWord(parts[at], EXPLANATIONS)) at++;
  while (parts[at]?.kind === 'word' && parts[at + 1]?.raw === '=') at += parts[at + 3]?.raw === ',' ? 4 : 3;
  while (parts[at]?.raw === '(') at++;
  return isWord(parts[at], READS);
}

/** Whether the statement begins like none of ClickHouse. */
export const isMistyped = (parts: readonly Part[]): boolean => {
  const first = parts.find(({ raw }) => raw !== '(');
  return first !== undefined && !isWord(first, [...READS, ...OTHERS, 'DESC', 'DESCRIBE', 'EXISTS']);
};

function describe(parts: readonly Part[]): string {
  const words = parts.slice(0, 2).map(({ raw }) => raw.slice(0, 40));
  return `It starts with ${words.join(' ')}`;
}
