// The baseline for reads on PostgreSQL: a minimal node:http server that sends the same two reads as named statements and returns the same bytes.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';

const KEY = `SELECT k.document, k.used_at, o.cost_revision, o.role_revision FROM api_keys k
  JOIN organizations o ON o.id = k.organization_id WHERE k.key_id_hash = $1`;
const SERVICE = 'SELECT * FROM services WHERE organization_id = $1 AND id = $2';

process.once('message', ({ url, poolSize, keyId, organizationId, responses }) => {
  const pool = new pg.Pool({ connectionString: url, max: poolSize });
  const keyHash = createHash('sha256').update(keyId).digest('base64');
  const bodies = new Map(Object.entries(responses));
  const server = createServer(async (request, response) => {
    const { headers, body } = bodies.get(request.url);
    const key = await pool.query({ name: 'key', text: KEY, values: [keyHash] });
    const id = request.url.slice(request.url.lastIndexOf('/') + 1);
    const service = await pool.query({ name: 'service', text: SERVICE, values: [organizationId, id] });
    if (key.rows.length !== 1 || service.rows.length !== 1) throw new Error('a row is missing');
    response.writeHead(200, headers);
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
});
