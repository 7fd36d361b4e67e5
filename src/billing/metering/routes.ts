import { acceptRawBodies } from '../../http/body.ts';
import { managementResponse, success } from '../../http/envelopes.ts';
import { getIdentity } from '../../http/guard.ts';
import { type Routes, withoutBodyValidation } from '../../http/validation.ts';
import { ADMINS } from '../../kernel/roles.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import { eventTexts, MAX_BATCH_BYTES, unpacked } from './batch-text.ts';
import type { Intake } from './intake.ts';
import { TakenUsage, UsageEvents } from './schema.ts';

const LINES = 'application/x-ndjson';

export function meteringRoutes({ intake }: { intake: Intake }): Routes {
  return (app) => {
    acceptRawBodies(app, ['application/json', LINES]);

    app.post(
      '/v1/organizations/:organizationId/usageEvents',
      {
        config: { operation: 'usageEventsCreate', roles: ADMINS },
        bodyLimit: MAX_BATCH_BYTES,
        validatorCompiler: withoutBodyValidation,
        schema: {
          tags: ['Billing'],
          summary: 'Meter usage',
          description: `A batch of metered usage: a JSON array, or ${LINES} with one event to a line; gzip if you like; at most 32 MiB. Accepted events are on disk when the answer comes, and count once however often they are sent.`,
          params: OrganizationPath,
          body: UsageEvents,
          response: managementResponse(TakenUsage),
        },
      },
      async (request) => {
        // No body at all is a batch without events.
        const sent = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const { 'content-encoding': encoding, 'content-type': type = '' } = request.headers;
        const bytes = await unpacked(sent, encoding);
        const format = type.toLowerCase().startsWith(LINES) || bytes.length === 0 ? 'ndjson' : 'json';
        const taken = await intake.take(getIdentity(request).organizationId, () => eventTexts(bytes, format));
        return success(request, taken);
      },
    );
  };
}
