import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIPv6 } from 'node:net';
import { toReachable } from '../../kernel/access/addresses.ts';
import { limitTime } from '../../kernel/tasks/time-limit.ts';
import { SECOND_MS } from '../../kernel/time/clock.ts';
import { createPinnedAgent } from '../../platform/tls/pinned-agent.ts';
import type { Config } from '../../server/settings/config.ts';

type Place = Pick<Config, 'host' | 'tlsCertFile'>;

const TIMEOUT_MS = 5 * SECOND_MS;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** The address of a server on this machine. */
export function formatServerUrl({ host, tlsCertFile }: Place, port: number, basePath: string): string {
  const address = toReachable(host);
  const scheme = tlsCertFile === undefined ? 'http' : 'https';
  return `${scheme}://${isIPv6(address) ? `[${address}]` : address}:${port}${basePath}`;
}

interface LocalResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Sends a GET request to a server on this machine. Over TLS, it must have the certificate in the file. */
export function readFromServer(
  { tlsCertFile }: Place,
  url: string,
  headers: Record<string, string> = {},
): Promise<LocalResponse> {
  const agent = tlsCertFile === undefined ? new Agent() : createPinnedAgent(readFileSync(tlsCertFile, 'utf8'));
  const send = tlsCertFile === undefined ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const outgoing = send(url, { agent, headers, signal: limitTime(TIMEOUT_MS) }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_RESPONSE_BYTES)
          response.destroy(new Error(`The response is larger than ${MAX_RESPONSE_BYTES} bytes`));
        else chunks.push(chunk);
      });
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode: status = 0 } = response;
        resolve({ status, headers: response.headers, text: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}
