import Type from 'typebox';
import { OrganizationPath } from '../organizations/schema.ts';
import { ACTIVITY_TYPES } from './activity.ts';

export const ActivityPath = Type.Object({
  ...OrganizationPath.properties,
  activityId: Type.String({ format: 'uuid' }),
});

const filter = (description: string, maxLength = 255) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));

export const ActivityQuery = Type.Object(
  {
    from_date: Type.Optional(Type.String({ description: 'First day or moment, ISO 8601' })),
    to_date: Type.Optional(Type.String({ description: 'Last day (inclusive) or moment (exclusive), ISO 8601' })),
    before: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Continue after this activity: the id of the last one of the page before',
      }),
    ),
    type: Type.Optional(Type.Enum([...ACTIVITY_TYPES])),
    actor: filter('The id of a key or token, or the name it had'),
    resource_type: filter('For example service, key, dashboard, budget'),
    resource_id: filter('What the change is about'),
    text: filter(
      'Stands, in any letter case, in the type, the actor, the address, the user agent, the request id, the id or the name of the resource; parts between | are alternatives',
      1000,
    ),
    limit: Type.Optional(Type.String({ description: '1 to 1000, 100 when left out' })),
  },
  { additionalProperties: false },
);

export const ActivityRecord = Type.Object({
  id: Type.String({ format: 'uuid' }),
  createdAt: Type.String({ format: 'date-time' }),
  type: Type.String({ description: 'For example service_update_autoscaling_memory, key_create, openapi_key_update' }),
  actorType: Type.Enum(['api', 'system']),
  actorId: Type.String({ description: "The key's id, or the name of the local program" }),
  actorDetails: Type.String(),
  actorIpAddress: Type.Optional(Type.String()),
  userAgent: Type.Optional(Type.String()),
  requestId: Type.Optional(Type.String()),
  organizationId: Type.String({ format: 'uuid' }),
  serviceId: Type.Optional(Type.String({ format: 'uuid' })),
  resourceType: Type.String(),
  resourceId: Type.String(),
  before: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: 'The changed fields as they were' }),
  ),
  after: Type.Optional(
    Type.Object({}, { additionalProperties: true, description: 'The changed fields as they are now' }),
  ),
});
