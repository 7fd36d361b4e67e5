import { previewValue, writeValue } from './any-value.ts';
import { writeAttributes } from './attributes.ts';
import { type Batch, SAMPLE_BYTES } from './batch.ts';
import { writeId } from './fields.ts';
import { BYTES, FIXED32, FIXED64, field, type ProtoReader, VARINT } from './proto-reader.ts';
import { Range, Ranges } from './ranges.ts';
import { eachScope, encodeOrigin, ORIGIN_COLUMNS } from './request.ts';
import type { RowBuffer } from './row-buffer.ts';

const TIME = field(1, FIXED64);
const SEVERITY_NUMBER = field(2, VARINT);
const SEVERITY_TEXT = field(3, BYTES);
const BODY = field(5, BYTES);
const ATTRIBUTES = field(6, BYTES);
const FLAGS = field(8, FIXED32);
const TRACE_ID = field(9, BYTES);
const SPAN_ID = field(10, BYTES);
const OBSERVED_TIME = field(11, FIXED64);
const EVENT_NAME = field(12, BYTES);

/** In the order in which a row is written. */
export const LOG_COLUMNS = [
  ...ORIGIN_COLUMNS,
  'Timestamp',
  'TraceId',
  'SpanId',
  'TraceFlags',
  'SeverityText',
  'SeverityNumber',
  'Body',
  'LogAttributes',
  'EventName',
] as const;

const SEVERITIES = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

export function transcodeLogs(reader: ProtoReader, batch: Batch): void {
  const log = new LogRecord();
  eachScope(reader, batch, (origin, records) => {
    const prefix = encodeOrigin(origin);
    for (let index = 0; index < records.count; index++) {
      const [start, end] = [records.start(index), records.end(index)];
      log.read(reader, start, end);
      batch.record(
        origin,
        start,
        end,
        () => writeLog(reader, batch, log, prefix),
        () => `log record with the body ${previewValue(reader, log.body.start, log.body.end, SAMPLE_BYTES)}`,
      );
    }
  });
}

/** The fields of a record, reused for all of them. */
class LogRecord {
  /** Positions; negative if not set. */
  time = -1;
  observedTime = -1;
  severityNumber = 0;
  flags = 0;
  readonly severityText = new Range();
  readonly body = new Range();
  readonly traceId = new Range();
  readonly spanId = new Range();
  readonly eventName = new Range();
  readonly attributes = new Ranges();

  read(reader: ProtoReader, start: number, end: number): void {
    this.time = this.observedTime = -1;
    this.severityNumber = this.flags = 0;
    for (const range of [this.severityText, this.body, this.traceId, this.spanId, this.eventName]) range.clear();
    this.attributes.clear();
    reader.pos = start;
    while (reader.pos < end) this.readField(reader, reader.tag(end), end);
  }

  private readField(reader: ProtoReader, tag: number, end: number): void {
    switch (tag) {
      case TIME:
        this.time = reader.fixed64(end);
        break;
      case OBSERVED_TIME:
        this.observedTime = reader.fixed64(end);
        break;
      case SEVERITY_NUMBER:
        this.severityNumber = reader.varint32(end);
        break;
      case SEVERITY_TEXT:
        this.severityText.set(reader, end);
        break;
      case BODY:
        this.body.set(reader, end);
        break;
      case ATTRIBUTES:
        this.attributes.add(reader, end);
        break;
      case FLAGS:
        this.flags = reader.fixed32(end);
        break;
      case TRACE_ID:
        this.traceId.set(reader, end);
        break;
      case SPAN_ID:
        this.spanId.set(reader, end);
        break;
      case EVENT_NAME:
        this.eventName.set(reader, end);
        break;
      default:
        reader.skip(tag, end);
    }
  }
}

function writeLog(reader: ProtoReader, batch: Batch, log: LogRecord, prefix: Buffer): RowBuffer {
  const { bytes } = reader;
  // A record without a time has the time at which it was observed; without that, the time at which it was received.
  const hasTime = log.time >= 0 && reader.uint64At(log.time) > 0;
  const timeAt = hasTime ? log.time : log.observedTime;
  const nanos = timeAt >= 0 ? reader.uint64At(timeAt) : 0;
  const out = batch.rowsAt('logs', nanos || batch.options.now);
  out.copy(prefix, 0, prefix.length);
  if (nanos > 0) out.copy(bytes, timeAt, timeAt + 8);
  else out.uint64(BigInt(batch.options.now));
  writeId(out, bytes, log.traceId, 16);
  writeId(out, bytes, log.spanId, 8);
  out.uint8(log.flags & 0xff);
  const severity = Math.min(log.severityNumber, 255);
  if (log.severityText.length > 0) out.string(bytes, log.severityText.start, log.severityText.end);
  else out.text(SEVERITIES[Math.floor((severity - 1) / 4)] ?? '');
  out.uint8(severity);
  writeValue(reader, log.body.start, log.body.end, out);
  writeAttributes(reader, log.attributes, out, batch.keys);
  out.string(bytes, log.eventName.start, log.eventName.end);
  return out;
}
