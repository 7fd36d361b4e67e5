import Type from 'typebox';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { PAGE_PARAMETERS } from '../../kernel/schemas/page-schema.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import { ACTIVITY_TYPES, ACTOR_TYPES } from './activity.ts';
import { KEY_UPDATE_TYPES, listPublicTypes } from './public-type.ts';

const PUBLIC_TYPES = listPublicTypes(ACTIVITY_TYPES);

export const ActivityPath = Type.Object({
  ...OrganizationPath.properties,
  activityId: Type.String({ format: 'uuid' }),
});

const filter = (description: string, maxLength = 255) =>
  Type.Optional(StorableText({ minLength: 1, maxLength, description }));

export const ActivityQuery = Type.Object(
  {
    from_date: Type.Optional(Type.String({ description: 'First day or time, ISO 8601' })),
    to_date: Type.Optional(Type.String({ description: 'Last day (inclusive) or time (exclusive), ISO 8601' })),
    before: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Only activities older than this id; the link header of the previous page contains it',
      }),
    ),
    type: Type.Optional(
      Type.Enum([...new Set([...PUBLIC_TYPES, ...ACTIVITY_TYPES])], {
        description: 'A type or an activityType of the record',
      }),
    ),
    actor: filter('The id of the actor, such as a key, or the name it had at the time'),
    resource_type: filter('For example service, key, dashboard, budget'),
    resource_id: filter('The id of the changed resource'),
    text: filter(
      'Searches the type, actor, address, user agent, request id, resource id and resource name, ignoring case; separate alternatives with |',
      1000,
    ),
    ...PAGE_PARAMETERS,
  },
  { additionalProperties: false },
);

const targets = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

export const ActivityRecord = NamedObject('Activity', {
  id: Type.String({ format: 'uuid' }),
  createdAt: Type.String({ format: 'date-time' }),
  type: Type.Enum([...PUBLIC_TYPES], {
    description:
      'A type of the public interface: the nearest one if activityType is not one of them. It has none for dashboards, sources, alerts, statements, exports and refused calls, among others; theirs is the activityType',
  }),
  activityType: Type.Enum([...ACTIVITY_TYPES], { description: 'The exact type' }),
  actorType: Type.Enum([...ACTOR_TYPES]),
  actorId: Type.String({ description: 'The id of the user, key or token, or the name of the server component' }),
  actorDetails: Type.String(),
  actorIpAddress: Type.Optional(Type.String()),
  userAgent: Type.Optional(Type.String()),
  requestId: Type.Optional(Type.String()),
  organizationId: Type.String({ format: 'uuid' }),
  serviceId: Type.Optional(Type.String({ format: 'uuid' })),
  targetKeyId: Type.Optional(Type.String({ description: 'The id of the changed key' })),
  keyUpdateType: Type.Optional(Type.Enum([...KEY_UPDATE_TYPES], { description: 'What changed in the key' })),
  targetRoleIds: targets('The changed role, or the roles that a key gained and lost'),
  targetRoleNames: targets('Their names, if the activity contains all of them'),
  targetActorIds: targets('The key whose roles changed: apiKey/{id}'),
  targetResourceIds: targets('The resources that the policies of a changed role name'),
  resourceType: Type.String(),
  resourceId: Type.String(),
  before: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: 'The changed fields before the change' }),
  ),
  after: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: 'The changed fields after the change' }),
  ),
});
