import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { isTokenAccess, type Role } from '../../../kernel/access/roles.ts';
import type { BasePath } from '../requests/base-path.ts';
import type { App } from '../requests/validation.ts';
import { completeDocument, type Document } from './document.ts';

const TITLE = 'Pilothouse';
const DESCRIPTION = `The control plane of a ClickHouse-style database fleet: scaling settings, API keys, daily usage cost and dashboards.

Management operations (\`/v1\`) use HTTP Basic authentication with a key id and its secret; dashboard operations (\`/api/v2\`) use a Bearer token.
Unknown members of a request body are ignored; unknown query parameters are rejected.
A request body has at most 1 MiB and 25,000 values (\`/v1\`) or 2 MiB and 50,000 values (\`/api/v2\`); usage events have at most 32 MiB. More is a 413. A dashboard has at most 2 MiB as JSON.`;

const TAGS = [
  { name: 'Organizations', description: 'Tenants: each owns its services, keys, dashboards, costs and activities' },
  { name: 'Services', description: 'Database services and their scaling settings' },
  { name: 'SQL', description: 'Statements on services by role, their history, and saved queries' },
  { name: 'Keys', description: 'API keys of the management operations' },
  { name: 'Roles', description: 'System roles and custom roles of keys' },
  { name: 'Members', description: 'People in an organization, their sessions, and invitations' },
  { name: 'Billing', description: 'Daily usage cost, reports, forecasts and metered usage' },
  { name: 'Budgets', description: 'Monthly budgets of an organization, with alerts when its cost reaches a threshold' },
  { name: 'Activities', description: 'The audit log' },
  { name: 'OpenTelemetry', description: 'Telemetry that was received: what, how much, and how long it is kept' },
  { name: 'Dashboard tokens', description: 'Tokens of the dashboard operations' },
  { name: 'Dashboards', description: 'Dashboards and their versions' },
  { name: 'Sources', description: 'The telemetry tables that the series of dashboards read' },
  { name: 'Data', description: 'The data of charts and tiles' },
  { name: 'Search', description: 'Rows of logs and traces, and saved searches' },
  { name: 'Traces', description: 'Traces, slow operations and the service map' },
  { name: 'Alerts', description: 'Alerts, their evaluations, replay and silence' },
  { name: 'Notifications', description: 'Channels of notifications, called webhooks, and what was sent to them' },
  {
    name: 'ClickStack',
    description:
      'Dashboards, sources, saved searches, alerts and webhooks under a service, in the format of ClickStack',
  },
  { name: 'Console', description: 'Sessions of the web console' },
];

/** The reference page loads everything from this server. Its requests to try an operation go to this server too. */
const PAGE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** Describes all routes registered after this call in an OpenAPI document, with a page at `/docs`. */
export async function describeRoutes(app: App, version: string, basePath: BasePath = ''): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: TITLE,
        description: DESCRIPTION,
        version,
        contact: { name: TITLE },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: basePath === '' ? '/' : basePath }],
      tags: TAGS,
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'basic', description: 'Key id and key secret' },
          token: { type: 'http', scheme: 'bearer', description: 'Dashboard token' },
          link: {
            type: 'apiKey',
            in: 'header',
            name: 'x-pilothouse-link',
            description: 'The secret of a read-only link to a dashboard',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'pilothouse_session',
            description:
              'Console session. The name ends with _ and a random text of the installation, and starts with __Host- over HTTPS (__Secure- below a base path)',
          },
        },
      },
    },
    transform({ schema, url, route }) {
      const { operation, roles } = route.config ?? {};
      if (!operation || schema?.hide) return { schema: { ...schema, hide: true }, url };
      const described = {
        ...schema,
        description: `${schema.description ?? ''}${describeRoles(url, roles)}`,
        operationId: operation,
        security: schema?.security ?? (roles ? [{ [url.startsWith('/v1') ? 'key' : 'token']: [] }] : []),
      };
      return { schema: described as never, url };
    },
    transformObject(result) {
      // The document is OpenAPI 3.1 because of the option above.
      const { openapiObject } = result as { openapiObject: Document };
      return completeDocument(openapiObject) as never;
    },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    indexPrefix: basePath,
    staticCSP: PAGE_POLICY,
    uiHooks: {
      onRequest(_request, reply, next) {
        reply.header('referrer-policy', 'no-referrer');
        next();
      },
    },
    uiConfig: {
      docExpansion: 'list',
      defaultModelsExpandDepth: -1,
      tryItOutEnabled: true,
      persistAuthorization: false,
      // Without the bar at the top, whose logo has styles that the policy forbids.
      layout: 'BaseLayout',
    },
    theme: { title: `${TITLE} reference` },
  });
}

function describeRoles(url: string, roles: readonly Role[] = []): string {
  if (roles.length === 0) return '';
  return url.startsWith('/v1')
    ? `\n\nRoles: ${roles.join(', ')}.`
    : `\n\nToken access: ${roles.filter(isTokenAccess).join(', ')}.`;
}

/** Serves the document without authentication. Clients of the hosted service expect it at `/v1`. */
export function serveDocument(app: App, paths: readonly string[]): void {
  let text: string | undefined;
  for (const path of paths) {
    app.get(path, { config: { operation: 'openapi' }, schema: { hide: true } }, async (_request, reply) => {
      text ??= JSON.stringify(app.swagger());
      return reply.type('application/json; charset=utf-8').send(text);
    });
  }
}

/** Redirects the root to the reference if there is no console. */
export function serveReferenceAtRoot(app: App, basePath: BasePath): void {
  app.get('/', { config: { operation: 'home' }, schema: { hide: true } }, async (_request, reply) =>
    reply.redirect(`${basePath}/docs`),
  );
}
