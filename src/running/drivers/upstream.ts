import type { Upstream } from '../../management/services/driver.ts';
import { getHost } from '../../platform/webhooks/webhook.ts';

interface Endpoint {
  url?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
}

const HTTP_PORT = 80;

/** Undefined without a URL. The URL is http: queries are forwarded over a private network. */
export function findUpstream({ url, username, password }: Endpoint): Upstream | undefined {
  if (url === undefined) return undefined;
  const target = new URL(url);
  return {
    host: getHost(target),
    port: target.port === '' ? HTTP_PORT : Number(target.port),
    headers: {
      ...(username !== undefined && { 'X-ClickHouse-User': username }),
      ...(password !== undefined && { 'X-ClickHouse-Key': password }),
    },
  };
}
