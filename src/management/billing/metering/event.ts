import { decimalPattern } from '../../../kernel/numbers/decimal.ts';
import { isStorable, STORABLE_RULE } from '../../../kernel/text.ts';
import { MINUTE_MS, parseDateTime } from '../../../kernel/time/clock.ts';
import { type Day, toUtcDay } from '../../../kernel/time/days.ts';
import { ENTITY_TYPES, type Entity } from '../entity.ts';

import { METER_NAMES, METERS, type Meter } from '../meter.ts';
import type { BatchEntities } from './batch-entities.ts';

/** A valid usage event. */
export interface UsageEvent {
  id: string;
  source: string;
  time: EventTime;
  entity: Entity;
  meter: string;
  /** A decimal string in the unit of the meter. */
  quantity: string;
}

interface EventTime {
  ms: number;
  day: Day;
  /** In the format that the engine parses fastest. */
  text: string;
}

/** `field` is empty when the error concerns the whole event. */
export interface EventError {
  field: string;
  reason: string;
}

export const MAX_ID_CHARACTERS = 256;
const FUTURE_MS = 60 * MINUTE_MS;
const FIRST_MS = Date.parse('2000-01-01T00:00:00Z');
const QUANTITY = decimalPattern({ maxWholeDigits: 19, maxDecimals: 6 });
/** More than 100,000 units for a day, or a petabyte at once, is an error in metering. The limits keep sums exact. */
const MAX_QUANTITY: Record<Meter['unit'], number> = { 'unit-minutes': 1e9, bytes: 1e15, 'byte-hours': 1e18 };
/** A JSON number with more digits may be rounded. */
const EXACT_DIGITS = 15;

const METERS_BY_NAME = new Map<string, Meter>(METER_NAMES.map((name) => [name, METERS[name]]));

export type EventValidator = (value: unknown) => UsageEvent | EventError;

export const isEventError = (result: UsageEvent | EventError): result is EventError => 'reason' in result;

/** For the events of one batch. Caches parsed times and entities, which repeat within a batch. */
export function createEventValidator(entities: Pick<BatchEntities, 'find'>, nowMs: number): EventValidator {
  const times = new Map<string, EventTime | EventError>();
  const entitiesByType = new Map<string, Map<string, Entity>>();

  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return eventError('', 'The event must be an object');
    const { id, source, time, entityType, entityId, meter, quantity } = value as Record<string, unknown>;
    const invalidText = checkText('id', id) ?? checkText('source', source);
    if (invalidText) return invalidText;
    const eventTime =
      typeof time === 'string'
        ? parseCachedTime(time)
        : eventError('time', 'The value must be an ISO 8601 date-time string');
    if ('reason' in eventTime) return eventTime;
    if (typeof entityType !== 'string') return eventError('entityType', 'The value must be a string');
    if (typeof entityId !== 'string') return eventError('entityId', 'The value must be a string');
    const entity = findEntity(entityType, entityId);
    if (!entity) return unknownEntityError(entityType, entityId);
    const definition = checkMeter(meter, entity);
    if ('reason' in definition) return definition;
    const amount = parseQuantity(quantity, definition);
    if (typeof amount !== 'string') return amount;
    return {
      id: id as string,
      source: source as string,
      time: eventTime,
      entity,
      meter: meter as string,
      quantity: amount,
    };
  };

  function parseCachedTime(text: string): EventTime | EventError {
    let found = times.get(text);
    if (!found) {
      found = parseTime(text, nowMs);
      times.set(text, found);
    }
    return found;
  }

  function findEntity(entityType: string, entityId: string): Entity | undefined {
    const cached = entitiesByType.get(entityType)?.get(entityId);
    if (cached) return cached;
    const found = entities.find(entityType, entityId);
    if (found) {
      const byId = entitiesByType.get(entityType) ?? new Map<string, Entity>();
      entitiesByType.set(entityType, byId.set(entityId, found));
    }
    return found;
  }
}

const eventError = (field: string, reason: string): EventError => ({ field, reason });

function checkText(field: 'id' | 'source', value: unknown): EventError | undefined {
  if (typeof value !== 'string')
    return eventError(field, value === undefined ? 'The value is required' : 'The value must be a string');
  if (value === '') return eventError(field, 'The value must not be empty');
  if (value.length > MAX_ID_CHARACTERS && [...value].length > MAX_ID_CHARACTERS)
    return eventError(field, `The value must have at most ${MAX_ID_CHARACTERS} characters`);
  return isStorable(value) ? undefined : eventError(field, STORABLE_RULE);
}

function parseTime(text: string, nowMs: number): EventTime | EventError {
  const ms = parseDateTime(text, { offset: 'optional' });
  if (ms === undefined) return eventError('time', 'The value must be an ISO 8601 date-time');
  if (ms > nowMs + FUTURE_MS) return eventError('time', 'The value must be at most one hour in the future');
  if (ms < FIRST_MS) return eventError('time', 'The value must not be before 2000');
  return { ms, day: toUtcDay(ms), text: new Date(ms).toISOString().replace('T', ' ').slice(0, -1) };
}

function checkMeter(name: unknown, { entityType }: Entity): Meter | EventError {
  const meter = typeof name === 'string' ? METERS_BY_NAME.get(name) : undefined;
  if (!meter) return eventError('meter', `The value must be one of ${METER_NAMES.join(', ')}`);
  if (meter.entityTypes.includes(entityType)) return meter;
  return eventError('meter', `A ${entityType} has no ${name}; the meter applies to ${meter.entityTypes.join(' or ')}`);
}

function unknownEntityError(entityType: string, entityId: string): EventError {
  if (!(ENTITY_TYPES as readonly string[]).includes(entityType))
    return eventError('entityType', `The value must be one of ${ENTITY_TYPES.join(', ')}`);
  return eventError(
    'entityId',
    `The organization has no ${entityType} ${[...entityId].slice(0, 64).join('').toWellFormed()}`,
  );
}

function parseQuantity(value: unknown, { unit }: Meter): string | EventError {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string')
    return eventError(
      'quantity',
      value === undefined ? 'The value is required' : 'The value must be a number or a decimal string',
    );
  if (!QUANTITY.test(text))
    return eventError('quantity', 'The value must be a decimal number of 0 or more with at most 6 decimals');
  const max = MAX_QUANTITY[unit];
  if (Number(text) > max) return eventError('quantity', `The value must be at most ${max} ${unit}`);
  // The JSON parser may have rounded the number.
  if (typeof value === 'number' && text.length > EXACT_DIGITS && text.replace('.', '').length > EXACT_DIGITS)
    return eventError('quantity', `A number with more than ${EXACT_DIGITS} digits must be sent as a string`);
  return text;
}
