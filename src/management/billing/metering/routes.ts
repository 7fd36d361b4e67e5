import { ADMINS } from '../../../kernel/access/roles.ts';
import { getIdentity } from '../../../platform/http/guard.ts';
import { acceptRawBodies } from '../../../platform/http/requests/body.ts';
import { type Routes, withoutBodyValidation } from '../../../platform/http/requests/validation.ts';
import { managementResponse, success } from '../../../platform/http/responses/envelopes.ts';
import { OrganizationPath } from '../../organizations/schema.ts';
import { decompressBatch, MAX_BATCH_BYTES, splitEvents } from './event-texts.ts';
import type { Intake } from './intake.ts';
import { UsageEvents, UsageEventsResult } from './schema.ts';

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
          summary: 'Send usage events',
          description: `Sends a batch of usage events as a JSON array, or as ${LINES} with one event per line, optionally compressed with gzip; at most 32 MiB. Accepted events are on disk when the response is sent, and count once however often they are sent.`,
          params: OrganizationPath,
          body: UsageEvents,
          response: managementResponse(UsageEventsResult),
        },
      },
      async (request) => {
        // A request without a body is an empty batch.
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const { 'content-encoding': encoding, 'content-type': type = '' } = request.headers;
        const bytes = await decompressBatch(body, encoding);
        const format = type.toLowerCase().startsWith(LINES) || bytes.length === 0 ? 'ndjson' : 'json';
        const result = await intake.ingest(getIdentity(request).organizationId, () => splitEvents(bytes, format));
        return success(request, result);
      },
    );
  };
}
