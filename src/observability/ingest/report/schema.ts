import Type, { type Static } from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { StorableText } from '../../../kernel/schemas/storable-text.ts';
import { isoTime } from '../../../kernel/time/clock.ts';
import { SIGNALS } from '../wire/otlp-messages.ts';
import { MAX_REJECTIONS, MAX_SENDERS } from './count-queries.ts';
import { MAX_KEYS, PLACES } from './storage-queries.ts';
import { MAX_RANGE_DAYS, type TelemetryReport, type TelemetryStorage } from './telemetry-report.ts';

const Time = (description: string) => Type.String({ format: 'date-time', description });
const QueryTime = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', maxLength: 40, description }));
const SignalName = Type.Enum([...SIGNALS]);

export const ReportQuery = Type.Object(
  {
    from: QueryTime(
      `ISO 8601 date-time with an offset or Z; an hour before to by default, at most ${MAX_RANGE_DAYS} days before to`,
    ),
    to: QueryTime('Exclusive; now by default'),
    tokenId: Type.Optional(Type.String({ format: 'uuid', description: 'Only what was sent with this token' })),
    serviceName: Type.Optional(
      StorableText({ maxLength: 200, description: 'Only what this service sent; empty for records without a service' }),
    ),
    signal: Type.Optional(SignalName),
  },
  { additionalProperties: false },
);

const Amounts = {
  acceptedRecords: Type.Integer({ description: 'Logs, spans or data points that were stored' }),
  acceptedBytes: Type.Integer({ description: 'Of their rows, before compression' }),
  rejectedRecords: Type.Integer(),
  rejectedBytes: Type.Integer({ description: 'Of rejected records and refused requests, as they were sent' }),
};
const Origin = {
  tokenId: Type.String({ description: 'The id of the token; it may have been deleted since' }),
  serviceName: Type.String({ description: 'At most 200 characters; empty for records without a service' }),
  signal: SignalName,
};
const lastReceivedAt = Time('The start of the last minute in which something arrived');

export const ReportRecord = NamedObject('TelemetryReport', {
  from: Time('Inclusive'),
  to: Time('Exclusive'),
  bucketSeconds: Type.Integer({ description: 'The length of a bucket' }),
  buckets: Type.Array(
    NamedObject('TelemetryBucket', {
      start: Time('A multiple of the length of a bucket'),
      signal: SignalName,
      ...Amounts,
    }),
    { description: 'Oldest first, at most 121 of each signal; buckets without records are left out' },
  ),
  senders: Type.Array(NamedObject('TelemetrySender', { ...Origin, ...Amounts, lastReceivedAt }), {
    description: `Most records first, at most ${MAX_SENDERS}`,
  }),
  senderCount: Type.Integer({ description: 'The number of senders, also of those that are not listed' }),
  rejections: Type.Array(
    NamedObject('TelemetryRejection', {
      ...Origin,
      reason: Type.String(),
      records: Type.Integer({ description: '0 for requests that were refused as a whole' }),
      bytes: Type.Integer({ description: 'As they were sent' }),
      sample: Type.String({ description: 'The beginning of a rejected record; empty for a request' }),
      lastReceivedAt,
    }),
    { description: `Most records first, at most ${MAX_REJECTIONS}` },
  ),
});

export const StorageRecord = NamedObject('TelemetryStorage', {
  signals: Type.Array(
    NamedObject('TelemetrySignalStorage', {
      signal: SignalName,
      rows: Type.Integer(),
      bytesOnDisk: Type.Optional(
        Type.Integer({
          description:
            'An estimate. Tables hold the rows of all organizations; of each day and table, an organization has the share of the bytes that it has of the rows. Absent if the ClickHouse user may not read system.parts',
        }),
      ),
      oldestAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'The time of the oldest row that exists; null without rows',
      }),
    }),
  ),
  attributeKeys: Type.Optional(
    Type.Array(
      NamedObject('TelemetryAttributeKey', {
        signal: SignalName,
        place: Type.Enum([...PLACES], { description: 'record: an attribute of a log record, a span or a data point' }),
        key: Type.String(),
        bytes: Type.Integer({ description: 'Of the key and its values in all rows, before compression' }),
        share: Type.Number({ description: 'Of the bytes of all rows of this signal, before compression; 0 to 1' }),
        distinctValues: Type.Integer({ description: 'Different values in the sample, estimated' }),
      }),
      {
        description: `The ${MAX_KEYS} keys with the most bytes, estimated from a sample of about 100,000 rows of each signal. Absent if the sample could not be read in 10 seconds`,
      },
    ),
  ),
});

export const toReportRecord = (report: TelemetryReport): Static<typeof ReportRecord> => ({
  ...report,
  from: isoTime(report.from),
  to: isoTime(report.to),
  buckets: report.buckets.map((bucket) => ({ ...bucket, start: isoTime(bucket.start) })),
  senders: report.senders.map((sender) => ({ ...sender, lastReceivedAt: isoTime(sender.lastReceivedAt) })),
  rejections: report.rejections.map((one) => ({ ...one, lastReceivedAt: isoTime(one.lastReceivedAt) })),
});

export const toStorageRecord = ({ signals, attributeKeys }: TelemetryStorage): Static<typeof StorageRecord> => ({
  signals: signals.map(({ signal, rows, bytesOnDisk, oldestAt }) => ({
    signal,
    rows,
    ...(bytesOnDisk === undefined ? {} : { bytesOnDisk }),
    oldestAt: oldestAt === undefined ? null : isoTime(oldestAt),
  })),
  ...(attributeKeys && { attributeKeys }),
});
