import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from './errors.ts';
import { findInPackage } from './package-files.ts';

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

/** `0001-schema.sql` → version 1. Comments are removed; statements end with a semicolon at the end of a line. */
function parseMigration(file: string, text: string): Migration {
  const statements = text
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const checksum = createHash('sha256').update(text).digest('hex');
  return { version: Number.parseInt(file, 10), name: file.replace(/\.sql$/, ''), checksum, statements };
}

/** The migrations of this version, oldest first. */
export function listMigrations(part: 'state' | 'engine'): Migration[] {
  const folder = findInPackage(`migrations/${part}`);
  if (folder === undefined) throw new Error(`The folder migrations/${part} is missing from this installation`);
  return readMigrations(folder);
}

/** The migrations in a folder, oldest first. */
export function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => parseMigration(file, readFileSync(join(folder, file), 'utf8')));
}

/** Rejects tables that this version cannot migrate. `holder` has them: the database or the engine. */
export function rejectForeignHistory(
  holder: string,
  applied: readonly AppliedMigration[],
  available: readonly AppliedMigration[],
): void {
  for (const { version, name, checksum } of applied) {
    const known = available.find((migration) => migration.version === version);
    if (known?.checksum === checksum) continue;
    throw new AppError('conflict', explainForeign(holder, name, known));
  }
}

function explainForeign(holder: string, name: string, known: AppliedMigration | undefined): string {
  if (!known)
    return `The ${holder} is newer than this version of Pilothouse: it has migration ${name}. Start the newer version.`;
  // A released migration keeps its number and its name.
  if (known.name !== name)
    return `The ${holder} was created by a version before 0.1.0 (it has migration ${name}) and cannot be upgraded. Start with an empty data directory or database; to keep the fleet, run pilothouse export with that version and pilothouse apply with this one.`;
  return `Migration ${name} was applied to the ${holder} with different contents than the file in this version.`;
}
