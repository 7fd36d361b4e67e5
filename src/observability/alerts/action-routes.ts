import Type from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../kernel/access/roles.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import { getActor } from '../../management/audit/request-actor.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { getClient } from '../../platform/http/requests/disconnect.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { dashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { parseMoment } from '../charts/time-range.ts';
import { ResourcePath } from '../sources/resource-id.ts';
import {
  EvaluationQuery,
  EvaluationRecord,
  GroupsRecord,
  PreviewBody,
  PreviewRecord,
  SilenceBody,
  toEvaluationRecord,
  toGroupRecord,
} from './action-schema.ts';
import { toAlertRecord } from './alert.ts';
import { AlertRecord } from './alert-schema.ts';
import type { Alerts } from './alerts.ts';
import type { createPreview } from './evaluation/preview.ts';

const tags = ['Alerts'];
const PATH = '/api/v2/alerts';
const DEFAULT_DAYS = 7;
const DEFAULT_EVALUATIONS = 100;
const MAX_LISTED_GROUPS = 1000;

interface Options {
  alerts: Alerts;
  alertPreview: ReturnType<typeof createPreview>;
  clock: Clock;
}

/** What the public interface does not have: replay, history, silence. */
export function alertActionRoutes({ alerts, alertPreview, clock }: Options): Routes {
  return (app) => {
    app.post(
      `${PATH}/preview`,
      {
        config: { operation: 'previewAlert', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'Replay a draft of an alert over the past',
          description:
            'When it would have fired, for how long, and how many messages it would have sent. Nothing is stored.',
          body: PreviewBody,
          response: dashboardResponse(PreviewRecord),
        },
      },
      async (request, reply) => {
        const client = getClient(request, reply);
        const content = await alerts.parseDraft(client.organizationId, request.body.alert);
        const replay = await alertPreview(client, content, request.body.days ?? DEFAULT_DAYS);
        return { data: { ...replay, incidents: replay.incidents.map((one) => ({ ...one, group: [...one.group] })) } };
      },
    );
    app.get(
      `${PATH}/:id/groups`,
      {
        config: { operation: 'listAlertGroups', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List the groups of an alert',
          description: `Those that fire first, at most ${MAX_LISTED_GROUPS}. Groups that are ok may be missing.`,
          params: ResourcePath,
          response: dashboardResponse(GroupsRecord),
        },
      },
      async (request) => {
        const { groupBy, groups } = await alerts.listGroups(getIdentity(request).organizationId, request.params.id);
        const shown = groups.slice(0, MAX_LISTED_GROUPS).map(toGroupRecord);
        return { data: { groupBy: [...groupBy], total: groups.length, groups: shown } };
      },
    );
    app.get(
      `${PATH}/:id/evaluations`,
      {
        config: { operation: 'listAlertEvaluations', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List the evaluations of an alert',
          description: 'Newest first. All of the last 7 days, and those that changed the status of the last 30 days.',
          params: ResourcePath,
          querystring: EvaluationQuery,
          response: dashboardResponse(Type.Array(EvaluationRecord)),
        },
      },
      async (request) => {
        const { limit = DEFAULT_EVALUATIONS, before, changes } = request.query;
        const page = {
          limit,
          before: before === undefined ? undefined : parseMoment('before', before),
          onlyChanges: changes === 'true',
        };
        const list = await alerts.listEvaluations(getIdentity(request).organizationId, request.params.id, page);
        return { data: list.map(toEvaluationRecord) };
      },
    );
    app.post(
      `${PATH}/:id/silence`,
      {
        config: { operation: 'silenceAlert', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Silence alert',
          description: 'Nothing is sent until then. If it still fires afterwards, that is sent.',
          params: ResourcePath,
          body: SilenceBody,
          response: dashboardResponse(AlertRecord),
        },
      },
      async (request) => {
        const { until, reason } = request.body;
        const silence = { until: parseMoment('until', until), reason };
        const { organizationId } = getIdentity(request);
        const alert = await alerts.silence(getActor(request), organizationId, request.params.id, silence);
        return { data: toAlertRecord(alert, clock.now()) };
      },
    );
    app.delete(
      `${PATH}/:id/silence`,
      {
        config: { operation: 'unsilenceAlert', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'End the silence of an alert',
          params: ResourcePath,
          response: dashboardResponse(AlertRecord),
        },
      },
      async (request) => {
        const { organizationId } = getIdentity(request);
        const alert = await alerts.silence(getActor(request), organizationId, request.params.id, { until: undefined });
        return { data: toAlertRecord(alert, clock.now()) };
      },
    );
    app.post(
      `${PATH}/:id/acknowledge`,
      {
        config: { operation: 'acknowledgeAlert', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Acknowledge alert',
          description: 'What is firing is not sent again until it is resolved.',
          params: ResourcePath,
          response: dashboardResponse(AlertRecord),
        },
      },
      async (request) => {
        const alert = await alerts.acknowledge(
          getActor(request),
          getIdentity(request).organizationId,
          request.params.id,
        );
        return { data: toAlertRecord(alert, clock.now()) };
      },
    );
  };
}
