import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';

const RequestId = Type.String({ format: 'uuid', description: 'Unique per request; also in the x-request-id header' });
const Status = Type.Integer({ description: 'The HTTP status code' });

/** The answer of a management operation that has a result. */
export function managementResponse<T extends TSchema>(result: T) {
  return { 200: Type.Object({ requestId: RequestId, result, status: Status }, { description: 'Success' }) };
}

/** The answer of a management operation that has none. */
export const emptyManagementResponse = {
  200: Type.Object({ requestId: RequestId, status: Status }, { description: 'Success' }),
};

export const ManagementFailure = Type.Object({
  requestId: RequestId,
  error: Type.String({ description: 'CODE: text, for example NOT_FOUND: service … does not exist' }),
  status: Status,
});

/** The answer of a dashboard operation. */
export function dashboardResponse<T extends TSchema>(data: T) {
  return { 200: Type.Object({ data }, { description: 'Success' }) };
}

/** The answer of a dashboard operation that has nothing to say. */
export const emptyDashboardResponse = { 200: Type.Object({}, { description: 'Success' }) };

export const DashboardFailure = Type.Object({
  message: Type.String(),
  errors: Type.Optional(
    Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), { description: 'On every 400' }),
  ),
});

export function success<T>(request: FastifyRequest, result: T): { requestId: string; result: T; status: 200 } {
  return { requestId: request.id, result, status: 200 };
}

export function emptySuccess(request: FastifyRequest): { requestId: string; status: 200 } {
  return { requestId: request.id, status: 200 };
}

/** As `success`, around a result that is JSON already, and straight to the socket: for answers that many wait for. */
export function sendSuccess(request: object, reply: object, result: string): FastifyReply {
  const answer = reply as FastifyReply;
  // One text, header and all, goes to the socket in one piece; of bytes it would be several.
  const text = `{"requestId":"${(request as FastifyRequest).id}","result":${result},"status":200}`;
  sendHead(answer, Buffer.byteLength(text)).end(text);
  return answer;
}

/** Results of one schema as JSON. The framework compiles schemas when it is ready, so that is done with the first. */
export function createResultSerializer<T extends TSchema>(schema: T) {
  let serialize: ((result: Static<T>) => string) | undefined;
  return (reply: object, result: Static<T>): string => {
    serialize ??= (reply as FastifyReply).compileSerializationSchema({ ...(schema as object) });
    return serialize(result);
  };
}

export const END_OF_SUCCESS = Buffer.from(',"status":200}');

/** An answer that is already in the form of its schema: sent as it is. */
export function sendRendered(reply: object, json: Buffer | string | Readable): FastifyReply {
  return (reply as FastifyReply).type('application/json; charset=utf-8').send(json);
}

/** As `sendRendered`, from several buffers that are written together and never copied into one. */
export function sendChunks(reply: object, pieces: readonly Buffer[]): FastifyReply {
  const answer = reply as FastifyReply;
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const raw = sendHead(answer, bytes);
  if (pieces.length === 1) raw.end(pieces[0]);
  else {
    raw.cork();
    for (const piece of pieces) raw.write(piece);
    raw.end();
    raw.uncork();
  }
  return answer;
}

/** Whoever calls it writes so many bytes next, past the framework. */
function sendHead(answer: FastifyReply, bytes: number): FastifyReply['raw'] {
  answer.header('content-type', 'application/json; charset=utf-8');
  answer.header('content-length', bytes);
  answer.hijack();
  return answer.raw.writeHead(200, answer.getHeaders() as Record<string, string>);
}
