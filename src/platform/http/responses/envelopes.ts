import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

const RequestId = Type.String({ format: 'uuid', description: 'Unique per request; also in the x-request-id header' });
const Status = Type.Integer({ description: 'The HTTP status code' });

/** The response of a management operation with a result; `members` are beside it. */
export function managementResponse<T extends TSchema, M extends TProperties>(result: T, members = {} as M) {
  return { 200: Type.Object({ requestId: RequestId, result, status: Status, ...members }, { description: 'Success' }) };
}

/** The response of a management operation without a result. */
export const emptyManagementResponse = {
  200: Type.Object({ requestId: RequestId, status: Status }, { description: 'Success' }),
};

export const ManagementFailure = Type.Object(
  {
    requestId: RequestId,
    error: Type.String({ description: 'CODE: text, for example NOT_FOUND: service … does not exist' }),
    status: Status,
  },
  { title: 'ManagementError' },
);

/** The response of a dashboard operation. */
export function dashboardResponse<T extends TSchema>(data: T) {
  return { 200: Type.Object({ data }, { description: 'Success' }) };
}

/** The response of a dashboard operation without data. */
export const emptyDashboardResponse = { 200: Type.Object({}, { description: 'Success' }) };

/** The response without a body to a request whose If-None-Match names the current etag. */
export const NotModified = Type.Null({ description: 'The dashboard has not changed: If-None-Match names its etag' });

export const DashboardFailure = Type.Object(
  {
    message: Type.String(),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: 'Present in every 400 response',
      }),
    ),
  },
  { title: 'DashboardError' },
);

export function success<T>(request: FastifyRequest, result: T): { requestId: string; result: T; status: 200 } {
  return { requestId: request.id, result, status: 200 };
}

export function emptySuccess(request: FastifyRequest): { requestId: string; status: 200 } {
  return { requestId: request.id, status: 200 };
}

/** As `success`, for a result that is already JSON. Bypasses the framework, for the busiest routes. */
export function sendSuccess(request: object, reply: object, result: string): FastifyReply {
  const response = reply as FastifyReply;
  // Node sends head and body of a string in one write, but needs several for a buffer.
  const text = `{"requestId":"${(request as FastifyRequest).id}","result":${result},"status":200}`;
  sendHead(response, Buffer.byteLength(text)).end(text);
  return response;
}

/** Serializes results of one schema. Compiles the schema on first use, when the framework is ready. */
export function createResultSerializer<T extends TSchema>(schema: T) {
  let serialize: ((result: Static<T>) => string) | undefined;
  return (reply: object, result: Static<T>): string => {
    serialize ??= (reply as FastifyReply).compileSerializationSchema({ ...(schema as object) });
    return serialize(result);
  };
}

export const END_OF_SUCCESS = Buffer.from(',"status":200}');

/** Sends a JSON body without serializing it. */
export function sendRendered(reply: object, json: Buffer | string | Readable): FastifyReply {
  return (reply as FastifyReply).type('application/json; charset=utf-8').send(json);
}

/** As `sendRendered`, for several buffers, without copying them into one. */
export function sendChunks(reply: object, chunks: readonly Buffer[]): FastifyReply {
  const response = reply as FastifyReply;
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  const raw = sendHead(response, bytes);
  if (chunks.length === 1) raw.end(chunks[0]);
  else {
    raw.cork();
    for (const chunk of chunks) raw.write(chunk);
    raw.end();
    raw.uncork();
  }
  return response;
}

/** Writes the head. The caller must write exactly `bytes` bytes to the returned response. */
function sendHead(reply: FastifyReply, bytes: number): FastifyReply['raw'] {
  reply.header('content-type', 'application/json; charset=utf-8');
  reply.header('content-length', bytes);
  reply.hijack();
  return reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>);
}
