import { MINUTE_MS, parseDateTime } from '../../kernel/clock.ts';
import { type Day, toUtcDay } from '../../kernel/days.ts';
import { isStorable } from '../../kernel/text.ts';
import { METRICS } from '../cost.ts';
import { type Entity, type EntityMap, entityKey } from '../entities.ts';
import { METERS, type Meter } from '../meter.ts';

/** A metered quantity that is right in every respect. */
export interface UsageEvent {
  id: string;
  source: string;
  time: EventTime;
  entity: Entity;
  meter: string;
  /** Decimal text, in the meter's unit. */
  quantity: string;
}

export interface EventTime {
  ms: number;
  day: Day;
  /** As the engine reads it fastest. */
  text: string;
}

/** What is wrong with one, and where; `field` is empty when it is the whole. */
export interface Refusal {
  field: string;
  reason: string;
}

export const MAX_ID_CHARACTERS = 256;
const FUTURE_MS = 60 * MINUTE_MS;
const FIRST_MS = Date.parse('2000-01-01T00:00:00Z');
const QUANTITY = /^\d{1,19}(?:\.\d{1,6})?$/;
/** What one event can hold: 100,000 units for a day or a petabyte at once. More is a mistake, and sums stay exact. */
const MOST: Record<string, number> = { 'unit-minutes': 1e9, bytes: 1e15, 'byte-hours': 1e18 };
/** What a JSON number holds without rounding. */
const EXACT_DIGITS = 15;

const METER_OF = new Map<string, Meter>(METRICS.map((name) => [name, METERS[name]]));

export type EventCheck = (value: unknown) => UsageEvent | Refusal;

export const isRefusal = (checked: UsageEvent | Refusal): checked is Refusal => 'reason' in checked;

/** Made for one batch: what it looks up again and again (times, entities) it looks up once. */
export function createEventCheck(entities: EntityMap, nowMs: number): EventCheck {
  const times = new Map<string, EventTime | Refusal>();
  const entitiesByType = new Map<string, Map<string, Entity>>();

  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refusal('', 'The event must be an object');
    const { id, source, time, entityType, entityId, meter, quantity } = value as Record<string, unknown>;
    const text = textRefusal('id', id) ?? textRefusal('source', source);
    if (text) return text;
    const when = typeof time === 'string' ? timeOf(time) : refusal('time', 'The value must be a text, ISO 8601');
    if ('reason' in when) return when;
    if (typeof entityType !== 'string') return refusal('entityType', 'The value must be a text');
    if (typeof entityId !== 'string') return refusal('entityId', 'The value must be a text');
    const entity = entityOf(entityType, entityId);
    if (!entity) return unknownEntity(entityType, entityId);
    const known = typeof meter === 'string' ? METER_OF.get(meter) : undefined;
    if (typeof meter !== 'string' || !known) return refusal('meter', `The value must be one of ${METRICS.join(', ')}`);
    if (!known.entityTypes.includes(entity.entityType))
      return refusal(
        'meter',
        `A ${entity.entityType} has no ${meter}; it belongs to ${known.entityTypes.join(' or ')}`,
      );
    const amount = quantityText(quantity, known);
    if (typeof amount !== 'string') return amount;
    return { id: id as string, source: source as string, time: when, entity, meter, quantity: amount };
  };

  function timeOf(text: string): EventTime | Refusal {
    let found = times.get(text);
    if (!found) {
      found = readTime(text, nowMs);
      times.set(text, found);
    }
    return found;
  }

  function entityOf(entityType: string, entityId: string): Entity | undefined {
    const known = entitiesByType.get(entityType)?.get(entityId);
    if (known) return known;
    const key = entityKey(entityType, entityId);
    const found = entities.get(key) ?? entities.get(key.toLowerCase());
    if (found) {
      const ofType = entitiesByType.get(entityType) ?? new Map<string, Entity>();
      entitiesByType.set(entityType, ofType.set(entityId, found));
    }
    return found;
  }
}

const refusal = (field: string, reason: string): Refusal => ({ field, reason });

function textRefusal(field: 'id' | 'source', value: unknown): Refusal | undefined {
  if (typeof value !== 'string')
    return refusal(field, value === undefined ? 'The value is required' : 'The value must be a text');
  if (value === '') return refusal(field, 'The value must not be empty');
  if (value.length > MAX_ID_CHARACTERS && [...value].length > MAX_ID_CHARACTERS)
    return refusal(field, `The value must have at most ${MAX_ID_CHARACTERS} characters`);
  return isStorable(value) ? undefined : refusal(field, 'The value must not contain NUL or unpaired surrogates');
}

function readTime(text: string, nowMs: number): EventTime | Refusal {
  const ms = parseDateTime(text, { offset: 'optional' });
  if (ms === undefined) return refusal('time', 'The value must be an ISO 8601 date-time');
  if (ms > nowMs + FUTURE_MS) return refusal('time', 'The value must not lie more than an hour in the future');
  if (ms < FIRST_MS) return refusal('time', 'The value must not lie before 2000');
  return { ms, day: toUtcDay(ms), text: new Date(ms).toISOString().replace('T', ' ').slice(0, -1) };
}

function unknownEntity(entityType: string, entityId: string): Refusal {
  if (entityType !== 'service' && entityType !== 'datawarehouse' && entityType !== 'clickpipe')
    return refusal('entityType', 'The value must be one of datawarehouse, service, clickpipe');
  return refusal(
    'entityId',
    `The organization has no ${entityType} ${[...entityId].slice(0, 64).join('').toWellFormed()}`,
  );
}

function quantityText(value: unknown, { unit }: Meter): string | Refusal {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string')
    return refusal(
      'quantity',
      value === undefined ? 'The value is required' : 'The value must be a number, or a text that holds one',
    );
  if (!QUANTITY.test(text))
    return refusal('quantity', 'The value must be a decimal number of at least 0 with at most 6 decimals');
  const most = MOST[unit] ?? 0;
  if (Number(text) > most) return refusal('quantity', `The value must be at most ${most} ${unit}`);
  // Beyond that a JSON number may have been rounded before we saw it.
  if (typeof value === 'number' && text.length > EXACT_DIGITS && text.replace('.', '').length > EXACT_DIGITS)
    return refusal('quantity', `A number of more than ${EXACT_DIGITS} digits must be sent as a text`);
  return text;
}
