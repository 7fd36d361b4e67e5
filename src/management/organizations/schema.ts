import Type, { type Static } from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { isoSeconds } from '../../kernel/time/clock.ts';
import { type Organization, TIERS } from './organization.ts';

export const OrganizationPath = Type.Object({
  organizationId: Type.String({ format: 'uuid', description: 'Case-insensitive' }),
});

export const OrganizationRecord = NamedObject('Organization', {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
  tier: Type.Enum([...TIERS]),
  privateEndpoints: Type.Array(Type.Object({}), { description: 'Always empty' }),
  byocConfig: Type.Array(Type.Object({}), { description: 'Always empty: services run where the control plane runs' }),
  enableCoreDumps: Type.Boolean({ description: 'Always false' }),
  capabilities: Type.Object({ snapshots: Type.Boolean({ description: 'Always false' }) }),
});

export const toOrganizationRecord = ({
  id,
  name,
  createdAt,
  tier,
}: Organization): Static<typeof OrganizationRecord> => ({
  id,
  name,
  createdAt: isoSeconds(createdAt),
  tier,
  privateEndpoints: [],
  byocConfig: [],
  enableCoreDumps: false,
  capabilities: { snapshots: false },
});
