import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../kernel/schemas/storable-text.ts';
import { QueriedSeries } from '../charts/series-schema.ts';
import { CONDITIONS, type ConditionName } from './conditions.ts';
import { INTERVALS, type Interval } from './windows.ts';

export const THRESHOLD_TYPES = [
  'above',
  'below',
  'above_exclusive',
  'below_or_equal',
  'equal',
  'not_equal',
  'between',
  'not_between',
] as const;
const ALERT_SOURCES = ['saved_search', 'tile', 'metric', 'condition'] as const;
export const NO_DATA_BEHAVIORS = ['no_data', 'alert', 'ok', 'keep'] as const;
const ERROR_BEHAVIORS = ['error', 'alert', 'ok', 'keep'] as const;
export const STATUSES = ['ok', 'pending', 'firing', 'no_data', 'failed'] as const;
const ALERT_SEVERITIES = ['critical', 'error', 'warning', 'info'] as const;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const ERROR_TYPES = ['QUERY_ERROR', 'QUERY_TIMEOUT', 'WEBHOOK_ERROR', 'INVALID_ALERT', 'UNKNOWN'] as const;

export const MAX_CHANNELS = 10;
const MAX_MINUTES = 7 * 24 * 60;
const nullable = <T extends Type.TSchema>(schema: T, description?: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], description === undefined ? {} : { description }));

const Id = text({ maxLength: 64 });
const Channel = NamedObject('AlertChannel', { type: Type.Literal('webhook'), webhookId: Id });
const TimeOfDay = Type.Refine(
  Type.String({ maxLength: 5 }),
  (value) => typeof value !== 'string' || /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(value),
  () => 'The value must be a time such as 22:00',
);
const QuietHours = NamedObject(
  'AlertQuietHours',
  {
    timezone: text({ minLength: 1, maxLength: 64, description: 'An IANA name such as Europe/Berlin' }),
    ranges: Type.Array(
      Type.Object({
        days: Type.Optional(
          Type.Array(Type.Enum([...DAYS]), {
            minItems: 1,
            maxItems: 7,
            uniqueItems: true,
            description: 'The days on which the range starts. Default: every day',
          }),
        ),
        start: TimeOfDay,
        end: TimeOfDay,
      }),
      { minItems: 1, maxItems: 20, description: 'A range whose end is not after its start ends on the next day' },
    ),
  },
  { description: 'Local times at which nothing is sent. What changed is sent after them' },
);

/** Members that the public interface does not have. A request that leaves one out keeps its value; null sets the default. */
const OWN_MEMBERS = {
  metric: nullable(QueriedSeries, 'For source metric: the series. It has no other groups than groupBy of the alert'),
  condition: nullable(
    Type.Enum(Object.keys(CONDITIONS) as ConditionName[]),
    'For source condition: what is watched, in all resources of the organization',
  ),
  pendingMinutes: nullable(
    Type.Integer({ minimum: 0, maximum: MAX_MINUTES }),
    'How long a value must stay beyond the threshold before the alert fires. Default: 0',
  ),
  keepFiringMinutes: nullable(
    Type.Integer({ minimum: 0, maximum: MAX_MINUTES }),
    'How long a value must stay normal before the alert is resolved. Default: 0',
  ),
  repeatMinutes: nullable(
    Type.Integer({ minimum: 0, maximum: MAX_MINUTES }),
    'A firing alert is sent again after this time. 0: never. Default: 240',
  ),
  noDataBehavior: nullable(
    Type.Enum([...NO_DATA_BEHAVIORS]),
    'What a window without a value means. A count without rows is 0, which is a value. Default: no_data',
  ),
  errorBehavior: nullable(Type.Enum([...ERROR_BEHAVIORS]), 'What a failed evaluation means. Default: error'),
  evaluationDelaySeconds: nullable(
    Type.Integer({ minimum: 0, maximum: 3600 }),
    'A window is evaluated this long after its end, for rows that arrive late. Default: 15',
  ),
  quietHours: nullable(QuietHours),
  severity: nullable(Type.Enum([...ALERT_SEVERITIES]), 'Default: error'),
  labels: nullable(
    Type.Record(text({ maxLength: 64 }), text({ maxLength: 256 }), { maxProperties: 20 }),
    'Sent with each notification',
  ),
  runbookUrl: nullable(text({ minLength: 1, maxLength: 2048 }), 'http or https'),
  owner: nullable(text({ minLength: 1, maxLength: 128 }), 'The person or team that takes care of the alert'),
};

