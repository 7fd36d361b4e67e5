import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { AppError, sentence } from '../kernel/errors.ts';
import { type DashboardFile, parseDashboardFile } from './file.ts';

/** One file of the dashboards folder: what it says, or what is wrong with it. */
export type FoundFile = { path: string } & ({ file: DashboardFile } | { mistakes: string[] });

const IS_DASHBOARD = /\.(ya?ml|json)$/i;
/** `..data` of a mounted Kubernetes volume and the copies that editors make. */
const IS_HIDDEN = /(^|\/)\./;
/** Headers and messages name the file. */
const LONGEST_PATH = 512;

/** Every YAML and JSON file below the folder by its path there, in order. Throws when the folder itself cannot be read. */
export function readFolder(directory: string): FoundFile[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => IS_DASHBOARD.test(path) && !IS_HIDDEN.test(path) && path.length <= LONGEST_PATH)
    .sort()
    .map((path) => readOne(directory, path));
}

function readOne(directory: string, path: string): FoundFile {
  try {
    return { path, file: parseDashboardFile(readFileSync(join(directory, path), 'utf8')) };
  } catch (error) {
    return { path, mistakes: mistakesOf(error) };
  }
}

export function mistakesOf(error: unknown): string[] {
  if (error instanceof AppError && error.violations.length > 0) return error.violations.map(sentence);
  return [(error as Error).message];
}
