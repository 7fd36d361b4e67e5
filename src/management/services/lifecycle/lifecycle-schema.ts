import Type from 'typebox';
import { NamedObject } from '../../../kernel/schemas/named-object.ts';
import { StorableText } from '../../../kernel/schemas/storable-text.ts';
import { Hash, IpAccessEntry } from '../../keys/schema.ts';
import { DRIVER_NAMES } from '../driver.ts';
import { MAX_ADDRESSES, MAX_TAGS } from '../entry-lists.ts';
import { ALL_REGIONS, PROVIDERS } from '../regions.ts';
import { ReplicaScalingBody, ScalingBody, ServiceRecord } from '../schema.ts';
import { SERVICE_KINDS } from '../service.ts';
import { COMMANDS } from '../simulated.ts';
import { PUBLIC_DEFAULTS, Unsupported, UnsupportedUnless } from '../unsupported.ts';

const MAX_NAME_LENGTH = 50;

const Name = StorableText({ minLength: 1, maxLength: MAX_NAME_LENGTH });

const TAG_TEXT = /^[A-Za-z0-9._-]*$/;
const TagText = (limits: { minLength?: number; maxLength: number }) =>
  Type.Refine(
    Type.String(limits),
    (text) => typeof text !== 'string' || TAG_TEXT.test(text),
    () => 'The value may contain letters, digits, dots, dashes and underscores only',
  );

export const Tag = Type.Object({
  key: TagText({ minLength: 1, maxLength: 128 }),
  value: Type.Optional(TagText({ maxLength: 256 })),
});

const AccessList = (description: string) => Type.Array(IpAccessEntry, { maxItems: MAX_ADDRESSES, description });
const Tags = (description: string) => Type.Array(Tag, { maxItems: MAX_TAGS, description });

const isDisabled = (value: unknown): boolean =>
  Array.isArray(value) && value.every((endpoint) => endpoint?.enabled === false);

const Endpoints = Unsupported('Services have no MySQL endpoint; set enabled to false', isDisabled);
const ReleaseChannel = UnsupportedUnless(PUBLIC_DEFAULTS.releaseChannel, 'default is the only release channel');
const CoreDumps = Unsupported('Services write no core dumps');
const PrivateEndpoints = Unsupported('Private endpoints are not supported');

export const CreateServiceBody = NamedObject('ServicePostRequest', {
  name: Name,
  provider: Type.Enum([...PROVIDERS]),
  region: Type.Enum([...ALL_REGIONS]),
  tier: Type.Optional(
    Type.Enum([...SERVICE_KINDS], { deprecated: true, description: 'A development service has a fixed size' }),
  ),
  driver: Type.Optional(
    Type.Enum([...DRIVER_NAMES], { description: 'What runs the service; simulated, the default, has no process' }),
  ),
  ...ReplicaScalingBody.properties,
  minTotalMemoryGb: ScalingBody.properties.minTotalMemoryGb,
  maxTotalMemoryGb: ScalingBody.properties.maxTotalMemoryGb,
  ipAccessList: Type.Optional(AccessList('Addresses that may connect; empty means any')),
  tags: Type.Optional(Tags('Keys are unique')),
  dataWarehouseId: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'The warehouse to join; if omitted, the service gets a new warehouse',
    }),
  ),
  isReadonly: Type.Optional(
    Type.Boolean({ description: 'Only for a service that joins a warehouse, whose first service writes' }),
  ),
  backupId: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'A backup of the organization, also of a deleted service. The new service is an embedded one with the data of the backup; it is provisioning until the data is restored, and degraded if that fails',
    }),
  ),
  backupEncryptionConfig: Unsupported('Backups are not encrypted'),
  byocId: Unsupported('Services run where the control plane runs, not in an account of a provider'),
  complianceType: Unsupported('There is no HIPAA or PCI deployment'),
  encryptionKey: Unsupported('Customer-managed encryption keys are not supported'),
  encryptionAssumedRoleIdentifier: Unsupported('Customer-managed encryption keys are not supported'),
  enableCoreDumps: CoreDumps,
  endpoints: Endpoints,
  hasTransparentDataEncryption: Unsupported('Transparent data encryption is not supported'),
  privateEndpointIds: PrivateEndpoints,
  privatePreviewTermsChecked: Unsupported('There are no private preview features'),
  profile: UnsupportedUnless(
    PUBLIC_DEFAULTS.profile,
    'v1-default is the only profile; memory and CPU have a fixed ratio',
  ),
  releaseChannel: ReleaseChannel,
});

export const CreateServiceResult = NamedObject('ServicePostResponse', {
  service: ServiceRecord,
  password: Type.Optional(
    Type.String({
      description: 'Of the user default; returned once, absent when a response is replayed',
    }),
  ),
});

export const UpdateServiceBody = NamedObject('ServicePatchRequest', {
  name: Type.Optional(Name),
  ipAccessList: Type.Optional(
    Type.Object(
      {
        add: Type.Optional(AccessList('An entry with the same source is replaced')),
        remove: Type.Optional(AccessList('Entries with these sources')),
      },
      { description: 'Entries are removed first, then added' },
    ),
  ),
  tags: Type.Optional(
    Type.Object(
      {
        add: Type.Optional(Tags('A tag with the same key is replaced')),
        remove: Type.Optional(Tags('Tags with these keys')),
      },
      { description: 'Tags are removed first, then added' },
    ),
  ),
  enableCoreDumps: CoreDumps,
  endpoints: Endpoints,
  privateEndpointIds: PrivateEndpoints,
  releaseChannel: ReleaseChannel,
  transparentDataEncryptionKeyId: Unsupported('Transparent data encryption is not supported'),
});

export const ServiceStateBody = NamedObject('ServiceStatePatchRequest', {
  command: Type.Enum([...COMMANDS], { description: 'awake wakes an idle service, start starts a stopped one' }),
  allowEmpty: Type.Optional(
    Type.Boolean({
      description:
        'Only with start: an embedded service whose data directory is missing starts without its data. Without it, the service is degraded',
    }),
  ),
});

export const PasswordHash = Hash('password');

/** Empty counts as left out: Terraform sends it. */
const isDoubleSha1 = (text: unknown): boolean => typeof text !== 'string' || /^([0-9a-fA-F]{40})?$/.test(text);

export const DoubleSha1Hash = Type.Refine(
  Type.String({ maxLength: 1024, description: 'hex(SHA-1(SHA-1(password))), for the MySQL protocol' }),
  isDoubleSha1,
  () => 'The value must be a double SHA-1 in hexadecimal, 40 characters',
);

export const ServicePasswordBody = NamedObject('ServicePasswordPatchRequest', {
  newPasswordHash: Type.Optional(PasswordHash),
  newDoubleSha1Hash: Type.Optional(DoubleSha1Hash),
});

export const ServicePasswordResult = NamedObject('ServicePasswordPatchResponse', {
  password: Type.Optional(
    Type.String({ description: 'The generated password, returned once; absent if the client sent a hash' }),
  ),
});
