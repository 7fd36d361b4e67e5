import type { Signal } from '../../src/observability/ingest/wire/otlp-messages.ts';
import type { Json } from '../support/client.ts';
import { TROUBLESOME } from '../support/hostile.ts';
import { encodeRequest, field, split, unwrap } from '../support/otlp-encoding.ts';
import { createFullRequest } from '../support/otlp-requests.ts';
import type { Random } from './random.ts';

/** Values that are unusual in OTLP, beside those that are unusual everywhere. */
const UNUSUAL: readonly unknown[] = [
  ...TROUBLESOME,
  'NaN',
  '-Infinity',
  '18446744073709551615',
  '18446744073709551616',
  '-9223372036854775808',
  'ff',
  '00000000000000000000000000000000',
  { stringValue: 'x' },
  { kvlistValue: { values: [{}] } },
  { arrayValue: { values: [{ arrayValue: {} }] } },
  [{ key: 'service.name', value: { stringValue: 'other' } }],
  [{ key: 'OrganizationId', value: { stringValue: 'other' } }],
];

/** The encoded record of a request: the first log record or span, or one of the metrics. */
function pickRecord(random: Random, signal: Signal, now: number): Buffer {
  const [, scopes] = split(unwrap(encodeRequest(signal, createFullRequest(signal, now)))) as [
    unknown,
    { bytes: Buffer },
  ];
  const records = split(unwrap(scopes.bytes)).filter(({ number }) => number === 2);
  return unwrap(random.pick(records).bytes);
}

/** Changes, removes, inserts, repeats and cuts off bytes. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  let result = bytes;
  for (let count = random.integer(1, 2); count > 0; count--) {
    const at = random.integer(0, Math.max(0, result.length - 1));
    const to = Math.min(result.length, at + random.integer(1, 24));
    const [before, part, after] = [result.subarray(0, at), result.subarray(at, to), result.subarray(to)];
    const changed = Buffer.from(part);
    if (changed.length > 0) changed[0] = random.pick([0, 0x7f, 0x80, 0xff, random.integer(0, 255)]);
    const noise = Buffer.from(Array.from({ length: random.integer(1, 12) }, () => random.integer(0, 255)));
    result = Buffer.concat(
      random.pick([
        [before, changed, after],
        [before, changed, after],
        [before, changed, after],
        [before, after],
        [before, part, part, after],
        [before, noise, part, after],
        [before],
      ]),
    );
  }
  return result;
}

/** Replaces or removes members at any depth. */
export function mutateJson(random: Random, value: Json): Json {
  const copy = structuredClone(value);
  for (let count = random.integer(1, 2); count > 0; count--) {
    const places: { holder: Json; key: string }[] = [];
    const visit = (holder: Json): void => {
      for (const key of Object.keys(holder)) {
        places.push({ holder, key });
        if (typeof holder[key] === 'object' && holder[key] !== null) visit(holder[key]);
      }
    };
    visit(copy);
    if (places.length === 0) return copy;
    const { holder, key } = random.pick(places);
    if (random.chance(0.2)) delete holder[key];
    else {
      // Of the same type half of the time: otherwise most requests would be refused as a whole.
      const alike = UNUSUAL.filter((other) => typeof other === typeof holder[key]);
      holder[key] = random.pick(random.chance(0.5) && alike.length > 0 ? alike : UNUSUAL);
    }
  }
  return copy;
}

/** A resource with one damaged record, in intact envelopes. */
export const createDamagedResource = (random: Random, signal: Signal, now: number): Buffer =>
  field(1, field(2, field(2, mutateBytes(random, pickRecord(random, signal, now)))));
