import type { DriverName } from '../management/services/driver.ts';
import type { BasePath } from '../platform/http/requests/base-path.ts';
import { NoQuery, type Routes } from '../platform/http/requests/validation.ts';
import { ConsoleConfig } from './schema.ts';

/** Public credentials of the demo. */
export interface DemoCredentials {
  keyId: string;
  keySecret: string;
}

/** Where OpenTelemetry data is received. */
export interface OtlpAddress {
  otlpUrl: string;
  otlpGrpcPort?: number;
}

interface Options {
  basePath: BasePath;
  version: string;
  defaultDriver: DriverName;
  demo: DemoCredentials | undefined;
  /** Known once the server listens. */
  findOtlpAddress(): OtlpAddress | undefined;
  /** Where people sign in. */
  providerIssuer: string | undefined;
  allowsKeys: boolean;
  /** Whether the store has no organization. */
  needsSetup(): Promise<boolean>;
}

export function configRoutes(options: Options): Routes {
  const { basePath, version, defaultDriver, demo, findOtlpAddress, providerIssuer, allowsKeys, needsSetup } = options;
  return (app) => {
    app.get(
      '/console/config',
      {
        config: { operation: 'consoleConfigGet' },
        schema: {
          tags: ['Console'],
          summary: 'Get console configuration',
          description: 'Requires no credentials.',
          querystring: NoQuery,
          response: { 200: ConsoleConfig },
        },
      },
      async (_request, reply) => {
        reply.header('cache-control', 'no-cache');
        const credentials = demo ? { keyId: demo.keyId, keySecret: demo.keySecret } : null;
        const { otlpUrl, otlpGrpcPort = null } = findOtlpAddress() ?? { otlpUrl: `${basePath}/otlp` };
        return {
          basePath,
          version,
          defaultDriver,
          demo: credentials,
          otlpUrl,
          otlpGrpcPort,
          provider: providerIssuer === undefined ? null : { host: new URL(providerIssuer).host },
          allowsKeys,
          needsSetup: await needsSetup(),
        };
      },
    );
  };
}
