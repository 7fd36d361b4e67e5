import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { AppError, formatViolation } from '../../../kernel/errors.ts';
import { type DashboardFile, parseDashboardFile } from './dashboard-file.ts';

/** Alerts beside dashboards. They are read elsewhere. */
export interface AlertFileText {
  path: string;
  text: string;
}

/** One file of the dashboards folder: its content, or the reasons why it is invalid. */
export type FoundFile = AlertFileText | ({ path: string } & ({ file: DashboardFile } | { problems: string[] }));

export const isAlertFile = (path: string): boolean => /\.alerts\.(ya?ml|json)$/i.test(path);

const IS_DASHBOARD = /\.(ya?ml|json)$/i;
/** `..data` of a mounted Kubernetes volume, and backup copies of editors. */
const IS_HIDDEN = /(^|\/)\./;
/** The path is sent in a header. */
const MAX_PATH_CHARACTERS = 512;

/**
 * Returns a function that lists every YAML and JSON file below the folder, ordered by path. A file that is unchanged
 * since the last call is not read again and is the same object. Throws if the folder cannot be read.
 */
export function createFolderReader(directory: string): () => FoundFile[] {
  let previous = new Map<string, { fingerprint: string; found: FoundFile }>();
  return () => {
    const entries = listPaths(directory).map((path) => {
      const fingerprint = readFingerprint(join(directory, path));
      const before = previous.get(path);
      const found = before && before.fingerprint === fingerprint ? before.found : readFile(directory, path);
      return [path, { fingerprint, found }] as const;
    });
    previous = new Map(entries);
    return entries.map(([, { found }]) => found);
  };
}

export const readFolder = (directory: string): FoundFile[] => createFolderReader(directory)();

const listPaths = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/').toWellFormed())
    .filter((path) => IS_DASHBOARD.test(path) && !IS_HIDDEN.test(path) && path.length <= MAX_PATH_CHARACTERS)
    .sort();

/** Changes with every write, even if the modification time is set back. Empty if the file no longer exists. */
function readFingerprint(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` : '';
}

/** The folder and its subfolders. */
export function listFolders(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true, encoding: 'utf8' });
  return [
    directory,
    ...entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name)),
  ];
}

function readFile(directory: string, path: string): FoundFile {
  try {
    const text = readFileSync(join(directory, path), 'utf8');
    return isAlertFile(path) ? { path, text } : { path, file: parseDashboardFile(text) };
  } catch (error) {
    return { path, problems: listProblems(error) };
  }
}

/** The violations of an error, or its message. */
export function listProblems(error: unknown): string[] {
  if (error instanceof AppError && error.violations.length > 0) return error.violations.map(formatViolation);
  return [(error as Error).message];
}
