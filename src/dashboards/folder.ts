import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { AppError, formatViolation } from '../kernel/errors.ts';
import { type DashboardFile, parseDashboardFile } from './file.ts';

/** One file of the dashboards folder: what it says, or what is wrong with it. */
export type FoundFile = { path: string } & ({ file: DashboardFile } | { mistakes: string[] });

const IS_DASHBOARD = /\.(ya?ml|json)$/i;
/** `..data` of a mounted Kubernetes volume and the copies that editors make. */
const IS_HIDDEN = /(^|\/)\./;
/** Headers and messages name the file. */
const LONGEST_PATH = 512;

/**
 * Every YAML and JSON file below the folder by its path there, in order. A file that did not change since the last
 * call is the same object again, and was not read. Throws when the folder itself cannot be read.
 */
export function createFolderReader(directory: string): () => FoundFile[] {
  let known = new Map<string, { fingerprint: string; found: FoundFile }>();
  return () => {
    const entries = pathsIn(directory).map((path) => {
      const fingerprint = fingerprintOf(join(directory, path));
      const before = known.get(path);
      const found = before && before.fingerprint === fingerprint ? before.found : readOne(directory, path);
      return [path, { fingerprint, found }] as const;
    });
    known = new Map(entries);
    return entries.map(([, { found }]) => found);
  };
}

export const readFolder = (directory: string): FoundFile[] => createFolderReader(directory)();

const pathsIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/').toWellFormed())
    .filter((path) => IS_DASHBOARD.test(path) && !IS_HIDDEN.test(path) && path.length <= LONGEST_PATH)
    .sort();

/** Changes with every write, also one that sets the time of the file back. Empty for a file that just went away. */
function fingerprintOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : '';
}

/** The folder itself, and every one in it. */
export function foldersBelow(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true, encoding: 'utf8' });
  return [
    directory,
    ...entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name)),
  ];
}

function readOne(directory: string, path: string): FoundFile {
  try {
    return { path, file: parseDashboardFile(readFileSync(join(directory, path), 'utf8')) };
  } catch (error) {
    return { path, mistakes: mistakesOf(error) };
  }
}

export function mistakesOf(error: unknown): string[] {
  if (error instanceof AppError && error.violations.length > 0) return error.violations.map(formatViolation);
  return [(error as Error).message];
}
