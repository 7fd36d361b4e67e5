import type { IntakeResult } from '../billing/metering/intake.ts';
import { readParquet } from '../engine/parquet.ts';
import { AppError } from '../kernel/errors.ts';
import { UsageError, type World } from './command.ts';
import { eventsIn, textOf, USAGE_COLUMNS, usageFormatOf } from './usage-file.ts';

/** Takes a batch, wherever it is stored. */
export type Send = (events: readonly string[]) => Promise<IntakeResult>;

const BATCH = 10_000;
const LISTED_ERRORS = 20;
const BAR_WIDTH = 24;

/** The whole file, batch by batch. Running it again after it was stopped counts nothing twice. */
export async function importUsage(
  world: World,
  path: string,
  given: string | undefined,
  send: Send,
): Promise<IntakeResult> {
  const format = given ?? usageFormatOf(path);
  if (format !== 'csv' && format !== 'ndjson' && format !== 'parquet')
    throw new UsageError([`--format must be csv, ndjson or parquet; the name of ${path} does not say which`]);
  const { bytes, chunks } = openFile(world, path);
  const sum: IntakeResult = { accepted: 0, duplicates: 0, rejected: 0, errors: [] };
  let read = 0;
  let events = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      read += chunk.length;
      yield chunk;
    }
  }
  const text = format === 'parquet' ? readParquet(path, USAGE_COLUMNS) : textOf(path, counted());
  const take = async (batch: readonly string[]) => {
    const taken = await send(batch);
    sum.accepted += taken.accepted;
    sum.duplicates += taken.duplicates;
    sum.rejected += taken.rejected;
    for (const error of taken.errors)
      if (sum.errors.length < LISTED_ERRORS) sum.errors.push({ ...error, index: error.index + events });
    events += batch.length;
    // How far a Parquet file is read, its reader does not tell.
    world.redraw(format === 'parquet' ? countLine(sum) : progressLine(bytes === 0 ? 1 : read / bytes, sum));
  };
  let batch: string[] = [];
  for await (const event of eventsIn(text, format === 'csv' ? 'csv' : 'ndjson')) {
    batch.push(event);
    if (batch.length < BATCH) continue;
    await take(batch);
    batch = [];
  }
  if (batch.length > 0) await take(batch);
  world.redraw('');
  return sum;
}

function openFile(world: World, path: string): ReturnType<World['openFile']> {
  try {
    return world.openFile(path);
  } catch (error) {
    throw new UsageError([`${path} cannot be read: ${(error as Error).message}`]);
  }
}

function progressLine(part: number, { accepted, duplicates, rejected }: IntakeResult): string {
  const done = Math.round(Math.min(1, part) * BAR_WIDTH);
  const bar = '#'.repeat(done) + '.'.repeat(BAR_WIDTH - done);
  return `[${bar}] ${String(Math.floor(Math.min(1, part) * 100)).padStart(3)} %  ${countLine({ accepted, duplicates, rejected })}`;
}

const thousands = (value: number) => value.toLocaleString('en-US');

export const countLine = ({ accepted, duplicates, rejected }: Omit<IntakeResult, 'errors'>): string =>
  `${thousands(accepted)} accepted, ${thousands(duplicates)} counted before, ${thousands(rejected)} rejected`;

/** Through a running server, with a key of its organization. */
export async function createHttpSend(url: string, key: string): Promise<Send> {
  const { gzip } = await import('node:zlib');
  const { promisify } = await import('node:util');
  const pack = promisify(gzip);
  const authorization = `Basic ${Buffer.from(key).toString('base64')}`;
  const base = url.replace(/\/+$/, '');
  const [organization] = (await answerOf(await fetch(`${base}/v1/organizations`, { headers: { authorization } }))) as {
    id: string;
  }[];
  return async (events) => {
    const headers = { authorization, 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
    const body = await pack(events.map(onOneLine).join('\n'));
    return (await answerOf(
      await fetch(`${base}/v1/organizations/${organization?.id}/usageEvents`, { method: 'POST', headers, body }),
    )) as IntakeResult;
  };
}

/** A row that is broken may hold anything; it stays one event, and is rejected as one. */
const onOneLine = (event: string): string => event.replaceAll('\n', ' ');

async function answerOf(answer: Response): Promise<unknown> {
  const text = await answer.text();
  let body: { result?: unknown; error?: string };
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new AppError('unavailable', `The server answered ${answer.status} and no JSON`, { cause });
  }
  if (!answer.ok) throw new AppError('unavailable', `The server refused: ${body.error ?? answer.status}`);
  return body.result;
}
