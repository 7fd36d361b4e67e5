import type { ScalingChange } from '../../api/types.ts';

/** The same change as a command. It holds numbers and booleans only, so nothing in it needs quoting; the key is left to the shell. */
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
    `${server}/v1/organizations/${organizationId}/services/${serviceId}/scaling`,
  ].join(' \\\n  ');
}
