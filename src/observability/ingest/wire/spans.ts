import { writeAttributes, writeAttributesIn } from './attributes.ts';
import { type Batch, quote } from './batch.ts';
import type { AttributeKeys } from './distinct.ts';
import { eachItem, findBytes, findFixed64, writeId, writeTime } from './fields.ts';
import { LIMITS, reject } from './limits.ts';
import { BYTES, FIXED64, field, type ProtoReader, VARINT } from './proto-reader.ts';
import { Range, Ranges } from './ranges.ts';
import { eachScope } from './request.ts';
import { isZero, type RowBuffer } from './row-buffer.ts';

const TRACE_ID = field(1, BYTES);
const SPAN_ID = field(2, BYTES);
const TRACE_STATE = field(3, BYTES);
const PARENT_SPAN_ID = field(4, BYTES);
const NAME = field(5, BYTES);
const KIND = field(6, VARINT);
const START = field(7, FIXED64);
const END = field(8, FIXED64);
const ATTRIBUTES = field(9, BYTES);
const EVENTS = field(11, BYTES);
const LINKS = field(13, BYTES);
const STATUS = field(15, BYTES);

const EVENT = { time: 1, name: 2, attributes: 3 };
const LINK = { traceId: 1, spanId: 2, traceState: 3, attributes: 4 };
const STATUS_MESSAGE = field(2, BYTES);
const STATUS_CODE = field(3, VARINT);

/** In the order in which a row is written. */
export const SPAN_COLUMNS = [
  'OrganizationId',
  'ServiceName',
  'ResourceAttributes',
  'ScopeName',
  'ScopeVersion',
  'Timestamp',
  'TraceId',
  'SpanId',
  'ParentSpanId',
  'TraceState',
  'SpanName',
  'SpanKind',
  'SpanAttributes',
  'Duration',
  'StatusCode',
  'StatusMessage',
  'Events.Timestamp',
  'Events.Name',
  'Events.Attributes',
  'Links.TraceId',
  'Links.SpanId',
  'Links.TraceState',
  'Links.Attributes',
] as const;

const KINDS = ['Unspecified', 'Internal', 'Server', 'Client', 'Producer', 'Consumer'];
const STATUS_CODES = ['Unset', 'Ok', 'Error'];

export function transcodeSpans(reader: ProtoReader, batch: Batch): void {
  const span = new Span();
  eachScope(reader, batch, (origin, spans) => {
    const prefix = Buffer.concat([origin.organization, origin.resource, origin.scope]);
    for (let index = 0; index < spans.count; index++) {
      const [start, end] = [spans.start(index), spans.end(index)];
      span.read(reader, start, end);
      batch.record(
        origin,
        start,
        end,
        () => writeSpan(reader, batch, span, prefix),
        () => `span ${quote(reader, span.name.start, span.name.end)}`,
      );
    }
  });
}

/** The fields of a span, reused for all of them. */
class Span {
  /** Positions; negative if not set. */
  startTime = -1;
  endTime = -1;
  kind = 0;
  readonly traceId = new Range();
  readonly spanId = new Range();
  readonly parentSpanId = new Range();
  readonly traceState = new Range();
  readonly name = new Range();
  readonly status = new Range();
  readonly attributes = new Ranges();
  readonly events = new Ranges();
  readonly links = new Ranges();
  private readonly all = [
    this.traceId,
    this.spanId,
    this.parentSpanId,
    this.traceState,
    this.name,
    this.status,
    this.attributes,
    this.events,
    this.links,
  ];

  read(reader: ProtoReader, start: number, end: number): void {
    this.startTime = this.endTime = -1;
    this.kind = 0;
    for (const part of this.all) part.clear();
    reader.pos = start;
    while (reader.pos < end) this.readField(reader, reader.tag(end), end);
  }

  private readField(reader: ProtoReader, tag: number, end: number): void {
    switch (tag) {
      case TRACE_ID:
        this.traceId.set(reader, end);
        break;
      case SPAN_ID:
        this.spanId.set(reader, end);
        break;
      case PARENT_SPAN_ID:
        this.parentSpanId.set(reader, end);
        break;
      case TRACE_STATE:
        this.traceState.set(reader, end);
        break;
      case NAME:
        this.name.set(reader, end);
        break;
      case STATUS:
        this.status.set(reader, end);
        break;
      case ATTRIBUTES:
        this.attributes.add(reader, end);
        break;
      case EVENTS:
        this.events.add(reader, end);
        break;
      case LINKS:
        this.links.add(reader, end);
        break;
      case KIND:
        this.kind = reader.varint32(end);
        break;
      case START:
        this.startTime = reader.fixed64(end);
        break;
      case END:
        this.endTime = reader.fixed64(end);
        break;
      default:
        reader.skip(tag, end);
    }
  }
}

