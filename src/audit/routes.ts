import Type, { type Static } from 'typebox';
import { managementResponse, success } from '../http/envelopes.ts';
import { getIdentity } from '../http/guard.ts';
import type { Routes } from '../http/validation.ts';
import { DAY_MS, isoTime, parseDate, parseDateTime } from '../kernel/clock.ts';
import { rejectViolations, type Violation } from '../kernel/errors.ts';
import { READERS } from '../kernel/roles.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import type { Activity, Wanted } from './activity.ts';
import type { Audit } from './audit.ts';
import { ActivityPath, ActivityQuery, ActivityRecord } from './schema.ts';
import type { ActivityFilter } from './store.ts';

const tags = ['Activities'];
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export function auditRoutes({ audit }: { audit: Audit }): Routes {
  return (app) => {
    app.get(
      '/v1/organizations/:organizationId/activities',
      {
        config: { operation: 'activityGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List activities',
          description:
            'The audit trail, newest first: who changed what, before and after. Every filter looks through all of it.',
          params: OrganizationPath,
          querystring: ActivityQuery,
          response: managementResponse(Type.Array(ActivityRecord)),
        },
      },
      async (request) => {
        const wanted = wantedOf(request.query);
        const filter = { ...filterOf(request.query), ...(wanted ? { wanted } : {}) };
        const activities = await audit.list(getIdentity(request).organizationId, filter);
        return success(request, activities.map(record));
      },
    );

    app.get(
      '/v1/organizations/:organizationId/activities/:activityId',
      {
        config: { operation: 'activityGet', roles: READERS },
        schema: { tags, summary: 'Get activity', params: ActivityPath, response: managementResponse(ActivityRecord) },
      },
      async (request) =>
        success(
          request,
          record(await audit.get(getIdentity(request).organizationId, request.params.activityId.toLowerCase())),
        ),
    );
  };
}

function filterOf(query: Static<typeof ActivityQuery>): ActivityFilter {
  const violations: Violation[] = [];
  const read = <T>(name: keyof typeof query, rule: string, parse: (text: string) => T | undefined): T | undefined => {
    const text = query[name];
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined) violations.push({ path: name, rule, value: text });
    return value;
  };
  const ISO = 'The value must be an ISO 8601 date or date-time';
  const moment = (text: string) => parseDateTime(text, { offset: 'optional' });
  const fromMs = read('from_date', ISO, (text) => parseDate(text) ?? moment(text));
  const toMs = read('to_date', ISO, (text) => {
    const day = parseDate(text);
    return day === undefined ? moment(text) : day + DAY_MS;
  });
  const limit = read('limit', `The value must be a whole number from 1 to ${MAX_LIMIT}`, (text) => {
    const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
    return number >= 1 && number <= MAX_LIMIT ? number : undefined;
  });
  rejectViolations(violations);
  const filter: ActivityFilter = { limit: limit ?? DEFAULT_LIMIT };
  if (fromMs !== undefined) filter.fromMs = fromMs;
  if (toMs !== undefined) filter.toMs = toMs;
  if (query.before !== undefined) filter.before = query.before.toLowerCase();
  return filter;
}

/** Undefined where everything is. */
function wantedOf({ type, actor, resource_type, resource_id, text }: Static<typeof ActivityQuery>): Wanted | undefined {
  const parts = (text ?? '').toLowerCase().split('|');
  const texts = parts.map((part) => part.trim()).filter((part) => part !== '');
  const wanted: Wanted = {
    type,
    actor,
    resourceType: resource_type,
    resourceId: resource_id,
    texts: texts.length > 0 ? texts : undefined,
  };
  return Object.values(wanted).every((value) => value === undefined) ? undefined : wanted;
}

const record = ({ id, createdAt, type, actor, organizationId, serviceId, resource, before, after }: Activity) => ({
  id,
  createdAt: isoTime(createdAt),
  type,
  actorType: actor.type,
  actorId: actor.id,
  actorDetails: actor.details,
  actorIpAddress: actor.address,
  userAgent: actor.userAgent,
  requestId: actor.requestId,
  organizationId,
  serviceId,
  resourceType: resource.type,
  resourceId: resource.id,
  before,
  after,
});
