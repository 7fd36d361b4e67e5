import type { ConsoleConfig } from '../../api/config.ts';

/** Where an SDK sends telemetry. */
export interface Endpoint {
  http: string;
  grpc: string | undefined;
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

const isSameHost = (one: string, other: string): boolean =>
  one === other || (LOOPBACK.includes(one) && LOOPBACK.includes(other));

/**
 * The address that the server listens on, if the console was opened there. Otherwise a proxy is in between, and the address
 * of the console, which receives telemetry too, is the one that is known to work.
 */
export function toEndpoint({ otlpUrl, otlpGrpcPort, basePath }: ConsoleConfig, page: URL): Endpoint {
  const listening = new URL(otlpUrl, page);
  if (!isSameHost(listening.hostname, page.hostname))
    return { http: `${page.origin}${basePath}/otlp`, grpc: undefined };
  return {
    http: listening.href.replace(/\/$/, ''),
    grpc: otlpGrpcPort === null ? undefined : `${listening.protocol}//${listening.hostname}:${otlpGrpcPort}`,
  };
}