function writeSpan(reader: ProtoReader, batch: Batch, span: Span, prefix: Buffer): RowBuffer {
  checkSpan(reader, span);
  const { bytes } = reader;
  const out = batch.rowsAt('traces', reader.uint64At(span.startTime));
  out.copy(prefix, 0, prefix.length);
  out.copy(bytes, span.startTime, span.startTime + 8);
  out.hex(bytes, span.traceId.start, span.traceId.end);
  out.hex(bytes, span.spanId.start, span.spanId.end);
  writeId(out, bytes, span.parentSpanId, 8);
  out.string(bytes, span.traceState.start, span.traceState.end);
  out.string(bytes, span.name.start, span.name.end);
  out.text(KINDS[span.kind] ?? 'Unspecified');
  writeAttributes(reader, span.attributes, out, batch.keys);
  out.uint64(bytes.readBigUInt64LE(span.endTime) - bytes.readBigUInt64LE(span.startTime));
  writeStatus(reader, span.status, out);
  writeEvents(reader, span.events, out, batch.keys);
  writeLinks(reader, span.links, out, batch.keys);
  return out;
}

function checkSpan(
  { bytes }: ProtoReader,
  { traceId, spanId, parentSpanId, startTime, endTime, events, links }: Span,
): void {
  if (traceId.length !== 16 || isZero(bytes, traceId.start, traceId.end))
    reject('its trace id must have 16 bytes that are not all zero');
  if (spanId.length !== 8 || isZero(bytes, spanId.start, spanId.end))
    reject('its span id must have 8 bytes that are not all zero');
  if (parentSpanId.length !== 0 && parentSpanId.length !== 8)
    reject('its parent span id must be empty or have 8 bytes');
  if (startTime < 0) reject('it has no start time');
  if (endTime < 0) reject('it has no end time');
  if (bytes.readBigUInt64LE(endTime) < bytes.readBigUInt64LE(startTime)) reject('it ends before it starts');
  if (events.count > LIMITS.items) reject(`it has more than ${LIMITS.items} events`);
  if (links.count > LIMITS.items) reject(`it has more than ${LIMITS.items} links`);
}

const statusMessage = new Range();

function writeStatus(reader: ProtoReader, { start, end }: Range, out: RowBuffer): void {
  let code = 0;
  statusMessage.clear();
  reader.pos = start;
  while (reader.pos < end) {
    const tag = reader.tag(end);
    if (tag === STATUS_CODE) code = reader.varint32(end);
    else if (tag === STATUS_MESSAGE) statusMessage.set(reader, end);
    else reader.skip(tag, end);
  }
  out.text(STATUS_CODES[code] ?? 'Unset');
  out.string(reader.bytes, statusMessage.start, statusMessage.end);
}

function writeEvents(reader: ProtoReader, events: Ranges, out: RowBuffer, keys: AttributeKeys): void {
  eachItem(events, out, (start, end) => writeTime(reader, findFixed64(reader, start, end, EVENT.time), out));
  eachItem(events, out, (start, end) => writeBytes(reader, start, end, EVENT.name, out));
  eachItem(events, out, (start, end) => writeAttributesIn(reader, start, end, EVENT.attributes, out, keys));
}

const id = new Range();

function writeLinks(reader: ProtoReader, links: Ranges, out: RowBuffer, keys: AttributeKeys): void {
  const { bytes } = reader;
  eachItem(links, out, (start, end) => writeId(out, bytes, findBytes(reader, start, end, LINK.traceId, id), 16));
  eachItem(links, out, (start, end) => writeId(out, bytes, findBytes(reader, start, end, LINK.spanId, id), 8));
  eachItem(links, out, (start, end) => writeBytes(reader, start, end, LINK.traceState, out));
  eachItem(links, out, (start, end) => writeAttributesIn(reader, start, end, LINK.attributes, out, keys));
}

function writeBytes(reader: ProtoReader, start: number, end: number, number: number, out: RowBuffer): void {
  const found = findBytes(reader, start, end, number, id);
  out.string(reader.bytes, found.start, found.end);
}
