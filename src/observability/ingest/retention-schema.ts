import Type from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { MAX_RETENTION_DAYS } from '../../management/organizations/schema.ts';

const Days = Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS });
const OptionalDays = Type.Optional(Type.Union([Days, Type.Null()]));

export const UpdateRetentionBody = NamedObject(
  'TelemetryRetentionPatchRequest',
  { logs: OptionalDays, traces: OptionalDays, metrics: OptionalDays },
  { additionalProperties: false },
);

export const RetentionRecord = NamedObject('TelemetryRetention', {
  logs: Days,
  traces: Days,
  metrics: Days,
  maximum: Type.Integer({ description: 'The retention of the server, which applies where the organization has none' }),
});
