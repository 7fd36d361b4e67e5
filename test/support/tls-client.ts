import type { IncomingHttpHeaders } from 'node:http';
import { type Agent, request } from 'node:https';
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import type { Json } from './client.ts';

interface TlsCall {
  /** The authority that the client trusts. */
  ca: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** The name that the certificate must have, if it is not that of the URL. */
  servername?: string;
  /** Without it, each request has a connection of its own. */
  agent?: Agent;
}

interface TlsResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: Json;
}

/** A request of a client that verifies the certificate. `fetch` cannot be given an authority. */
export const requestTls = (url: string, { body, agent, ...options }: TlsCall): Promise<TlsResponse> =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { ...options, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = /^application\/json/.test(response.headers['content-type'] ?? '');
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text, json: isJson ? JSON.parse(text) : undefined });
      });
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });

/** The serial number of the certificate that a new connection gets. */
export const readSerial = (port: number, ca: string, ALPNProtocols: string[] = ['http/1.1']): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca, ALPNProtocols }, () => {
      const { serialNumber } = socket.getPeerCertificate() as PeerCertificate;
      socket.destroy();
      resolve(serialNumber);
    });
    socket.once('error', reject);
  });

export const basic = (name: string, secret: string): string =>
  `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
