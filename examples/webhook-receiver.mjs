// A receiver for the webhook driver: SECRET=… PORT=9000 node examples/webhook-receiver.mjs
// It keeps what is desired in memory and reports it as reached; replace `apply` by what starts your database.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { SECRET = '', PORT = '0', HOST = '127.0.0.1' } = process.env;
const MAX_AGE_SECONDS = 300;
const MAX_BODY_BYTES = 64 * 1024;
const services = new Map();

function isSigned(header = '', text) {
  const [, time = '', signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const expected = createHmac('sha256', SECRET).update(`${time}.${text}`).digest();
  const isFresh = Math.abs(Date.now() / 1000 - Number(time)) <= MAX_AGE_SECONDS;
  return SECRET !== '' && signature !== '' && isFresh && timingSafeEqual(Buffer.from(signature, 'hex'), expected);
}

/** An older delivery may arrive late; a repeated one may correct what was changed outside. */
function apply({ service, desired }) {
  if ((services.get(service.id)?.generation ?? -1) > desired.generation) return;
  services.set(service.id, desired);
}

const server = createServer(async (request, response) => {
  const send = (status, body) => response.writeHead(status).end(body && JSON.stringify(body));
  const { search, searchParams } = new URL(request.url, 'http://receiver');
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > MAX_BODY_BYTES) return send(413);
  }
  if (!isSigned(request.headers['x-pilothouse-signature'], request.method === 'GET' ? search : body)) return send(401);
  if (request.method === 'POST') {
    apply(JSON.parse(body));
    return send(204);
  }
  const status = services.get(searchParams.get('service'));
  return status && status.state !== 'deleted' ? send(200, status) : send(404);
});
server.listen(Number(PORT), HOST, () => console.log(`http://${HOST}:${server.address().port}/`));
