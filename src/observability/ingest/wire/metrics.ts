import type { TableKind } from '../../own-telemetry/rows.ts';
import { type Batch, quote } from './batch.ts';
import { LIMITS } from './limits.ts';
import {
  COMMON_COLUMNS,
  POINT_COLUMNS,
  type Points,
  writeExponential,
  writeHistogram,
  writeNumber,
  writeSummary,
} from './points.ts';
import { BYTES, field, type ProtoReader, VARINT } from './proto-reader.ts';
import { Range, Ranges } from './ranges.ts';
import { eachScope, encodeOrigin, type Origin } from './request.ts';
import { hashBytes } from './shared-hashes.ts';

const NAME = field(1, BYTES);
const DESCRIPTION = field(2, BYTES);
const UNIT = field(3, BYTES);
const GAUGE = field(5, BYTES);
const SUM = field(7, BYTES);
const HISTOGRAM = field(9, BYTES);
const EXPONENTIAL_HISTOGRAM = field(10, BYTES);
const SUMMARY = field(11, BYTES);

/** The same in all kinds that have them. */
const DATA_POINTS = field(1, BYTES);
const TEMPORALITY = field(2, VARINT);
const IS_MONOTONIC = field(3, VARINT);

export const METRIC_COLUMNS = {
  gauge: [...COMMON_COLUMNS, ...POINT_COLUMNS.gauge],
  sum: [...COMMON_COLUMNS, ...POINT_COLUMNS.sum],
  histogram: [...COMMON_COLUMNS, ...POINT_COLUMNS.histogram],
  exponentialHistogram: [...COMMON_COLUMNS, ...POINT_COLUMNS.exponentialHistogram],
  summary: [...COMMON_COLUMNS, ...POINT_COLUMNS.summary],
} as const;

const KINDS: ReadonlyMap<number, { table: TableKind; write: typeof writeNumber }> = new Map([
  [GAUGE, { table: 'gauge', write: writeNumber }],
  [SUM, { table: 'sum', write: writeNumber }],
  [HISTOGRAM, { table: 'histogram', write: writeHistogram }],
  [EXPONENTIAL_HISTOGRAM, { table: 'exponentialHistogram', write: writeExponential }],
  [SUMMARY, { table: 'summary', write: writeSummary }],
]);

export function transcodeMetrics(reader: ProtoReader, batch: Batch): void {
  const points = new Ranges();
  eachScope(reader, batch, (origin, metrics) => {
    const encoded = encodeOrigin(origin);
    const prefix = Buffer.concat([encoded, encodeUint32(origin.scopeDropped)]);
    const seed = batch.streams.isLimited ? hashBytes(encoded, 0, encoded.length) : 0;
    for (let index = 0; index < metrics.count; index++)
      transcodeMetric(reader, batch, { origin, prefix, seed }, points, metrics.start(index), metrics.end(index));
  });
}

/** What the metrics of a scope have in common. */
interface Scope {
  origin: Origin;
  prefix: Buffer;
  seed: number;
}

function transcodeMetric(
  reader: ProtoReader,
  batch: Batch,
  { origin, prefix, seed: scopeSeed }: Scope,
  items: Ranges,
  start: number,
  end: number,
): void {
  const [name, description, unit, data] = [new Range(), new Range(), new Range(), new Range()];
  let kind = 0;
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === NAME) name.set(reader, end);
    else if (tag === DESCRIPTION) description.set(reader, end);
    else if (tag === UNIT) unit.set(reader, end);
    else if (KINDS.has(tag)) {
      data.set(reader, end);
      kind = tag;
    } else reader.skip(tag, end);
  }
  const known = KINDS.get(kind);
  // A metric of a kind that is not known has no data points that could be counted.
  if (!known) return;
  const points = readPoints(reader, data, items);
  batch.addParts(points.items.count);
  const rejection = origin.rejection ?? findRejection(name, description, unit);
  const { scratch } = batch;
  scratch.length = 0;
  scratch.copy(prefix, 0, prefix.length);
  if (rejection === undefined)
    for (const { start: from, end: to } of [name, description, unit]) scratch.string(reader.bytes, from, to);
  const seed = [name, unit].reduce(
    (hash, part) => hashBytes(reader.bytes, part.start, part.end, hash),
    scopeSeed ^ kind,
  );
  const shared: Points = { ...points, table: known.table, prefix: scratch.take(), seed };
  for (let index = 0; index < points.items.count; index++) {
    const [from, to] = [points.items.start(index), points.items.end(index)];
    batch.record(
      { serviceName: origin.serviceName, rejection },
      from,
      to,
      () => known.write(reader, batch, shared, from, to),
      () => `data point of the metric ${quote(reader, name.start, name.end)}`,
    );
  }
}

/** They are stored with each of its data points. */
function findRejection(...texts: Range[]): string | undefined {
  return texts.some(({ length }) => length > LIMITS.keyBytes)
    ? `the name, description or unit of its metric is longer than ${LIMITS.keyBytes} bytes`
    : undefined;
}

function readPoints(reader: ProtoReader, { start, end }: Range, items: Ranges) {
  items.clear();
  let [temporality, isMonotonic] = [0, 0];
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === DATA_POINTS) items.add(reader, end);
    else if (tag === TEMPORALITY) temporality = reader.varint32(end);
    else if (tag === IS_MONOTONIC) isMonotonic = reader.varint32(end);
    else reader.skip(tag, end);
  }
  return { items, temporality, isMonotonic: isMonotonic === 0 ? 0 : 1 };
}

function encodeUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
