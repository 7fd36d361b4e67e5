import Type from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { OrganizationRecord } from '../../management/organizations/schema.ts';
import { Unsupported } from '../../management/services/unsupported.ts';
import { OrganizationSpec } from './schema.ts';

export const UpdateOrganizationBody = NamedObject('OrganizationPatchRequest', {
  name: Type.Optional(OrganizationSpec.properties.name),
  keepSqlLiterals: Type.Optional(OrganizationRecord.properties.keepSqlLiterals),
  enableCoreDumps: Unsupported('Services write no core dumps'),
  privateEndpoints: Unsupported('Private endpoints are not supported'),
});
