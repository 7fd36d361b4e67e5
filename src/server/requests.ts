import type { AddressInfo } from 'node:net';
import { toReachable } from '../kernel/access/addresses.ts';
import { listenForGrpc } from '../observability/ingest/grpc-routes.ts';
import type { App } from '../platform/http/requests/validation.ts';
import { toStoreError } from '../platform/state/failures.ts';
import type { Certificate } from '../platform/tls/certificate.ts';
import { chooseHost } from '../platform/tls/certificate-host.ts';
import type { Domains } from './domains.ts';
import { mountApps } from './mount.ts';
import { CONSOLE_DIRECTORY, type Options, type Stores } from './server-parts.ts';
import type { Config } from './settings/config.ts';
import { openRedirect } from './tls-redirect.ts';
import { VERSION } from './version.ts';

/** Where a server can be reached. */
export interface Addresses {
  url: string;
  dashboardUrl: string;
  /** The endpoint for OpenTelemetry SDKs, which append `/v1/logs` and others. */
  otlpUrl: string;
  otlpGrpcPort?: number;
}

/** What requests need of the process that does the background work. */
export type RequestHelpers = Pick<
  Parameters<typeof mountApps>[0],
  | 'findIdleStatus'
  | 'listSlowQueries'
  | 'findSqlAccess'
  | 'cancelStatement'
  | 'listUsageWarnings'
  | 'listHungWorkers'
  | 'renderMetrics'
>;

/** Mounts the routes. Nothing listens before `listen`. */
export async function openRequests(
  { config, log, access, demo, optionalPorts = [], consoleDirectory = CONSOLE_DIRECTORY }: Options,
  { certificate, state, metrics, telemetry, rateCounter, attempts, openFiles }: Stores,
  domains: Domains,
  helpers: RequestHelpers,
) {
  let isDraining = false;
  let addresses: Addresses | undefined;
  const apps = await mountApps({
    ...helpers,
    config,
    clock: state.clock,
    log,
    access,
    certificate,
    metrics,
    state,
    domains,
    rateCounter,
    attempts,
    openFiles,
    demo,
    consoleDirectory,
    version: VERSION,
    observe: telemetry.request,
    explain: toStoreError,
    isDraining: () => isDraining,
    findOtlpAddress: () => addresses,
  });
  let grpc: Awaited<ReturnType<typeof listenForGrpc>> | undefined;
  let redirect: Awaited<ReturnType<typeof openRedirect>> | undefined;

  async function listenForOtlpGrpc() {
    const { host, otlpGrpcPort: port } = config;
    if (port === undefined) return undefined;
    const address = { host, port };
    const options = { ...domains, guard: apps.otlpGuard, log, explain: toStoreError, address, certificate };
    return orOmit(port, listenForGrpc(options));
  }

  async function listenForOtlp(): Promise<string | undefined> {
    const { otlpPort: port } = config;
    if (!apps.otlp || port === undefined) return undefined;
    return orOmit(port, listen(apps.otlp, { ...config, basePath: '' }, port, certificate));
  }

  async function listenForPlain(url: string) {
    const { host, tlsRedirectPort: port, publicUrl } = config;
    if (port === undefined || !certificate) return undefined;
    return openRedirect({ host, port, certificate, publicUrl, tlsPort: Number(new URL(url).port || 443) });
  }

  /** Undefined if another program uses the port, and the server may start without it. */
  async function orOmit<T>(port: number, listening: Promise<T>): Promise<T | undefined> {
    try {
      return await listening;
    } catch (error) {
      if (!optionalPorts.includes(port) || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      return undefined;
    }
  }

  return {
    /** The OpenAPI document of everything served on the main port. */
    document: (): object => apps.main.swagger(),

    async listen(): Promise<Addresses> {
      const url = await listen(apps.main, config, config.port, certificate);
      const dashboardUrl = apps.dashboards
        ? await listen(apps.dashboards, config, config.dashboardPort ?? 0, certificate)
        : url;
      const otlpUrl = (await listenForOtlp()) ?? `${url}/otlp`;
      grpc = await listenForOtlpGrpc();
      redirect = await listenForPlain(url);
      addresses = { url, dashboardUrl, otlpUrl, ...(grpc && { otlpGrpcPort: grpc.port }) };
      return addresses;
    },

    /** Stops accepting connections and finishes requests in flight. */
    async close(): Promise<void> {
      isDraining = true;
      await Promise.all([apps.main, apps.dashboards, apps.otlp, grpc, redirect].map((part) => part?.close()));
    },
  };
}

async function listen(
  app: App,
  { host, basePath, publicUrl }: Pick<Config, 'host' | 'basePath' | 'publicUrl'>,
  port: number,
  certificate: Certificate | undefined,
): Promise<string> {
  await app.listen({ host, port });
  const { address, port: actual } = app.server.address() as AddressInfo;
  const reachable = toReachable(address);
  if (!certificate) return formatUrl('http', reachable, actual, basePath);
  return formatUrl('https', chooseHost(certificate.options.cert, reachable, publicUrl), actual, basePath);
}

const formatUrl = (scheme: string, host: string, port: number, basePath: string): string =>
  `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}${basePath}`;
