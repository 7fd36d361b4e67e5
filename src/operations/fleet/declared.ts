export type KindName =
  | 'organization'
  | 'service'
  | 'role'
  | 'key'
  | 'token'
  | 'source'
  | 'dashboard'
  | 'channel'
  | 'saved_search'
  | 'alert'
  | 'cost';

/** Fields by their name in the file. Secrets are already replaced by hashes. */
export type Fields = Record<string, unknown>;

/** A resource declared in the file, with its path there. */
export interface Declared {
  kind: KindName;
  id: string;
  path: string;
  fields: Fields;
  /** Defaults of a new resource that depend on the rest of the file. */
  fallback?: Fields;
  /** Fields that have another name and unit in the file. Errors show the name and value from the file. */
  aliases?: Record<string, { name: string; times: number }>;
}
