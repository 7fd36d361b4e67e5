import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { ADMINS, READERS } from '../../../kernel/access/roles.ts';
import { canUse, getIdentity } from '../../../platform/http/guard.ts';
import { keepResponse } from '../../../platform/http/requests/idempotency.ts';
import type { Routes } from '../../../platform/http/requests/validation.ts';
import {
  emptyManagementResponse,
  emptySuccess,
  managementResponse,
  success,
} from '../../../platform/http/responses/envelopes.ts';
import { getActor } from '../../audit/request-actor.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import type { Threshold } from './budget.ts';
import type { Budgets, BudgetWithAlerts } from './budgets.ts';
import {
  BudgetPath,
  BudgetRecord,
  CreateBudgetBody,
  hideWebhookPath,
  toBudgetRecord,
  UpdateBudgetBody,
} from './schema.ts';

const tags = ['Budgets'];

function toRecord(request: object, budget: BudgetWithAlerts): Static<typeof BudgetRecord> {
  const record = toBudgetRecord(budget);
  return canUse(request as FastifyRequest, 'budgetUpdate', ADMINS) ? record : hideWebhookPath(record);
}

function toSettings({ name, monthlyCHC, thresholds, webhook, channels }: Static<typeof UpdateBudgetBody>) {
  const channelIds = channels?.map(({ webhookId }) => webhookId);
  return { name, monthlyCHC, thresholds: thresholds as Threshold[] | undefined, webhook, channelIds };
}

export function budgetRoutes({ budgets }: { budgets: Budgets }): Routes {
  return (app) => {
    // Responses may contain a secret, or a webhook URL with one.
    app.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });

    app.get(
      '/v1/organizations/:organizationId/budgets',
      {
        config: { operation: 'budgetGetList', roles: READERS },
        schema: {
          tags,
          summary: 'List budgets',
          params: OrganizationPath,
          response: managementResponse(Type.Array(BudgetRecord)),
        },
      },
      async (request) =>
        success(
          request,
          (await budgets.list(getIdentity(request).organizationId)).map((budget) => toRecord(request, budget)),
        ),
    );

    app.post(
      '/v1/organizations/:organizationId/budgets',
      {
        config: { operation: 'budgetCreate', roles: ADMINS, isIdempotent: true },
        schema: {
          tags,
          summary: 'Create budget',
          description:
            'Each threshold raises one alert per month: an activity, a signed POST to the webhook, and a notification in each channel. Budgets do not stop services. A generated secret is shown once, in this response.',
          params: OrganizationPath,
          body: CreateBudgetBody,
          response: managementResponse(BudgetRecord),
        },
      },
      async (request) => {
        const settings = toSettings(request.body);
        const created = await budgets.create(
          getActor(request),
          getIdentity(request).organizationId,
          settings,
          keepResponse(request, (stored) => ({ result: JSON.stringify(toRecord(request, stored)) })),
        );
        return success(request, toRecord(request, created));
      },
    );

    app.get(
      '/v1/organizations/:organizationId/budgets/:budgetId',
      {
        config: { operation: 'budgetGet', roles: READERS },
        schema: { tags, summary: 'Get budget', params: BudgetPath, response: managementResponse(BudgetRecord) },
      },
      async (request) => {
        const id = request.params.budgetId.toLowerCase();
        return success(request, toRecord(request, await budgets.get(getIdentity(request).organizationId, id)));
      },
    );

    app.patch(
      '/v1/organizations/:organizationId/budgets/:budgetId',
      {
        config: { operation: 'budgetUpdate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Update budget',
          description:
            'Omitted fields keep their value; null removes the webhook. A threshold that raised an alert this month does not raise another.',
          params: BudgetPath,
          body: UpdateBudgetBody,
          response: managementResponse(BudgetRecord),
        },
      },
      async (request) => {
        const settings = toSettings(request.body);
        const id = request.params.budgetId.toLowerCase();
        const changed = await budgets.update(getActor(request), getIdentity(request).organizationId, id, settings);
        return success(request, toRecord(request, changed));
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/budgets/:budgetId',
      {
        config: { operation: 'budgetDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete budget',
          description: 'Deletes the budget and its alerts. Pending deliveries are dropped.',
          params: BudgetPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const id = request.params.budgetId.toLowerCase();
        await budgets.remove(getActor(request), getIdentity(request).organizationId, id);
        return emptySuccess(request);
      },
    );
  };
}
