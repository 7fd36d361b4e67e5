import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { StorableText as text } from '../../kernel/schemas/storable-text.ts';
import { isoTime } from '../../kernel/time/clock.ts';
import { AlertBody, STATUSES } from './alert-schema.ts';
import type { Evaluation } from './evaluation.ts';
import type { GroupState } from './judgment.ts';

const Time = Type.String({ format: 'date-time' });
const Value = Type.Union([Type.Number(), Type.Null()]);
const Labels = Type.Array(Type.String(), { description: 'The values of groupBy; empty without groups' });

export const PreviewBody = NamedObject('AlertPreviewInput', {
  alert: AlertBody,
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 30, description: 'Up to now. Default: 7' })),
});

export const PreviewRecord = NamedObject('AlertPreview', {
  start: Time,
  end: Time,
  windows: Type.Integer(),
  incidents: Type.Array(
    Type.Object({
      group: Labels,
      start: Time,
      end: Type.Optional(Type.String({ format: 'date-time', description: 'Missing if the group still fires' })),
      seconds: Type.Number(),
      peak: Value,
    }),
  ),
  moreIncidents: Type.Integer({ description: 'Incidents that are not listed' }),
  firingSeconds: Type.Number({ description: 'Over all groups' }),
  messages: Type.Integer({ description: 'Notifications to each channel' }),
  points: Type.Array(Type.Object({ time: Time, value: Value, status: Type.String() })),
});

export const SilenceBody = NamedObject('AlertSilenceInput', {
  until: Type.String({ format: 'date-time', maxLength: 40 }),
  reason: Type.Optional(text({ minLength: 1, maxLength: 1024 })),
});

const GroupRecord = NamedObject('AlertGroup', {
  labels: Labels,
  status: Type.Enum([...STATUSES]),
  since: Time,
  value: Value,
  announcedAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'When it was last sent to the channels' }),
  ),
});

export const GroupsRecord = NamedObject('AlertGroups', {
  groupBy: Type.Array(Type.String()),
  total: Type.Integer(),
  groups: Type.Array(GroupRecord),
});

export const EvaluationRecord = NamedObject('AlertEvaluation', {
  evaluatedAt: Time,
  windowEnd: Time,
  status: Type.Enum([...STATUSES]),
  isChange: Type.Boolean(),
  value: Value,
  groups: Type.Integer(),
  firing: Type.Integer(),
  shown: Type.Array(Type.Object({ labels: Labels, status: Type.String(), value: Value }), {
    description: 'Groups that were not ok, at most 20',
  }),
  queryMs: Type.Number(),
  skipped: Type.Optional(Type.Integer({ description: 'Windows before this one that were not evaluated' })),
  error: Type.Optional(Type.Object({ type: Type.String(), message: Type.String() })),
});

export const EvaluationQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default: 100' })),
    before: Type.Optional(
      Type.String({ format: 'date-time', maxLength: 40, description: 'Evaluated before this time' }),
    ),
    changes: Type.Optional(Type.Enum(['true', 'false'], { description: 'true: only those that changed the status' })),
  },
  { additionalProperties: false },
);

export const toEvaluationRecord = (evaluation: Evaluation): Static<typeof EvaluationRecord> => ({
  ...evaluation,
  evaluatedAt: isoTime(evaluation.evaluatedAt),
  windowEnd: isoTime(evaluation.windowEnd),
  shown: evaluation.shown.map(({ labels, ...shown }) => ({ ...shown, labels: [...labels] })),
});

export const toGroupRecord = ({ labels, status, since, value, announced }: GroupState): Static<typeof GroupRecord> => ({
  labels: [...labels],
  status,
  since: isoTime(since),
  value,
  ...(announced && { announcedAt: isoTime(announced.at) }),
});
