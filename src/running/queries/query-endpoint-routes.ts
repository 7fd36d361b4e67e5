import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError } from '../../kernel/errors.ts';
import { NamedObject } from '../../kernel/schemas/named-object.ts';
import { PatternText } from '../../kernel/schemas/pattern-text.ts';
import { StorableText } from '../../kernel/schemas/storable-text.ts';
import type { QueryEndpoint } from '../../management/services/service-settings.ts';
import type { Services } from '../../management/services/services.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import { acceptJsonBodies } from '../../platform/http/requests/body.ts';
import type { App, Routes } from '../../platform/http/requests/validation.ts';
import { logFailures } from '../../platform/http/responses/aborted-responses.ts';
import { createCaller } from './request-caller-routes.ts';
import { DatabaseName, MAX_SQL_CHARACTERS, ParameterValues } from './schema.ts';
import type { Statements } from './statements.ts';

const PATH = '/service/:serviceId/run';
const DEFAULT_FORMAT = 'JSONEachRow';
/** What a page of an allowed site may send. */
const PREFLIGHT = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, content-type, x-service-type, wake-service, auth-provider',
  'access-control-max-age': '600',
};

const RunBody = NamedObject('QueryEndpointStatement', {
  sql: StorableText({ minLength: 1, maxLength: MAX_SQL_CHARACTERS, description: 'One statement' }),
  database: Type.Optional(DatabaseName),
  queryVariables: Type.Optional(ParameterValues),
  runId: Type.Optional(Type.String({ format: 'uuid', description: 'The id of the query; default: random' })),
});

const Format = PatternText(
  /^[A-Za-z0-9]{1,64}$/,
  'The value must be a format of ClickHouse, such as CSV',
  `The format of ClickHouse, if the statement has none; default: ${DEFAULT_FORMAT}`,
);

const WakeHeader = Type.Object({
  'wake-service': Type.Optional(Type.String({ description: 'true: starts an idle service' })),
});

const response = {
  200: { description: 'The result, in its format', content: { '*/*': { schema: Type.Any() } } },
  206: {
    ...Type.Object({ data: Type.String() }),
    description: 'The service is stopped, or it is idle and the header wake-service is not true',
  },
};

interface Options {
  services: Pick<Services, 'get'>;
  statements: Statements;
}

/** The query endpoint of a service, as clients of the hosted service call it: `/service/{serviceId}/run`. */
export function queryEndpointRoutes({ services, statements }: Options): Routes {
  return (app) => {
    // The clients call their JSON text.
    acceptJsonBodies(app as App, ['application/json', 'text/plain']);

    // Which sites may call depends on the service, and a preflight request has no credentials. It tells nothing: the
    // request itself is rejected.
    app.options(PATH, { schema: { hide: true } }, async (request, reply) => {
      const { origin } = request.headers;
      return reply
        .code(204)
        .headers({ vary: 'origin', ...PREFLIGHT, ...(origin && { 'access-control-allow-origin': origin }) })
        .send();
    });

    app.post(
      PATH,
      {
        config: { operation: 'queryEndpointRun', roles: [], checksOrigin: true },
        schema: {
          tags: ['SQL'],
          summary: 'Run a statement at the query endpoint',
          description:
            'With a key that the query endpoint of the service names, as the user of its roles, from its allowed origins. Errors are text. Services with the driver embedded only.',
          security: [{ key: [] }],
          params: Type.Object({ serviceId: Type.String({ format: 'uuid' }) }),
          querystring: Type.Object({ format: Type.Optional(Format) }, { additionalProperties: false }),
          headers: WakeHeader,
          body: RunBody,
          response,
        },
      },
      async (request, reply) => {
        const { organizationId, credentialId } = getIdentity(request);
        const serviceId = request.params.serviceId.toLowerCase();
        const { settings, desiredState } = await services.get(organizationId, serviceId);
        const endpoint = settings?.serviceQueryEndpoint;
        if (!endpoint?.openApiKeys.includes(credentialId))
          throw new AppError('forbidden', `This key may not use the query endpoint of the service ${serviceId}`);
        const answer = reply as unknown as FastifyReply;
        allowOrigin(request, answer, endpoint);
        if (desiredState === 'stopped') return answer.code(206).send({ data: 'Service is stopped' });
        if (desiredState === 'idle' && request.headers['wake-service'] !== 'true')
          return answer.code(206).send({ data: 'Confirm wake service' });
        const role = endpoint.roles.includes('sql_console_admin') ? 'admin' : 'reader';
        const { sql, database, queryVariables, runId } = request.body;
        const statement = { sql, database, parameters: queryVariables, queryId: runId };
        const { contentType, chunks } = await statements.download(createCaller(request, reply, role), serviceId, {
          ...statement,
          format: request.query.format ?? DEFAULT_FORMAT,
        });
        return answer
          .type(contentType)
          .header('cache-control', 'no-store')
          .send(Readable.from(logFailures(request, chunks), { objectMode: false }));
      },
    );
  };
}

/** Without the header `Origin`, the request is not from a page. */
function allowOrigin({ headers }: FastifyRequest, reply: FastifyReply, { allowedOrigins }: QueryEndpoint): void {
  const { origin } = headers;
  if (origin === undefined) return;
  const allowed = allowedOrigins.split(',').map((one) => one.trim());
  if (!allowed.includes(origin) && !allowed.includes('*'))
    throw new AppError('forbidden', `The query endpoint of the service does not allow the origin ${origin}`);
  reply.headers({ vary: 'origin', 'access-control-allow-origin': origin });
}
