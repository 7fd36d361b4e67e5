// The baseline for reads: a minimal node:http server that sends the same bytes for every request.
import { createServer } from 'node:http';

process.once('message', ({ status, headers, body }) => {
  const bytes = Buffer.from(body, 'base64');
  // Without it, the response would be sent in chunks.
  if (bytes.length > 0) headers['content-length'] = bytes.length;
  const server = createServer((_request, response) => {
    response.writeHead(status, headers);
    response.end(bytes);
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
});
