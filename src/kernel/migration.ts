import { createHash } from 'node:crypto';

/** What a store records about a migration that it has. */
export interface AppliedMigration {
  version: number;
  name: string;
  checksum: string;
}

/** One migration. The checksum detects changes to a migration that was already applied. */
export interface Migration extends AppliedMigration {
  statements: string[];
}

/** `0001-spine.sql` → version 1. Comments are removed; statements end with a semicolon at the end of a line. */
export function parseMigration(file: string, text: string): Migration {
  const statements = text
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const checksum = createHash('sha256').update(text).digest('hex');
  return { version: Number.parseInt(file, 10), name: file.replace(/\.sql$/, ''), checksum, statements };
}
