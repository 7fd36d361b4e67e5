import { hash } from 'node:crypto';
import type { Day } from '../../kernel/days.ts';
import type { Entity } from '../entities.ts';
import type { EventTexts } from './batch-text.ts';
import { type EventCheck, isRefusal, type Refusal, type UsageEvent } from './event.ts';
import { parseEvent } from './event-parser.ts';
import type { Lane } from './lane.ts';

/** One event that cannot be counted: which (from 0), where, why. */
export interface Rejection {
  index: number;
  field: string;
  reason: string;
}

/** A batch as far as it is right, ready to be stored. */
export interface Batch {
  /** A line for each event, in the order of `hashes` and `days`. */
  text: Buffer[];
  /** Of source and id: 16 characters, each a byte. */
  hashes: string[];
  days: Day[];
  /** Events that repeat the id of an earlier one of the same batch; the earlier one counts. */
  repeated: number;
  rejected: number;
  /** Some were rejected because nobody knows their entity. */
  hasUnknownEntity: boolean;
  /** The first of the rejected ones. */
  errors: Rejection[];
}

export const LISTED_ERRORS = 100;
/** About two milliseconds of work between two turns of the event loop. */
const EVENTS_PER_SLICE = 500;

/** The columns that a line holds, in their order. */
export const EVENT_COLUMNS = [
  'OrganizationId',
  'EntityType',
  'EntityId',
  'Meter',
  'Time',
  'Source',
  'Id',
  'Quantity',
] as const;

/**
 * Reads all of a batch, in slices, so that others are answered meanwhile. Long batches are read one after the other: the
 * first is then stored while the second is read, and not all of them at the end.
 */
export async function readBatch(
  organizationId: string,
  texts: EventTexts,
  check: EventCheck,
  lane: Lane,
): Promise<Batch> {
  let leave: (() => void) | undefined;
  try {
    return await readInSlices(organizationId, texts, check, async () => {
      leave ??= await lane.enter();
      await new Promise<void>((resolve) => setImmediate(resolve));
    });
  } finally {
    leave?.();
  }
}

async function readInSlices(
  organizationId: string,
  texts: EventTexts,
  check: EventCheck,
  pause: () => Promise<void>,
): Promise<Batch> {
  const batch: Batch = {
    text: [],
    hashes: [],
    days: [],
    repeated: 0,
    rejected: 0,
    hasUnknownEntity: false,
    errors: [],
  };
  const seen = new Set<string>();
  const lineOf = createLines(organizationId);
  let lines = '';
  let index = 0;
  for (const text of texts) {
    const value = parseEvent(text);
    const checked = check(value);
    if (isRefusal(checked)) reject(batch, index, checked, brokenText(text, value));
    else {
      const id = hashOf(checked.source, checked.id);
      if (seen.has(id)) batch.repeated++;
      else {
        seen.add(id);
        lines += lineOf(checked);
        batch.hashes.push(id);
        batch.days.push(checked.time.day);
      }
    }
    if (++index % EVENTS_PER_SLICE === 0) {
      // As bytes right away: strings that live as long as the batch would keep the garbage collector busy.
      batch.text.push(Buffer.from(lines));
      lines = '';
      await pause();
    }
  }
  batch.text.push(Buffer.from(lines));
  return batch;
}

function reject(batch: Batch, index: number, { field, reason }: Refusal, broken: string | undefined): void {
  batch.rejected++;
  batch.hasUnknownEntity ||= field === 'entityId';
  if (batch.errors.length < LISTED_ERRORS) batch.errors.push({ index, field, reason: broken ?? reason });
}

/** What to say of an event that has no value at all. */
function brokenText(text: string | undefined, value: unknown): string | undefined {
  if (text === undefined) return 'The event is not valid UTF-8';
  return value === undefined ? 'The event is not valid JSON' : undefined;
}

/** The lines that are wanted, by their place in the batch. */
export function someLines({ text }: Pick<Batch, 'text'>, isWanted: (index: number) => boolean): Buffer[] {
  const bytes = Buffer.concat(text);
  const lines: Buffer[] = [];
  for (let start = 0, index = 0; start < bytes.length; index++) {
    const end = bytes.indexOf(10, start) + 1;
    if (isWanted(index)) lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines.length === 0 ? [] : [Buffer.concat(lines)];
}

/** As the engine computes it: MD5 of source, NUL, id. It tells ids apart; it keeps no secret. */
export const hashOf = (source: string, id: string): string => hash('md5', `${source}\u0000${id}`, 'binary');

const SPECIAL = /[\\\t\n\r\b\f]/;
const escaped = (text: string): string =>
  SPECIAL.test(text) ? text.replace(/[\\\t\n\r\b\f]/g, (mark) => ESCAPES[mark] ?? mark) : text;
const ESCAPES: Record<string, string> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\b': '\\b',
  '\f': '\\f',
};

/** A function from an event to its line; what lines of one entity begin with is made once. */
function createLines(organizationId: string): (event: UsageEvent) => string {
  const beginnings = new Map<Entity, string>();
  return ({ entity, meter, time, source, id, quantity }) => {
    let beginning = beginnings.get(entity);
    if (beginning === undefined) {
      beginning = `${organizationId}\t${entity.entityType}\t${escaped(entity.entityId)}\t`;
      beginnings.set(entity, beginning);
    }
    return `${beginning}${meter}\t${time.text}\t${escaped(source)}\t${escaped(id)}\t${quantity}\n`;
  };
}