export const AlertBody = NamedObject('AlertInput', {
  source: Type.Optional(Type.Enum([...ALERT_SOURCES], { description: 'Default: saved_search' })),
  savedSearchId: nullable(Id, 'For source saved_search'),
  groupBy: nullable(text({ maxLength: 1024 }), 'An SQL expression; each of its values has a state of its own'),
  dashboardId: nullable(Id, 'For source tile'),
  tileId: nullable(Id, 'For source tile: a line, bar or number tile'),
  interval: Type.Enum(Object.keys(INTERVALS) as Interval[], {
    description: 'The length of a window, and the time between two evaluations',
  }),
  threshold: Type.Number(),
  thresholdType: Type.Enum([...THRESHOLD_TYPES], {
    description: 'above includes the threshold, below does not; between includes both',
  }),
  thresholdMax: nullable(Type.Number(), 'Required for between and not_between'),
  channel: nullable(Channel),
  channels: Type.Optional(Type.Array(Channel, { maxItems: MAX_CHANNELS })),
  name: nullable(text({ minLength: 1, maxLength: 512 }), 'A Handlebars template'),
  message: nullable(text({ minLength: 1, maxLength: 4096 }), 'A Handlebars template'),
  note: nullable(text({ minLength: 1, maxLength: 4096 })),
  scheduleOffsetMinutes: nullable(Type.Integer({ minimum: 0, maximum: 1439 }), 'Less than the interval'),
  scheduleStartAt: nullable(Type.String({ maxLength: 40, format: 'date-time' }), 'Windows start at this time'),
  numConsecutiveWindows: nullable(Type.Integer({ minimum: 1, maximum: 10_000 })),
  ...OWN_MEMBERS,
});

export const AlertRecord = NamedObject('Alert', {
  id: Type.String(),
  teamId: Type.String({ description: 'The organization' }),
  ...AlertBody.properties,
  source: Type.Enum([...ALERT_SOURCES]),
  channel: Type.Union([Channel, Type.Null()]),
  channels: Type.Array(Channel),
  state: Type.Enum(['OK', 'ALERT', 'PENDING', 'INSUFFICIENT_DATA', 'DISABLED']),
  silenced: Type.Optional(
    Type.Object({
      by: Type.String(),
      at: Type.String({ format: 'date-time' }),
      until: Type.String({ format: 'date-time' }),
      reason: Type.Optional(Type.String()),
    }),
  ),
  acknowledged: Type.Optional(Type.Object({ by: Type.String(), at: Type.String({ format: 'date-time' }) })),
  executionErrors: Type.Array(
    Type.Object({
      timestamp: Type.String({ format: 'date-time' }),
      type: Type.Enum([...ERROR_TYPES]),
      message: Type.String(),
    }),
  ),
  status: Type.Enum([...STATUSES], { description: 'The worst state of all groups, or failed' }),
  statusSince: Type.Optional(Type.String({ format: 'date-time' })),
  firingGroups: Type.Integer(),
  lastValue: Type.Union([Type.Number(), Type.Null()], { description: 'The worst value of the last window' }),
  evaluatedUntil: Type.Optional(
    Type.String({ format: 'date-time', description: 'The end of the last evaluated window' }),
  ),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
});

export type AlertBody = Static<typeof AlertBody>;
export type AlertRecord = Static<typeof AlertRecord>;
export type QuietHours = Static<typeof QuietHours>;
export type AlertChannel = Static<typeof Channel>;
export type ThresholdType = (typeof THRESHOLD_TYPES)[number];
export type NoDataBehavior = (typeof NO_DATA_BEHAVIORS)[number];
export type AlertStatus = (typeof STATUSES)[number];
export type ErrorType = (typeof ERROR_TYPES)[number];
export const DAY_NAMES = DAYS;
