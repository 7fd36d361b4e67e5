import Type from 'typebox';
import { DASHBOARD_READERS, DASHBOARD_WRITERS } from '../../kernel/access/roles.ts';
import { AppError } from '../../kernel/errors.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { dashboardResponse, emptyDashboardResponse } from '../../platform/http/responses/envelopes.ts';
import { CONNECTION_ID } from './kept-members.ts';
import { ResourcePath } from './resource-id.ts';

const tags = ['Sources'];
const PATH = '/api/v2/connections';

const ConnectionRecord = NamedObject('Connection', { id: Type.String(), name: Type.String() });
const CONNECTION = { id: CONNECTION_ID, name: 'Engine of this server' };

const unchangeable = () =>
  new AppError(
    'conflict',
    'Connections cannot be created, changed or deleted: all sources read the engine of this server, which --clickhouse-url selects',
  );

function getConnection(id: string): typeof CONNECTION {
  if (id !== CONNECTION_ID) throw new AppError('not_found', 'Connection not found');
  return CONNECTION;
}

/** Every organization has one connection: the engine. */
export function connectionRoutes(): Routes {
  return (app) => {
    app.get(
      PATH,
      {
        config: { operation: 'listConnections', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'List connections',
          description: 'There is one: the engine of this server.',
          response: dashboardResponse(Type.Array(ConnectionRecord)),
        },
      },
      async () => ({ data: [CONNECTION] }),
    );

    app.get(
      `${PATH}/:id`,
      {
        config: { operation: 'getConnection', roles: DASHBOARD_READERS },
        schema: {
          tags,
          summary: 'Get connection',
          params: ResourcePath,
          response: dashboardResponse(ConnectionRecord),
        },
      },
      async (request) => ({ data: getConnection(request.params.id) }),
    );

    app.post(
      PATH,
      {
        config: { operation: 'createConnection', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Create connection',
          description: 'Always rejected with 409: sources read the engine of this server.',
          response: dashboardResponse(ConnectionRecord),
        },
      },
      async () => {
        throw unchangeable();
      },
    );

    app.put(
      `${PATH}/:id`,
      {
        config: { operation: 'updateConnection', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Update connection',
          description: 'Always rejected with 409: sources read the engine of this server.',
          params: ResourcePath,
          response: dashboardResponse(ConnectionRecord),
        },
      },
      async (request) => {
        getConnection(request.params.id);
        throw unchangeable();
      },
    );

    app.delete(
      `${PATH}/:id`,
      {
        config: { operation: 'deleteConnection', roles: DASHBOARD_WRITERS },
        schema: {
          tags,
          summary: 'Delete connection',
          description: 'Always rejected with 409: sources read the engine of this server.',
          params: ResourcePath,
          response: emptyDashboardResponse,
        },
      },
      async (request) => {
        getConnection(request.params.id);
        throw unchangeable();
      },
    );
  };
}
