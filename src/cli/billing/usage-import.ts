import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { IntakeResult } from '../../management/billing/metering/intake.ts';
import { readParquet } from '../../platform/engine/parquet.ts';
import { type Api, type ProcessAccess, UsageError } from '../command.ts';
import { decodeFile, detectFormat, readEvents, USAGE_COLUMNS } from './usage-file.ts';

/** Stores a batch of events, locally or on a server. */
export type Send = (events: readonly string[]) => Promise<IntakeResult>;

const BATCH_EVENTS = 10_000;
const MAX_LISTED_ERRORS = 20;
const PROGRESS_BAR_WIDTH = 24;

/** Sends a file in batches. An interrupted import can be run again: no event counts twice. */
export async function importUsage(
  access: ProcessAccess,
  path: string,
  formatName: string | undefined,
  send: Send,
): Promise<IntakeResult> {
  const format = formatName ?? detectFormat(path);
  if (format !== 'csv' && format !== 'ndjson' && format !== 'parquet')
    throw new UsageError([`--format must be csv, ndjson or parquet; the name of ${path} does not indicate the format`]);
  const { bytes, chunks } = openInputFile(access, path);
  const total: IntakeResult = { accepted: 0, duplicates: 0, rejected: 0, errors: [] };
  let readBytes = 0;
  let sentEvents = 0;

  async function* countBytes(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      readBytes += chunk.length;
      yield chunk;
    }
  }

  async function sendBatch(batch: readonly string[]): Promise<void> {
    addResult(total, await send(batch), sentEvents);
    sentEvents += batch.length;
    // The Parquet reader does not report its position.
    const share = format === 'parquet' ? undefined : bytes === 0 ? 1 : readBytes / bytes;
    access.showProgress(formatProgress(share, total));
  }

  const text = format === 'parquet' ? readParquet(path, USAGE_COLUMNS) : decodeFile(path, countBytes());
  let batch: string[] = [];
  for await (const event of readEvents(text, format === 'csv' ? 'csv' : 'ndjson')) {
    batch.push(event);
    if (batch.length < BATCH_EVENTS) continue;
    await sendBatch(batch);
    batch = [];
  }
  if (batch.length > 0) await sendBatch(batch);
  access.showProgress('');
  return total;
}

/** Error indexes count from the start of the batch; `offset` makes them count from the start of the file. */
function addResult(total: IntakeResult, result: IntakeResult, offset: number): void {
  total.accepted += result.accepted;
  total.duplicates += result.duplicates;
  total.rejected += result.rejected;
  const listed = result.errors.slice(0, MAX_LISTED_ERRORS - total.errors.length);
  total.errors.push(...listed.map((error) => ({ ...error, index: error.index + offset })));
}

function openInputFile({ openFile }: ProcessAccess, path: string): ReturnType<ProcessAccess['openFile']> {
  try {
    return openFile(path);
  } catch (error) {
    throw new UsageError([`${path} cannot be read: ${(error as Error).message}`]);
  }
}

function formatProgress(share: number | undefined, counts: IntakeResult): string {
  if (share === undefined) return formatCounts(counts);
  const done = Math.round(Math.min(1, share) * PROGRESS_BAR_WIDTH);
  const bar = '#'.repeat(done) + '.'.repeat(PROGRESS_BAR_WIDTH - done);
  return `[${bar}] ${String(Math.floor(Math.min(1, share) * 100)).padStart(3)}%  ${formatCounts(counts)}`;
}

const formatThousands = (value: number) => value.toLocaleString('en-US');

export const formatCounts = ({ accepted, duplicates, rejected }: Omit<IntakeResult, 'errors'>): string =>
  `${formatThousands(accepted)} accepted, ${formatThousands(duplicates)} duplicates, ${formatThousands(rejected)} rejected`;

const compress = promisify(gzip);

/** Sends to a running server, to the organization of the key. */
export const createApiSend =
  (api: Api): Send =>
  async (events) => {
    const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
    return api.upload<IntakeResult>('/usageEvents', headers, await compress(events.map(toSingleLine).join('\n')));
  };

/** A malformed event may contain line breaks; it must stay one line to be rejected as one event. */
const toSingleLine = (event: string): string => event.replaceAll('\n', ' ');
