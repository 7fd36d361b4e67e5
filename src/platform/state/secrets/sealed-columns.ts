import { AppError } from '../../../kernel/errors.ts';
import type { Db, Tables } from '../tables.ts';
import { hasSealedPart, isSealed, type Keyring, type SealPlace } from './keyring.ts';

interface SealedColumn {
  column: string;
  /** Of the table, starting with the organization. */
  key: readonly string[];
  /** Only these members of the JSON document are sealed; otherwise the whole column is. */
  members?: readonly (readonly string[])[];
}

const DRIVER_SECRETS = [
  ['settings', 'webhook', 'url'],
  ['settings', 'webhook', 'secret'],
  ['settings', 'kubernetes', 'url'],
  ['settings', 'kubernetes', 'password'],
] as const;

/** Every column with secrets that the server must be able to read. All others are hashes. */
export const SEALED_COLUMNS = {
  channels: { column: 'document', key: ['organization_id', 'id'] },
  notifications: { column: 'document', key: ['organization_id', 'id'] },
  budgets: {
    column: 'document',
    key: ['organization_id', 'id'],
    members: [
      ['webhook', 'url'],
      ['webhook', 'secret'],
    ],
  },
  sql_history: { column: 'document', key: ['organization_id', 'service_id', 'credential_id', 'id'] },
  saved_queries: { column: 'document', key: ['organization_id', 'service_id', 'id'] },
  services: { column: 'document', key: ['organization_id', 'id'], members: DRIVER_SECRETS },
  service_removals: { column: 'document', key: ['organization_id', 'id'], members: DRIVER_SECRETS },
  fleet_documents: { column: 'document', key: ['organization_id', 'kind', 'id'] },
  idempotent_responses: { column: 'result', key: ['organization_id', 'credential_id', 'key_hash'] },
} as const satisfies Partial<Record<keyof Tables, SealedColumn>>;

export type SealedTable = keyof typeof SEALED_COLUMNS;
type KeyColumns<T extends SealedTable> = Record<(typeof SEALED_COLUMNS)[T]['key'][number], string>;

/** Of each dialect, as for prepared queries: a transaction has the adapter of its connection. */
const keyrings = new WeakMap<object, Keyring>();

export const setKeyring = (db: Db, keyring: Keyring): void => void keyrings.set(db.getExecutor().adapter, keyring);

export function getKeyring(db: Db): Keyring {
  const keyring = keyrings.get(db.getExecutor().adapter);
  if (!keyring) throw new AppError('internal', 'The store was opened without the keys of its secrets');
  return keyring;
}

/** The stored form of a document: with its secrets encrypted. `row` has the key of the table. */
export const seal = <T extends SealedTable>(db: Db, table: T, row: KeyColumns<T>, document: string): string =>
  changeSecrets(table, row, document, (place, text) => getKeyring(db).seal(place, text));

/** The document of a stored row. */
export function open<T extends SealedTable>(db: Db, table: T, row: KeyColumns<T>, stored: string): string {
  // Most services have no secrets.
  if (!isSealed(stored) && !hasSealedPart(stored)) return stored;
  return changeSecrets(table, row, stored, (place, text) => getKeyring(db).open(place, text));
}

/** The stored form with the key that encrypts now; the same text if nothing changes. */
export const sealAgain = (keyring: Keyring, table: SealedTable, row: Record<string, string>, stored: string): string =>
  changeSecrets(table, row, stored, (place, text) =>
    keyring.isCurrent(text) ? text : keyring.seal(place, keyring.open(place, text)),
  );

function changeSecrets(
  table: SealedTable,
  row: Record<string, string>,
  stored: string,
  change: (place: SealPlace, text: string) => string,
): string {
  const { column, key, members }: SealedColumn = SEALED_COLUMNS[table];
  const place = [table, column, ...key.map((name) => row[name] ?? '')];
  if (!members) return change(place, stored);
  if (!members.some((path) => stored.includes(`"${path.at(-2)}"`))) return stored;
  const document: unknown = JSON.parse(stored);
  let isChanged = false;
  for (const path of members) {
    const parent = findObject(document, path.slice(0, -1));
    const name = path.at(-1) ?? '';
    const text = parent?.[name];
    if (!parent || typeof text !== 'string') continue;
    const changed = change([...place, ...path], text);
    isChanged ||= changed !== text;
    parent[name] = changed;
  }
  return isChanged ? JSON.stringify(document) : stored;
}

function findObject(document: unknown, path: readonly string[]): Record<string, unknown> | undefined {
  let value = document;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return isObject(value) ? value : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
