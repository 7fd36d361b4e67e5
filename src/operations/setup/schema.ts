import Type from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { CredentialName } from '../../management/keys/schema.ts';
import { TIERS } from '../../management/organizations/organization.ts';

export const SetupBody = NamedObject('SetupRequest', {
  code: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The setup code that the server printed on standard error when it started',
  }),
  name: CredentialName,
  tier: Type.Enum([...TIERS]),
});

export const SetupRecord = NamedObject(
  'Setup',
  {
    organization: Type.Object({
      id: Type.String({ format: 'uuid' }),
      name: Type.String(),
      tier: Type.Enum([...TIERS]),
    }),
    keyId: Type.String({ description: 'The id of the admin key' }),
    keySecret: Type.String({ description: 'Shown only here; the server stores its hash' }),
    fleetFile: Type.String({
      description: 'The organization and its key as a fleet file, with hashes; applying it changes nothing',
    }),
  },
  { description: 'The first organization was created' },
);
