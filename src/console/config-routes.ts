import type { DriverName } from '../management/services/driver.ts';
import type { BasePath } from '../platform/http/requests/base-path.ts';
import { NoQuery, type Routes } from '../platform/http/requests/validation.ts';
import { ConsoleConfig } from './schema.ts';

/** Public credentials of the demo. */
export interface DemoCredentials {
  keyId: string;
  keySecret: string;
}

interface Options {
  basePath: BasePath;
  version: string;
  defaultDriver: DriverName;
  demo: DemoCredentials | undefined;
  /** Whether the store has no organization. */
  needsSetup(): Promise<boolean>;
}

export function configRoutes({ basePath, version, defaultDriver, demo, needsSetup }: Options): Routes {
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
        return { basePath, version, defaultDriver, demo: credentials, needsSetup: await needsSetup() };
      },
    );
  };
}
