import { Readable } from 'node:stream';
import type { Static } from 'typebox';
import { READERS } from '../../kernel/access/roles.ts';
import { isoSeconds } from '../../kernel/time/clock.ts';
import { getIdentity } from '../../platform/http/guard.ts';
import type { Routes } from '../../platform/http/requests/validation.ts';
import { logFailures } from '../../platform/http/responses/aborted-responses.ts';
import {
  END_OF_SUCCESS,
  managementResponse,
  sendChunks,
  sendRendered,
} from '../../platform/http/responses/envelopes.ts';
import { OrganizationPath } from '../organizations/schema.ts';
import type { CostSelection, Costs } from './costs.ts';
import { createRenderedCosts, type Headers } from './rendered-costs.ts';
import { toCostRecord, UsageCost, UsageCostQuery } from './schema.ts';
import type { RatingProgress } from './store.ts';
import { parseWindow } from './window.ts';

/** Longer responses that are not cached are streamed. */
const MAX_UNSTREAMED_BYTES = 256 * 1024;

export function billingRoutes({ costs }: { costs: Costs }): Routes {
  /** Undefined for all records. */
  async function createSelection(
    organizationId: string,
    { filter = [], service_id }: Static<typeof UsageCostQuery>,
  ): Promise<CostSelection | undefined> {
    const wanted = service_id && new Set(service_id.map((id) => id.toLowerCase()));
    if (filter.length === 0) return wanted && { serviceIds: wanted, warehouseIds: new Set() };
    const tagged = await costs.selectTagged(organizationId, filter);
    if (!wanted) return tagged;
    return { serviceIds: new Set([...wanted].filter((id) => tagged.serviceIds.has(id))), warehouseIds: new Set() };
  }

  return (app) => {
    const renderedCosts = createRenderedCosts({ costs, render: (cost) => JSON.stringify(toCostRecord(cost)) });

    app.get(
      '/v1/organizations/:organizationId/usageCost',
      {
        config: { operation: 'usageCostGet', roles: READERS },
        schema: {
          tags: ['Billing'],
          summary: 'Get organization usage cost',
          description:
            'Returns one record per UTC day and entity. totalCHC is the exact sum of the metrics, grandTotalCHC the exact sum of the totals. With a filter, only the records of services with these tags, and of warehouses whose first service has them.',
          params: OrganizationPath,
          querystring: UsageCostQuery,
          response: managementResponse(UsageCost),
        },
      },
      async (request, reply) => {
        const window = parseWindow(request.query);
        const { organizationId, revisions } = getIdentity(request);
        const head = Buffer.from(`{"requestId":"${request.id}","result":{"costs":[`);
        const selection = await createSelection(organizationId, request.query);
        const cached = selection ? undefined : renderedCosts.findCached(organizationId, revisions.costs, window);
        if (cached) return sendChunks(reply.headers(cached.headers), [head, ...cached.chunks, END_OF_SUCCESS]);
        const headers = freshnessHeaders(await costs.findProgress(organizationId));
        reply.headers(headers);
        const chunks = renderedCosts.render(organizationId, revisions.costs, window, headers, selection);
        // Read before the response starts, so that a store failure is still reported as 503.
        const start = await readChunks(chunks, MAX_UNSTREAMED_BYTES);
        if (start.isComplete) return sendChunks(reply, [head, ...start.chunks, END_OF_SUCCESS]);
        const rest = logFailures(request, chunks);
        return sendRendered(reply, Readable.from(concatenate([head, ...start.chunks], rest), { objectMode: false }));
      },
    );
  };
}

/** When metered usage was last rated, and the last day that is locked. */
function freshnessHeaders(progress: RatingProgress | undefined): Headers {
  if (!progress) return {};
  return {
    'x-pilothouse-as-of': isoSeconds(progress.ratedAt),
    ...(progress.lockedThrough === undefined ? {} : { 'x-pilothouse-locked-through': progress.lockedThrough }),
  };
}

/** Reads at least `bytes` bytes, or up to the end. */
async function readChunks(
  source: AsyncGenerator<Buffer>,
  bytes: number,
): Promise<{ chunks: Buffer[]; isComplete: boolean }> {
  const chunks: Buffer[] = [];
  for (let size = 0; size < bytes; ) {
    const next = await source.next();
    if (next.done) return { chunks, isComplete: true };
    chunks.push(next.value);
    size += next.value.length;
  }
  return { chunks, isComplete: false };
}

async function* concatenate(start: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* start;
  yield* rest;
  yield END_OF_SUCCESS;
}
