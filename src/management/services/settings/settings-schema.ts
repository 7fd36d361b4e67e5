import Type from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { PatternText } from '../../../kernel/schemas/pattern-text.ts';
import { StorableText } from '../../../kernel/schemas/storable-text.ts';
import { AUTOSCALER_MODES, QUERY_ENDPOINT_ROLES } from '../service-settings.ts';

const MAX_PERIOD_HOURS = 30 * 24;
const MAX_RETENTION_HOURS = 366 * 24;

const Period = Type.Integer({
  minimum: 1,
  maximum: MAX_PERIOD_HOURS,
  description: 'Hours between two backups; 24 with a start time',
});
const Retention = Type.Integer({
  minimum: 1,
  maximum: MAX_RETENTION_HOURS,
  description: 'Hours until a backup is deleted; at least the period',
});
const StartTime = PatternText(
  /^([01]\d|2[0-3]):[0-5]\d$/,
  'The value must be a time (HH:MM)',
  'HH:MM in UTC. Backups then start once a day at this time',
);

export const BackupConfigurationBody = NamedObject('BackupConfigurationPatchRequest', {
  backupPeriodInHours: Type.Optional(Period),
  backupRetentionPeriodInHours: Type.Optional(Retention),
  backupStartTime: Type.Optional(StartTime),
});

export const BackupConfigurationRecord = NamedObject('BackupConfiguration', {
  backupPeriodInHours: Period,
  backupRetentionPeriodInHours: Retention,
  backupStartTime: Type.Optional(StartTime),
});

export const AutoscalerMode = Type.Enum([...AUTOSCALER_MODES], {
  description: 'recommend (default) lists the decisions of the autoscaler, apply resizes the service, off does neither',
});

export const AutoscalerBody = NamedObject('AutoscalingPatchRequest', { mode: AutoscalerMode });

/** As many as an organization has by default. */
const MAX_KEYS = 100;
const MAX_ORIGINS_LENGTH = 4096;

export const QueryEndpointBody = NamedObject('InstanceServiceQueryApiEndpointsPostRequest', {
  roles: Type.Array(Type.Enum([...QUERY_ENDPOINT_ROLES]), { minItems: 1, maxItems: 2, uniqueItems: true }),
  openApiKeys: Type.Array(Type.String({ format: 'uuid' }), {
    minItems: 1,
    maxItems: MAX_KEYS,
    uniqueItems: true,
    description: 'The ids of the key records that may use the endpoint',
  }),
  allowedOrigins: Type.Optional(
    StorableText({
      maxLength: MAX_ORIGINS_LENGTH,
      description: 'Origins that browsers may call from, comma-separated',
    }),
  ),
});

export const QueryEndpointRecord = NamedObject('ServiceQueryAPIEndpoint', {
  id: Type.String({ format: 'uuid' }),
  openApiKeys: Type.Array(Type.String()),
  roles: Type.Array(Type.Enum([...QUERY_ENDPOINT_ROLES])),
  allowedOrigins: Type.String(),
});

/** No driver has private endpoints. Terraform takes a 404 for a deleted service. */
export const PrivateEndpointConfigRecord = NamedObject('PrivateEndpointConfig', {
  endpointServiceId: Type.Optional(Type.String()),
  privateDnsHostname: Type.Optional(Type.String()),
});
