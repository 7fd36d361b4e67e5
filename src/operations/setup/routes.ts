import { getOrigin } from '../../management/audit/request-actor.ts';
import type { AttemptLimit } from '../../platform/http/limits/attempt-limit.ts';
import { requireSameSite } from '../../platform/http/requests/cross-site.ts';
import { NoQuery, type Routes } from '../../platform/http/requests/validation.ts';
import { SetupBody, SetupRecord } from './schema.ts';
import type { Setup } from './setup.ts';

interface Options {
  setup: Setup;
  attempts: AttemptLimit;
}

/** The first run in a browser. */
export function setupRoutes({ setup, attempts }: Options): Routes {
  return (app) => {
    app.post(
      '/console/setup',
      {
        config: { operation: 'consoleSetup' },
        onRequest: async (request, reply) => {
          reply.header('cache-control', 'no-store');
          requireSameSite(request);
        },
        schema: {
          tags: ['Console'],
          summary: 'Create the first organization',
          description:
            'Requires the setup code that `serve` prints on standard error while the store has no organization. Wrong codes count as failed attempts of the address. 409 if an organization exists.',
          body: SetupBody,
          querystring: NoQuery,
          response: { 200: SetupRecord },
        },
      },
      async (request) => {
        const { code, name, tier } = request.body;
        const actor = { type: 'system' as const, id: 'setup', details: 'pilothouse setup', ...getOrigin(request) };
        const created = await attempts.run(request.clientAddress, `setup ${code}`, () =>
          setup.create(actor, { name, tier }, { code }),
        );
        const { organization, credentials, fleetFile } = created;
        return { organization, ...credentials, fleetFile };
      },
    );
  };
}
