import { MISSING, type Violation } from '../../kernel/errors.ts';
import { deriveHexId } from '../../kernel/ids.ts';
import { listOffsetViolations } from '../../observability/alerts/alert-input.ts';
import type { AlertSpec, ChannelSpec, SavedSearchSpec } from './alerting-schema.ts';
import type { Declared } from './declared.ts';

interface AlertingSpec {
  channels?: ChannelSpec[];
  savedSearches?: SavedSearchSpec[];
  alerts?: AlertSpec[];
}

/** Alerts, and what they need. Omitted ids are derived from names. */
export function declareAlerting(
  organizationId: string,
  { channels = [], savedSearches = [], alerts = [] }: AlertingSpec,
  path: string,
  violations: Violation[],
): Declared[] {
  return [
    ...channels.map(
      ({ id, ...fields }, index): Declared => ({
        kind: 'channel',
        id: id ?? deriveHexId(organizationId, 'channel', fields.service, fields.name),
        path: `${path}channels[${index}]`,
        fields,
      }),
    ),
    ...savedSearches.map(
      ({ id, ...fields }, index): Declared => ({
        kind: 'saved_search',
        id: id ?? deriveHexId(organizationId, 'saved search', fields.name),
        path: `${path}savedSearches[${index}]`,
        fields,
      }),
    ),
    ...alerts.map((alert, index) => declareAlert(organizationId, alert, `${path}alerts[${index}]`, violations)),
  ];
}

function declareAlert(
  organizationId: string,
  { id, ...fields }: AlertSpec,
  path: string,
  violations: Violation[],
): Declared {
  const { name, source = findSource(fields) } = fields;
  if (id === undefined && !name)
    violations.push({ path: `${path}.name`, rule: 'An alert without an id must have a name', value: MISSING });
  violations.push(
    ...listOffsetViolations(fields).map((violation) => ({ ...violation, path: `${path}.${violation.path}` })),
  );
  return {
    kind: 'alert',
    id: id ?? deriveHexId(organizationId, 'alert', name ?? ''),
    path,
    fields: { ...fields, ...(source && { source }) },
  };
}

/** The source need not be declared: its members say which one it is. */
function findSource({ savedSearch, dashboard, tile, metric, condition }: AlertSpec): AlertSpec['source'] {
  if (savedSearch !== undefined) return 'saved_search';
  if (dashboard !== undefined || tile !== undefined) return 'tile';
  if (metric) return 'metric';
  return condition ? 'condition' : undefined;
}
