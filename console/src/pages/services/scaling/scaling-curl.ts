import type { ScalingChange } from '../../../api/types.ts';

/** The change as a curl command. The values are numbers and booleans, so nothing needs quoting; the shell supplies the key. */
export function formatScalingCurl(
  server: string,
  organizationId: string,
  serviceId: string,
  change: ScalingChange,
): string {
  return [
    'curl -X PATCH -u "$KEY_ID:$KEY_SECRET"',
    "-H 'content-type: application/json'",
    `-d '${JSON.stringify(change)}'`,
    `${server}/v1/organizations/${organizationId}/services/${serviceId}/replicaScaling`,
  ].join(' \\\n  ');
}
