import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { UNSUPPORTED_OPERATION } from '../../../kernel/access/permissions.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { App, Routes } from '../requests/validation.ts';
import {
  CLICK_STACK_SERVICE_PARTS,
  DASHBOARD_PARTS,
  MEMBERS_ELSEWHERE,
  ORGANIZATION_PARTS,
  SERVICE_PARTS,
} from './unsupported-operations.ts';

const METHODS = ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'];
const MAX_PATH_CHARACTERS = 200;

interface Unsupported {
  reason: string;
  /** Of the path. */
  params?: TSchema;
  /** Throws if the path names something that does not exist. */
  check?(request: FastifyRequest): unknown;
}

interface ManagementOptions {
  organizationPath: TSchema;
  servicePath: TSchema;
  /** Throws if the service of the path does not exist. */
  getService(request: FastifyRequest): unknown;
}

/** Operations of the public management interface that are not served: 501 with the reason, after all checks of B8. */
export function unsupportedManagementRoutes({ organizationPath, servicePath, getService }: ManagementOptions): Routes {
  const organization = '/v1/organizations/:organizationId';
  return (app) => {
    for (const [part, reason] of Object.entries(ORGANIZATION_PARTS))
      addPath(app, `${organization}/${part}`, { reason, params: organizationPath });
    for (const [part, reason] of Object.entries({ ...SERVICE_PARTS, ...CLICK_STACK_SERVICE_PARTS }))
      addPath(app, `${organization}/services/:serviceId/${part}`, { reason, params: servicePath, check: getService });
  };
}

/** As `unsupportedManagementRoutes`, of the public dashboard interface. */
export const unsupportedDashboardRoutes: Routes = (app) => {
  addRoute(app, '/api/v2', { reason: MEMBERS_ELSEWHERE });
  for (const [part, reason] of Object.entries(DASHBOARD_PARTS)) addPath(app, `/api/v2/${part}`, { reason });
};

/** The path and everything below it. */
function addPath(app: App, path: string, unsupported: Unsupported): void {
  addRoute(app, path, unsupported);
  addRoute(app, `${path}/*`, unsupported);
}

function addRoute(app: App, url: string, { reason, params, check }: Unsupported): void {
  const reject = async (request: FastifyRequest): Promise<never> => {
    await check?.(request);
    const path = (request.originalUrl.split('?', 1)[0] ?? '').slice(0, MAX_PATH_CHARACTERS);
    throw new AppError('not_implemented', `${request.method} ${path} is not supported: ${reason}`);
  };
  app.route({
    method: METHODS,
    url,
    config: { operation: UNSUPPORTED_OPERATION, roles: [] },
    schema: { hide: true, ...(params && { params }) },
    // Before the query and the body are read: whatever is in them, the operation is not served.
    preParsing: reject,
    handler: reject,
  });
}
