import Type from 'typebox';
import { NamedObject } from '../kernel/named-object.ts';
import { TIERS } from './organization.ts';

export const OrganizationPath = Type.Object({
  organizationId: Type.String({ format: 'uuid', description: 'Case-insensitive' }),
});

export const OrganizationRecord = NamedObject('Organization', {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
  tier: Type.Enum([...TIERS]),
  privateEndpoints: Type.Array(Type.Object({})),
});
