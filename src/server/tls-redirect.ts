import { createServer, type IncomingMessage } from 'node:http';
import type { Certificate } from '../platform/tls/certificate.ts';
import { isIssuedFor } from '../platform/tls/certificate-host.ts';

interface Options {
  host: string;
  port: number;
  certificate: Pick<Certificate, 'options'>;
  publicUrl: string | undefined;
  /** The port of the server that has the certificate. */
  tlsPort: number;
}

const HEAD_MS = 10_000;
const MAX_HEAD_BYTES = 16 * 1024;
const DEFAULT_PORT = 443;
/** A name, an IPv4 address or an IPv6 address in brackets; then a port, which is the one of this server. */
const HOST_HEADER = /^(?:([\w.-]{1,253})|\[([\da-f:.]{2,45})\])(?::\d{1,5})?$/i;

/** Answers plain HTTP with the HTTPS address of the same path. */
export async function openRedirect({ host, port, certificate, publicUrl, tlsPort }: Options) {
  const server = createServer(
    { headersTimeout: HEAD_MS, requestTimeout: HEAD_MS, maxHeaderSize: MAX_HEAD_BYTES },
    (request, response) => {
      const origin = findOrigin(request);
      const { url = '' } = request;
      response.setHeader('connection', 'close');
      if (origin === undefined || !url.startsWith('/')) {
        const text = 'The Host header must be a name of the certificate, and the URL a path; use HTTPS\n';
        return void response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
      }
      response.writeHead(308, { location: `${origin}${url}`, 'content-length': 0 }).end();
    },
  );

  /** Never a name that the client made up. */
  function findOrigin({ headers }: IncomingMessage): string | undefined {
    if (publicUrl !== undefined) return new URL(publicUrl).origin;
    const [, name, address] = HOST_HEADER.exec(headers.host ?? '') ?? [];
    const wanted = name ?? address;
    if (wanted === undefined || !isIssuedFor(certificate.options.cert, wanted)) return undefined;
    const suffix = tlsPort === DEFAULT_PORT ? '' : `:${tlsPort}`;
    return `https://${address === undefined ? wanted : `[${address}]`}${suffix}`;
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  return {
    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
