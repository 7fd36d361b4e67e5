import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AppError, formatWithoutValue, type Violation } from '../../../kernel/errors.ts';
import { readBoundedFile } from '../../../kernel/files/read-file.ts';
import { walkFolder } from '../../../kernel/files/walk-folder.ts';
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
/** The path is sent in a header. */
const MAX_PATH_CHARACTERS = 512;
/** YAML takes ten times as long to parse. A dashboard has at most 2 MiB. */
const MAX_BYTES = { json: 4 * 2 ** 20, yaml: 256 * 1024 };
/** The contents are kept in memory. */
const MAX_FILES = 2000;
const MAX_TOTAL_BYTES = 64 * 2 ** 20;

const isDashboardPath = (path: string): boolean =>
  IS_DASHBOARD.test(path) && path.length <= MAX_PATH_CHARACTERS && path.isWellFormed();

/** What a folder contains. */
interface ReadFolder {
  /** In the order of their paths. */
  files: FoundFile[];
  /** The folder and its subfolders. */
  folders: string[];
}

/** A file as it was read last. */
interface KnownFile {
  fingerprint: string;
  bytes: number;
  found: FoundFile;
}

/**
 * Returns a function that reads every YAML and JSON file below the folder, one after another, so that other work of the
 * process goes on. A file that is unchanged since the last call is not read again and is the same object. Throws if the
 * folder cannot be read, or has more than the limits allow.
 */
export function createFolderReader(directory: string): () => Promise<ReadFolder> {
  let previous = new Map<string, KnownFile>();
  return async () => {
    const { files, folders } = await walkFolder(directory, isDashboardPath);
    if (files.length > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} YAML and JSON files`);
    const known = new Map<string, KnownFile>();
    let bytes = 0;
    for (const { path, problem } of files) {
      const file = problem === undefined ? await readFile(directory, path, previous) : reject(path, problem, previous);
      known.set(path, file);
      bytes += file.bytes;
      if (bytes > MAX_TOTAL_BYTES) throw new Error(`its files have more than ${MAX_TOTAL_BYTES} bytes in total`);
    }
    previous = known;
    return { files: [...known.values()].map(({ found }) => found), folders };
  };
}

export const readFolder = async (directory: string): Promise<FoundFile[]> =>
  (await createFolderReader(directory)()).files;

async function readFile(directory: string, path: string, previous: ReadonlyMap<string, KnownFile>): Promise<KnownFile> {
  const maxBytes = /\.json$/i.test(path) ? MAX_BYTES.json : MAX_BYTES.yaml;
  const place = join(directory, path);
  try {
    const before = previous.get(path);
    if (before && before.fingerprint === formatFingerprint(await stat(place))) return before;
    const { text, stats } = await readBoundedFile(place, maxBytes);
    // Parsing a file takes up to 0.5 s.
    await setImmediate();
    return { fingerprint: formatFingerprint(stats), bytes: stats.size, found: parseFile(path, text) };
  } catch (error) {
    return reject(path, `The file cannot be read: ${(error as Error).message}`, previous);
  }
}

/** Changes with every write, even if the modification time is set back. */
const formatFingerprint = ({ ino, size, mtimeMs, ctimeMs }: Stats): string => `${ino} ${size} ${mtimeMs} ${ctimeMs}`;

/** The same object as long as the problem is the same. */
function reject(path: string, problem: string, previous: ReadonlyMap<string, KnownFile>): KnownFile {
  const before = previous.get(path);
  return before?.fingerprint === problem
    ? before
    : { fingerprint: problem, bytes: 0, found: { path, problems: [problem] } };
}

function parseFile(path: string, text: string): FoundFile {
  try {
    return isAlertFile(path) ? { path, text } : { path, file: parseDashboardFile(text) };
  } catch (error) {
    return { path, problems: listProblems(error) };
  }
}

/** The violations of an error, or its message. For the log without values, which are the contents of a file. */
export function listProblems(error: unknown, format: (violation: Violation) => string = formatWithoutValue): string[] {
  if (error instanceof AppError && error.violations.length > 0) return error.violations.map(format);
  return [(error as Error).message];
}
