import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { limitTime } from '../../../kernel/tasks/time-limit.ts';
import type { Address } from '../../listener/query.ts';
import { openListenerClient } from './client.ts';

/** How another process of the same user reads from the running engine. */
interface ReaderAccess {
  pid: number;
  /** With the secret of the listener. */
  address: Address;
  /** Of the user `reader`. New for every start, so a leftover file gives access to nothing. */
  password: string;
}

const getPath = (directory: string): string => join(directory, 'endpoint.json');

/** Readable by the owner only, who can read the files of the engine as well. */
export function writeAccessFile(directory: string, access: ReaderAccess): void {
  const path = getPath(directory);
  const temporary = `${path}.${access.pid}`;
  writeFileSync(temporary, JSON.stringify(access), { mode: 0o600 });
  renameSync(temporary, path);
}

export function removeAccessFile(directory: string): void {
  rmSync(getPath(directory), { force: true });
}

const RESPONSE_MS = 10_000;

/** A client of the engine that another process runs in the directory; undefined if none responds. Must be closed. */
export async function openRunningEngine(
  directory: string,
  signal?: AbortSignal,
): Promise<ClickHouseClient | undefined> {
  const access = readAccessFile(directory);
  if (!access) return undefined;
  const client = await openListenerClient(access.address, { name: 'reader', password: access.password });
  try {
    signal?.throwIfAborted();
    // Also rejects another program that has the port of an engine that was killed.
    const result = await client.query({
      query: 'SELECT 1',
      format: 'TabSeparated',
      abort_signal: limitTime(RESPONSE_MS, signal),
    });
    if ((await result.text()).trim() === '1') return client;
  } catch {
    // The file is a leftover, or the engine does not respond.
  }
  await client.close();
  signal?.throwIfAborted();
  return undefined;
}

function readAccessFile(directory: string): ReaderAccess | undefined {
  try {
    return JSON.parse(readFileSync(getPath(directory), 'utf8'));
  } catch {
    return undefined;
  }
}
