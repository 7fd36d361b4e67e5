import { hash } from 'node:crypto';
import { yieldToEventLoop } from '../../../kernel/tasks/event-loop.ts';
import type { Queue } from '../../../kernel/tasks/queue.ts';
import type { Day } from '../../../kernel/time/days.ts';
import type { Entity } from '../entity.ts';
import { type EventError, type EventValidator, isEventError, type UsageEvent } from './event.ts';
import { parseEvent } from './event-parser.ts';
import { type EventTexts, PAUSE } from './event-texts.ts';
import type { IdHash } from './id-filter.ts';

/** An invalid event; `index` is its position in the batch, from 0. */
export interface RejectedEvent extends EventError {
  index: number;
}

/** The valid events of a batch, ready to be stored, and the errors of the others. */
export interface EventBatch {
  /** Tab-separated lines, one per event, in the order of `hashes` and `days`. */
  lines: Buffer[];
  hashes: IdHash[];
  days: Day[];
  /** Events that repeat an id of the same batch. The first one counts. */
  repeated: number;
  rejected: number;
  /** The first `MAX_LISTED_ERRORS` rejected events. */
  errors: RejectedEvent[];
}

export const MAX_LISTED_ERRORS = 100;
/** About two milliseconds of work. */
const EVENTS_PER_SLICE = 500;

/** The columns of a line, in order. */
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
 * Reads a batch in slices, so that other requests run in between. Batches of more than one slice go through the queue
 * one at a time: the first is stored while the second is read, instead of all finishing at the end.
 */
export async function readBatch(
  organizationId: string,
  texts: EventTexts,
  validate: EventValidator,
  queue: Queue,
): Promise<EventBatch> {
  const reader = createBatchReader(organizationId, texts, validate);
  if (reader.readSlice() === 'end') return reader.batch;
  return queue.run(async () => {
    do await yieldToEventLoop();
    while (reader.readSlice() === 'more');
    return reader.batch;
  });
}

function createBatchReader(organizationId: string, texts: EventTexts, validate: EventValidator) {
  const batch: EventBatch = {
    lines: [],
    hashes: [],
    days: [],
    repeated: 0,
    rejected: 0,
    errors: [],
  };
  const ids = new Set<IdHash>();
  const formatLine = createLineFormatter(organizationId);
  const iterator = texts[Symbol.iterator]();
  let index = 0;

  /** Returns the line of a valid event, or an empty string. */
  function readEvent(text: string | undefined): string {
    const value = parseEvent(text);
    const event = validate(value);
    if (isEventError(event)) {
      reject(batch, index, syntaxError(text, value) ?? event);
      return '';
    }
    const id = hashEventId(event.source, event.id);
    if (ids.has(id)) {
      batch.repeated++;
      return '';
    }
    ids.add(id);
    batch.hashes.push(id);
    batch.days.push(event.time.day);
    return formatLine(event);
  }

  return {
    batch,
    readSlice(): 'more' | 'end' {
      let lines = '';
      let isEnd = false;
      for (let count = 0; count < EVENTS_PER_SLICE; count++, index++) {
        const next = iterator.next();
        if (next.done) isEnd = true;
        if (next.done || next.value === PAUSE) break;
        lines += readEvent(next.value);
      }
      // Stored as bytes: strings that live as long as the batch keep the garbage collector busy.
      batch.lines.push(Buffer.from(lines));
      return isEnd ? 'end' : 'more';
    },
  };
}

function reject(batch: EventBatch, index: number, { field, reason }: EventError): void {
  batch.rejected++;
  if (batch.errors.length < MAX_LISTED_ERRORS) batch.errors.push({ index, field, reason });
}

/** The error of an event that could not be parsed. */
function syntaxError(text: string | undefined, value: unknown): EventError | undefined {
  if (text === undefined) return { field: '', reason: 'The event is not valid UTF-8' };
  return value === undefined ? { field: '', reason: 'The event is not valid JSON' } : undefined;
}

/** Selects lines by their position in the batch. */
export function filterLines({ lines }: Pick<EventBatch, 'lines'>, isSelected: (index: number) => boolean): Buffer[] {
  const bytes = Buffer.concat(lines);
  const selected: Buffer[] = [];
  for (let start = 0, index = 0; start < bytes.length; index++) {
    const end = bytes.indexOf(10, start) + 1;
    if (isSelected(index)) selected.push(bytes.subarray(start, end));
    start = end;
  }
  return selected.length === 0 ? [] : [Buffer.concat(selected)];
}

/** The same MD5 hash as in the engine's table. It identifies events and is not used for security. */
export const hashEventId = (source: string, id: string): IdHash => hash('md5', `${source}\u0000${id}`, 'binary');

const ESCAPES: Record<string, string> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\b': '\\b',
  '\f': '\\f',
};
const SPECIAL = /[\\\t\n\r\b\f]/;
const escapeTabbed = (text: string): string =>
  SPECIAL.test(text) ? text.replace(/[\\\t\n\r\b\f]/g, (character) => ESCAPES[character] ?? character) : text;

/** Builds the common start of the lines of an entity once. */
function createLineFormatter(organizationId: string): (event: UsageEvent) => string {
  const prefixes = new Map<Entity, string>();
  return ({ entity, meter, time, source, id, quantity }) => {
    let prefix = prefixes.get(entity);
    if (prefix === undefined) {
      prefix = `${organizationId}\t${entity.entityType}\t${escapeTabbed(entity.entityId)}\t`;
      prefixes.set(entity, prefix);
    }
    return `${prefix}${meter}\t${time.text}\t${escapeTabbed(source)}\t${escapeTabbed(id)}\t${quantity}\n`;
  };
}
