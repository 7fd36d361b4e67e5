import { MISSING, type Violation } from '../../kernel/errors.ts';
import { deriveUuid } from '../../kernel/ids.ts';
import { hashPassword } from '../../platform/credentials/secrets.ts';
import { listUnusedOptions } from './driver-options.ts';
import type { ServiceSpec } from './schema.ts';

/** The members of a service that are stored in another form: the hashes of its password, and parts with an id. */
export function declareServiceSettings(
  spec: Omit<ServiceSpec, 'id'>,
  serviceId: string,
  path: string,
  violations: Violation[],
) {
  const { password, serviceQueryEndpoint: endpoint, scalingSchedule: entries, ...fields } = spec;
  if (password !== undefined && spec.passwordHash !== undefined)
    violations.push({ path, rule: 'The service must have either password or passwordHash', value: MISSING });
  if (spec.passwordDoubleSha1Hash !== undefined && spec.passwordHash === undefined)
    violations.push({ path, rule: 'passwordDoubleSha1Hash needs passwordHash', value: MISSING });
  if (spec.isTierOmitted && spec.kind === 'development')
    violations.push({ path: `${path}.isTierOmitted`, rule: 'A development service must have a tier', value: true });
  violations.push(...listUnusedOptions(spec, path));
  return {
    ...fields,
    ...(password === undefined ? undefined : hashPassword(password)),
    ...(endpoint && {
      serviceQueryEndpoint: {
        id: endpoint.id ?? deriveUuid(serviceId, 'query endpoint'),
        openApiKeys: endpoint.openApiKeys,
        roles: endpoint.roles,
        allowedOrigins: endpoint.allowedOrigins ?? '',
      },
    }),
    ...(entries && {
      scalingSchedule: entries.map((entry, index) => ({
        id: deriveUuid(serviceId, 'scaling schedule', entry.name, String(index)),
        ...entry,
      })),
    }),
  };
}
