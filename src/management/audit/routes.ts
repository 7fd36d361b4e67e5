import type { Static } from 'typebox';
import { READERS } from '../../kernel/access/roles.ts';
import { rejectViolations, type Violation } from '../../kernel/errors.ts';
import { DAY_MS, isoTime, parseDate, parseDateTime } from '../../kernel/time/clock.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../platform/http/responses/envelopes.ts';
import { pageResponse, pageSuccess, readPage } from '../../platform/http/responses/paging.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import type { Activity } from './activity.ts';
import type { Audit } from './audit.ts';
import type { ActivityFilter } from './filter.ts';
import { findKeyUpdateType, toPublicType } from './public-type.ts';
import { ActivityPath, ActivityQuery, ActivityRecord } from './schema.ts';
import { listTargets } from './targets.ts';

const tags = ['Activities'];

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
            'The audit log, newest first, with the changed fields before and after. All filters must match. If there are more activities, the response has nextCursor, and the link header has the URL of the next page. A filtered page can have fewer activities than limit and still have a next page.',
          params: OrganizationPath,
          querystring: ActivityQuery,
          response: pageResponse(ActivityRecord),
        },
      },
      async (request, reply) => {
        const { query } = request;
        const filter = parseFilter(query);
        const page = readPage(request, ['text']);
        if (page.after && query.before !== undefined)
          rejectViolations([{ path: 'before', rule: 'Send either cursor or before', value: query.before }]);
        const before = page.after ? String(page.after[0]) : query.before?.toLowerCase();
        const { activities, nextBefore } = await audit.list(getIdentity(request).organizationId, filter, {
          before,
          limit: page.limit,
        });
        if (nextBefore !== undefined)
          reply.header('link', `<${formatNextUrl(request.originalUrl, nextBefore)}>; rel="next"`);
        return pageSuccess(
          request,
          page,
          activities.map(toRecord),
          nextBefore === undefined ? undefined : [nextBefore],
        );
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
          toRecord(await audit.get(getIdentity(request).organizationId, request.params.activityId.toLowerCase())),
        ),
    );
  };
}

/** Throws all violations at once. */
function parseFilter(query: Static<typeof ActivityQuery>): ActivityFilter {
  const violations: Violation[] = [];
  const read = <T>(
    name: 'from_date' | 'to_date',
    rule: string,
    parse: (text: string) => T | undefined,
  ): T | undefined => {
    const text = query[name];
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined) violations.push({ path: name, rule, value: text });
    return value;
  };
  const fromMs = read('from_date', TIME_RULE, (text) => parseDate(text) ?? parseTime(text));
  const toMs = read('to_date', TIME_RULE, (text) => {
    const day = parseDate(text);
    return day === undefined ? parseTime(text) : day + DAY_MS;
  });
  rejectViolations(violations);
  return {
    fromMs,
    toMs,
    type: query.type,
    actor: query.actor,
    resourceType: query.resource_type,
    resourceId: query.resource_id,
    texts: parseTexts(query.text),
  };
}

const TIME_RULE = 'The value must be an ISO 8601 date or date-time';
const parseTime = (text: string): number | undefined => parseDateTime(text, { offset: 'optional' });

/** Undefined if there is nothing to search for. */
function parseTexts(text = ''): string[] | undefined {
  const texts = text
    .toLowerCase()
    .split('|')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return texts.length > 0 ? texts : undefined;
}

function formatNextUrl(url: string, before: string): string {
  const end = url.indexOf('?');
  const parameters = new URLSearchParams(end < 0 ? '' : url.slice(end + 1));
  parameters.delete('cursor');
  parameters.set('before', before);
  return `${end < 0 ? url : url.slice(0, end)}?${parameters}`;
}

function toRecord(activity: Activity) {
  const { id, createdAt, type, actor, organizationId, serviceId, resource, before, after } = activity;
  return {
    id,
    createdAt: isoTime(createdAt),
    type: toPublicType(type),
    activityType: type,
    actorType: actor.type,
    actorId: actor.id,
    actorDetails: actor.details,
    actorIpAddress: actor.address,
    userAgent: actor.userAgent,
    requestId: actor.requestId,
    organizationId,
    serviceId,
    targetKeyId: resource.type === 'key' ? resource.id : undefined,
    keyUpdateType: findKeyUpdateType(activity),
    ...listTargets(activity),
    resourceType: resource.type,
    resourceId: resource.id,
    before,
    after,
  };
}
