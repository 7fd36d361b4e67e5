import { newUuid } from '../../kernel/ids.ts';
import { formatYaml } from '../../kernel/schemas/yaml-text.ts';
import { hashCredentials } from '../../management/keys/stored-key.ts';
import type { Tier } from '../../management/organizations/organization.ts';
import { newKeyId, newKeySecret } from '../../platform/credentials/secrets.ts';
import { parseFleetFile } from '../fleet/file.ts';

export interface NewOrganization {
  name: string;
  tier: Tier;
}

const HEADER = `# The fleet file of this server. Keep it: add services to it and start the server with --fleet.
# It has hashes instead of the secret of the key. Applied without a change, it changes nothing.
`;

/** An organization with an admin key, as the text of a fleet file. The credentials are not part of it. */
export function declareFirstOrganization({ name, tier }: NewOrganization) {
  const credentials = { keyId: newKeyId(), keySecret: newKeySecret() };
  const organization = { id: newUuid(), name, tier, paid: true };
  const keys = [{ id: newUuid(), name: 'admin', roles: ['admin'], hashData: hashCredentials(credentials) }];
  const text = HEADER + formatYaml({ organizations: [{ ...organization, keys }] });
  // Parsed from the text: what is applied is what the operator keeps.
  return { organization, credentials, text, file: parseFleetFile(text) };
}
