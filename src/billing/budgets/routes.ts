import Type from 'typebox';
import { actorOf } from '../../audit/request-actor.ts';
import { bareManagementAnswer, bareSuccess, managementAnswer, success } from '../../http/envelopes.ts';
import { callerOf } from '../../http/guard.ts';
import type { Routes } from '../../http/validation.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import type { Threshold } from './budget.ts';
import type { Budgets } from './budgets.ts';
import { BudgetPath, BudgetRecord, CreateBudgetBody, toBudgetRecord, UpdateBudgetBody } from './schema.ts';

const read = ['admin', 'developer'];
const change = ['admin'];
const tags = ['Budgets'];

export function budgetRoutes({ budgets }: { budgets: Budgets }): Routes {
  return (app) => {
    // Responses may contain a secret, or a webhook URL with one.
    app.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });

    app.get(
      '/v1/organizations/:organizationId/budgets',
      {
        config: { operation: 'budgetGetList', roles: read },
        schema: {
          tags,
          summary: 'List budgets',
          params: OrganizationPath,
          response: managementAnswer(Type.Array(BudgetRecord)),
        },
      },
      async (request) => success(request, (await budgets.list(callerOf(request).organizationId)).map(toBudgetRecord)),
    );

    app.post(
      '/v1/organizations/:organizationId/budgets',
      {
        config: { operation: 'budgetCreate', roles: change },
        schema: {
          tags,
          summary: 'Create budget',
          description:
            'Each threshold raises one alert per month: an activity, and a signed POST to the webhook. Budgets do not stop services. A generated secret is shown once, in this response.',
          params: OrganizationPath,
          body: CreateBudgetBody,
          response: managementAnswer(BudgetRecord),
        },
      },
      async (request) => {
        const { name, monthlyCHC, thresholds, webhook } = request.body;
        const settings = { name, monthlyCHC, thresholds: thresholds as Threshold[] | undefined, webhook };
        const created = await budgets.create(actorOf(request), callerOf(request).organizationId, settings);
        return success(request, toBudgetRecord(created));
      },
    );

    app.get(
      '/v1/organizations/:organizationId/budgets/:budgetId',
      {
        config: { operation: 'budgetGet', roles: read },
        schema: { tags, summary: 'Get budget', params: BudgetPath, response: managementAnswer(BudgetRecord) },
      },
      async (request) => {
        const id = request.params.budgetId.toLowerCase();
        return success(request, toBudgetRecord(await budgets.get(callerOf(request).organizationId, id)));
      },
    );

    app.patch(
      '/v1/organizations/:organizationId/budgets/:budgetId',
      {
        config: { operation: 'budgetUpdate', roles: change },
        schema: {
          tags,
          summary: 'Update budget',
          description:
            'Omitted fields keep their value; null removes the webhook. A threshold that raised an alert this month does not raise another.',
          params: BudgetPath,
          body: UpdateBudgetBody,
          response: managementAnswer(BudgetRecord),
        },
      },
      async (request) => {
        const { name, monthlyCHC, thresholds, webhook } = request.body;
        const settings = { name, monthlyCHC, thresholds: thresholds as Threshold[] | undefined, webhook };
        const id = request.params.budgetId.toLowerCase();
        const changed = await budgets.update(actorOf(request), callerOf(request).organizationId, id, settings);
        return success(request, toBudgetRecord(changed));
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/budgets/:budgetId',
      {
        config: { operation: 'budgetDelete', roles: change },
        schema: {
          tags,
          summary: 'Delete budget',
          description: 'Deletes the budget and its alerts. Pending deliveries are dropped.',
          params: BudgetPath,
          response: bareManagementAnswer,
        },
      },
      async (request) => {
        const id = request.params.budgetId.toLowerCase();
        await budgets.remove(actorOf(request), callerOf(request).organizationId, id);
        return bareSuccess(request);
      },
    );
  };
}
