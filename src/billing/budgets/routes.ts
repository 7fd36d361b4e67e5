import Type from 'typebox';
import { actorOf } from '../../audit/request-actor.ts';
import { emptyManagementResponse, emptySuccess, managementResponse, success } from '../../http/envelopes.ts';
import { getIdentity } from '../../http/guard.ts';
import type { Routes } from '../../http/validation.ts';
import { ADMINS, READERS } from '../../kernel/roles.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import type { Threshold } from './budget.ts';
import type { Budgets } from './budgets.ts';
import { BudgetPath, BudgetRecord, budgetRecord, CreateBudgetBody, UpdateBudgetBody } from './schema.ts';

const tags = ['Budgets'];

export function budgetRoutes({ budgets }: { budgets: Budgets }): Routes {
  return (app) => {
    // Answers may hold a secret, or an address that does.
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
      async (request) => success(request, (await budgets.list(getIdentity(request).organizationId)).map(budgetRecord)),
    );

    app.post(
      '/v1/organizations/:organizationId/budgets',
      {
        config: { operation: 'budgetCreate', roles: ADMINS },
        schema: {
          tags,
          summary: 'Create budget',
          description:
            'Each threshold tells once a month: an activity, and a signed POST to the webhook. Nothing is stopped. A secret that is made here is shown this once.',
          params: OrganizationPath,
          body: CreateBudgetBody,
          response: managementResponse(BudgetRecord),
        },
      },
      async (request) => {
        const { name, monthlyCHC, thresholds, webhook } = request.body;
        const settings = { name, monthlyCHC, thresholds: thresholds as Threshold[] | undefined, webhook };
        const made = await budgets.create(actorOf(request), getIdentity(request).organizationId, settings);
        return success(request, budgetRecord(made));
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
        return success(request, budgetRecord(await budgets.get(getIdentity(request).organizationId, id)));
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
            'Members left out keep their value; webhook null removes it. What was told this month stays told.',
          params: BudgetPath,
          body: UpdateBudgetBody,
          response: managementResponse(BudgetRecord),
        },
      },
      async (request) => {
        const { name, monthlyCHC, thresholds, webhook } = request.body;
        const settings = { name, monthlyCHC, thresholds: thresholds as Threshold[] | undefined, webhook };
        const id = request.params.budgetId.toLowerCase();
        const changed = await budgets.update(actorOf(request), getIdentity(request).organizationId, id, settings);
        return success(request, budgetRecord(changed));
      },
    );

    app.delete(
      '/v1/organizations/:organizationId/budgets/:budgetId',
      {
        config: { operation: 'budgetDelete', roles: ADMINS },
        schema: {
          tags,
          summary: 'Delete budget',
          description: 'With what it has told and has still to deliver.',
          params: BudgetPath,
          response: emptyManagementResponse,
        },
      },
      async (request) => {
        const id = request.params.budgetId.toLowerCase();
        await budgets.remove(actorOf(request), getIdentity(request).organizationId, id);
        return emptySuccess(request);
      },
    );
  };
}
